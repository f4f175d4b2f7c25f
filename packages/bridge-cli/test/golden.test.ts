import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../../test/support/start-bridge.ts";
import { startReceiver } from "../../../test/support/start-receiver.ts";
import { askUntil } from "../../../test/support/until.ts";
import { record } from "./record.ts";
import { accessTo, runCli, runOnTerminal } from "./start-cli.ts";

const batchFile = path.join(import.meta.dirname, "golden/batch.jsonl");

/** What each command prints on a terminal and in a pipe, recorded in `golden/`. */
const commands: Readonly<Record<string, readonly string[]>> = {
  dispatch: ["dispatch", "-p", "memory", "-a", "writer", "--id", "look-1", "look"],
  "dispatch-failed": ["dispatch", "-p", "memory", "-a", "writer", "--id", "fail-1", "fail"],
  "dispatch-dry-run": ["dispatch", "-p", "memory", "-a", "writer", "--dry-run", "Hello."],
  "dispatch-from": ["dispatch", "-p", "memory", "-a", "batch", "--from", batchFile, "--jobs", "1"],
  "dispatch-from-wrong": ["dispatch", "-p", "memory", "--from", batchFile],
  tasks: ["tasks", "--agent", "writer", "--before", "2126-01-01"],
  "tasks-json": ["tasks", "--id-prefix", "look", "--json=taskId,state,usage.inputTokens"],
  task: ["task", "look-1"],
  "task-watch": ["task", "look-1", "--watch"],
  tail: ["tail", "look-1"],
  "tail-types": ["tail", "look-1", "--types", "tool.invoked,execution.completed"],
  wait: ["wait", "look-1", "fail-1"],
  cancel: ["cancel", "look-1"],
  approvals: ["approvals"],
  approve: ["approve", "no-such-approval"],
  callbacks: ["callbacks", "--state", "dead"],
  "callbacks-attempts": ["callbacks", "dead-1"],
  redeliver: ["redeliver", "--dead", "--origin", "http://127.0.0.1:1"],
  listen: ["listen"],
  files: ["files", "dead-1"],
  diff: ["diff", "look-1"],
  apply: ["apply", "look-1"],
  adapters: ["adapters"],
  "adapters-check": ["adapters", "memory", "--check"],
  domains: ["domains"],
  doctor: ["doctor"],
  "doctor-callback": ["doctor", "--provider", "memory", "--callback", "http://10.0.0.1/results"],
  usage: ["usage", "--by", "model"],
  ui: ["ui"],
  "profile-list": ["profile", "list"],
  version: ["version"],
};

let bridge: Bridge;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  receiver = await startReceiver((response) => {
    response.statusCode = 500;
    response.end("It is closed.");
  });
  bridge = await startBridge();
  const ended = (taskId: string) =>
    askUntil(
      () => bridge.call("GET", `/api/v2/tasks/${taskId}`),
      ({ body }) => body.state === "completed" || body.state === "failed",
    );
  for (const [taskId, message] of Object.entries({ "look-1": "look", "fail-1": "fail" })) {
    await bridge.dispatch({ taskId, message });
    await ended(taskId);
  }
  const callbackUrl = `${receiver.origin}/results`;
  await bridge.dispatch({ taskId: "dead-1", agentId: "caller", callbackUrl, files: [{ path: "notes.md", content: "Notes." }] });
  await askUntil(
    () => bridge.call("GET", "/api/v2/callbacks?state=dead"),
    ({ body }) => body.data.length === 1,
  );
  const home = await mkdtemp(path.join(tmpdir(), "bridge-test-"));
  await runCli(commands["dispatch-from"] ?? [], { cwd: home, env: accessTo(bridge) });
  await rm(home, { recursive: true });
  await bridge.dispatch({ taskId: "ask-1", agentId: "cleaner", message: "ask", approvals: "ask", profile: "modify" });
  await askUntil(
    () => bridge.call("GET", "/api/v2/approvals?state=pending"),
    ({ body }) => body.data.length === 1,
  );
});
afterAll(async () => {
  await bridge.close();
  await receiver.close();
});

test.each(Object.entries(commands))("%s prints what is recorded", async (name, args) => {
  const env = { ...accessTo(bridge), NO_COLOR: "1" };
  const recording = await record(args, () => ({ env }));
  await expect(recording).toMatchFileSnapshot(path.join(import.meta.dirname, "golden", `${name}.txt`));
});

test("a terminal gets colors, unless NO_COLOR or --no-color is set, and a pipe gets none", async () => {
  const env = accessTo(bridge);
  const shown = async (...args: string[]) => (await runOnTerminal(["task", "fail-1", ...args], { env })).shown;
  expect(await shown()).toContain("\u001b[2mid");
  expect(await shown("--no-color")).not.toContain("\u001b");
  expect((await runOnTerminal(["task", "fail-1"], { env: { ...env, NO_COLOR: "1" } })).shown).not.toContain("\u001b");
  expect((await runCli(["tasks"], { env })).stdout).not.toContain("\u001b");
});

test("--json with a field that does not exist lists the fields", async () => {
  expect(await runCli(["tasks", "--json=id"], { env: accessTo(bridge) })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/there is no field .*id.*taskId, parentTaskId/),
  });
});
