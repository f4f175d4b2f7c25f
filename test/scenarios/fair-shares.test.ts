import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const MANY = 1_100;
const QUEUE_LIMIT = 1_000;
const AT_ONCE = 32;

test("a tenant with a single task gets the next free slot before a tenant with a thousand tasks", async () => {
  const dataDir = await temporaryDirectory();
  const entryOf = (tenant: string) => ({
    name: tenant,
    tenant,
    sha256: createHash("sha256").update(`token-of-${tenant}`).digest("hex"),
    scopes: ["dispatch", "read"],
  });
  const tokensFile = path.join(dataDir, "tokens.json");
  await writeFile(tokensFile, JSON.stringify([entryOf("many"), entryOf("one")]));
  const bridge = await startBridgeProgram(dataDir, {
    ...shellCommand("sleep 1"),
    BRIDGE_MAX_CONCURRENT: "2",
    BRIDGE_QUEUE_LIMIT: String(QUEUE_LIMIT),
    BRIDGE_TOKENS_FILE: tokensFile,
  });
  const as = (tenant: string) => ({
    call: (method: string, target: string, body?: unknown) =>
      bridge.call(method, target, body, { authorization: `Bearer token-of-${tenant}` }),
  });
  const body = { agentId: "writer", message: "go" };

  let left = MANY;
  const statuses = new Set<number>();
  const sendAll = async (): Promise<void> => {
    for (; left > 0; left -= 1) statuses.add((await dispatchTask(as("many"), body)).status);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sendAll));
  // The tenant dispatches more tasks than the queue accepts.
  expect([...statuses].sort()).toEqual([202, 503]);

  const accepted = await dispatchTask(as("one"), { ...body, taskId: "single" });
  expect(accepted.status).toBe(202);
  const single = await taskInState(as("one"), "single", "completed", 60_000);
  const started: { startedAt: string | null }[] = [];
  for (const state of ["running", "completed"]) {
    const { data } = (await (await as("many").call("GET", `/api/v2/tasks?state=${state}&limit=100`)).json()) as { data: typeof started };
    started.push(...data);
  }
  // At most as many claims as slots were in progress when the task was accepted.
  const between = started.filter(
    ({ startedAt }) => startedAt !== null && startedAt > String(single["createdAt"]) && startedAt < String(single["startedAt"]),
  );
  expect(between.length).toBeLessThanOrEqual(2);
});
