import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { startReceiver } from "../support/start-receiver.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const HOUR_MS = 3_600_000;
const jumpClock = path.resolve(import.meta.dirname, "../support/jump-clock.ts");
const askingAdapter = path.resolve(import.meta.dirname, "../webhooks/asking-adapter.ts");

test.each([
  ["ahead", HOUR_MS],
  ["back", -HOUR_MS],
])("tasks, approvals, callbacks and dispatches continue when the system clock is set %s by an hour", async (_direction, shiftMs) => {
  const dataDir = await temporaryDirectory();
  const gate = path.join(dataDir, "gate");
  let status = 503;
  const { posts, origin, close } = await startReceiver((response) => response.writeHead(status).end());
  onTestFinished(close);
  const bridge = await startBridgeProgram(dataDir, {
    NODE_OPTIONS: `--import=${jumpClock}`,
    TEST_CLOCK_SHIFT_MS: String(shiftMs),
    BRIDGE_ADAPTERS: `command,${askingAdapter}`,
    ...shellCommand(`while [ "$BRIDGE_TASK_ID" = running ] && [ ! -e ${gate} ]; do sleep 0.05; done; echo done`),
    BRIDGE_MAX_CONCURRENT: "8",
    BRIDGE_SANDBOX: "off",
    // Stored deadlines of approvals follow the system clock.
    BRIDGE_APPROVAL_SECONDS: "86400",
    BRIDGE_CALLBACK_RETRIES: "5",
    BRIDGE_CALLBACK_BACKOFF_MS: "2000",
  });
  const read = async (target: string) => (await (await bridge.call("GET", target)).json()) as Record<string, unknown>;
  const dispatch = async (taskId: string, message: string, provider = "command") => {
    const approvals = provider === "asking" ? { approvals: "ask" } : {};
    const body = { taskId, agentId: taskId, provider, message, ...approvals, callbackUrl: `${origin}/${taskId}`, timeoutSeconds: 900 };
    expect((await dispatchTask(bridge, body)).status).toBe(202);
  };
  await dispatch("running", "wait");
  await dispatch("asking", "ask", "asking");
  await dispatch("owing", "go");
  await taskInState(bridge, "running", "running");
  const pending = async () => (await read("/api/v2/approvals?state=pending"))["data"] as { approvalId: string }[];
  await expect.poll(async () => (await pending()).length).toBe(1);
  await expect.poll(async () => (await read("/api/v2/callbacks/owing"))["attempts"]).toBe(1);

  const before = Date.parse((await read("/api/v2/tasks/running"))["createdAt"] as string);
  bridge.signal("SIGWINCH");
  await dispatch("later", "go");
  const later = await taskInState(bridge, "later", "completed");
  // The stored times of SQLite follow the clock of the process, and those of PostgreSQL the clock of the server.
  const finishedAt = Date.parse(later["finishedAt"] as string);
  if (process.env["BRIDGE_TEST_DATABASE"] !== "postgres") expect(Math.sign(finishedAt - before)).toBe(Math.sign(shiftMs));
  expect((await bridge.call("GET", "/readyz")).status).toBe(200);
  for (const taskId of ["running", "asking"]) expect(await read(`/api/v2/tasks/${taskId}`)).toMatchObject({ state: "running" });

  const [approval] = await pending();
  expect((await bridge.call("POST", `/api/v2/approvals/${approval?.approvalId}`, { decision: "approve" })).status).toBe(200);
  expect(await taskInState(bridge, "asking", "completed")).toMatchObject({ result: { output: "approve" } });
  writeFileSync(gate, "");
  expect(await taskInState(bridge, "running", "completed")).toMatchObject({ result: { status: "ok", output: "done\n" } });

  status = 204;
  const delivered = async () => {
    const { data } = (await read("/api/v2/callbacks?state=delivered")) as { data: { taskId: string }[] };
    return data.map(({ taskId }) => taskId).toSorted();
  };
  await expect.poll(delivered).toEqual(["asking", "later", "owing", "running"]);
  expect(posts.filter((post) => post.path === "/owing").length).toBeGreaterThan(1);

  // Ended tasks remain, and the numbers of their events increase.
  for (const taskId of ["owing", "running", "asking", "later"]) {
    const { data } = (await read(`/api/v2/tasks/${taskId}/events`)) as { data: { id: string; type: string }[] };
    const numbers = data.map(({ id }) => Number(id.split("-")[1]));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(data.at(-1)?.type).toBe("execution.completed");
  }
  bridge.signal("SIGTERM");
  expect(await bridge.exited).toBe(0);
});
