import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { type BridgeProgram, dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const failingAdapter = path.resolve(import.meta.dirname, "failing-adapter.ts");
const answer = `echo '{"type":"result","status":"ok","output":"done","usage":{"inputTokens":3,"outputTokens":1},"costUsd":0.5}'`;
const wait = `read -r request; case "$request" in *'"message":"wait"'*) exec sleep 1000 ;; esac; ${answer}`;

type Attempt = { provider: string; errorCode: string | null };

const eventsOf = async (bridge: BridgeProgram, taskId: string) => {
  const { data } = (await (await bridge.call("GET", `/api/v2/tasks/${taskId}/events`)).json()) as { data: { type: string }[] };
  return data.map(({ type }) => type);
};
const budgetOf = async (bridge: BridgeProgram) =>
  ((await (await bridge.call("GET", "/api/v2/budgets")).json()) as { data: Record<string, unknown>[] }).data[0];

test("a kill between two attempts interrupts one task, which keeps its attempts, spends nothing twice, and can begin again", async () => {
  const dataDir = await temporaryDirectory();
  const file = path.join(dataDir, "budgets.json");
  await writeFile(file, JSON.stringify([{ name: "tasks", scope: { "label.counted": "yes" }, per: "month", maxCostUsd: 20 }]));
  const settings = {
    BRIDGE_ADAPTERS: `command,${failingAdapter}`,
    ...shellCommand(wait),
    BRIDGE_MAX_CONCURRENT: "failing=2,command=1",
    BRIDGE_BUDGETS_FILE: file,
    BRIDGE_BUDGET_RESERVE_USD: "1",
  };
  const first = await startBridgeProgram(dataDir, settings);
  expect((await dispatchTask(first, { taskId: "busy", agentId: "busy", provider: "command", message: "wait" })).status).toBe(202);
  await taskInState(first, "busy", "running");
  const task = { provider: "failing", message: "go", fallbacks: [{ provider: "command" }], labels: { counted: "yes" } };
  for (const onInterrupt of ["fail", "retry"])
    expect((await dispatchTask(first, { ...task, taskId: onInterrupt, agentId: onInterrupt, onInterrupt })).status).toBe(202);
  // Each has left its first adapter, and waits for the only slot of the second one.
  for (const taskId of ["fail", "retry"]) await expect.poll(() => eventsOf(first, taskId)).toContain("execution.attempt");
  await expect.poll(() => budgetOf(first)).toMatchObject({ spentUsd: 0.5, reservedUsd: 1.5 });
  first.signal("SIGKILL");
  await first.exited;

  const second = await startBridgeProgram(dataDir, settings);
  const failed = (await taskInState(second, "fail", "failed")) as { attempts: Attempt[]; result: Record<string, unknown> };
  expect(failed.result).toMatchObject({ errorCode: "bridge_restarted", costUsd: 0.25 });
  expect(failed.attempts).toMatchObject([{ number: 1, provider: "failing", errorCode: "model_error", costUsd: 0.25 }]);
  expect(failed.result["attempts"]).toEqual(failed.attempts);
  const retried = (await taskInState(second, "retry", "completed")) as { attempts: Attempt[]; result: Record<string, unknown> };
  expect(retried.attempts.map(({ provider, errorCode }) => [provider, errorCode])).toEqual([
    ["failing", "model_error"],
    ["command", null],
  ]);
  // The interrupted attempt, the first one of the second run, and its fallback.
  expect(retried.result).toMatchObject({ output: "done", costUsd: 1 });
  for (const taskId of ["fail", "retry"]) {
    const types = await eventsOf(second, taskId);
    expect(types.filter((type) => type === "execution.started")).toHaveLength(1);
    expect(types.filter((type) => type === "execution.failed" || type === "execution.completed")).toHaveLength(1);
  }
  expect(await budgetOf(second)).toMatchObject({ spentUsd: 1.25, reservedUsd: 0, estimatedUsd: 0 });
});
