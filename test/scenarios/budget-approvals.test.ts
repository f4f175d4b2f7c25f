import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { scaled } from "../harness/machine.ts";
import { startBridgeApp } from "../support/bridge-app.ts";
import { type BridgeProgram, dispatchTask, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { startWordModel, wordServers } from "./word-model.ts";

const budget = { maxCostUsd: 0.25, onReached: "ask" };

/** Starts the word model and Bridge. */
async function start(budgets: unknown[] = []) {
  const { dataDir, settings, calls } = await prepare(budgets);
  return { ...(await startBridgeApp(dataDir, settings)), calls };
}

async function prepare(budgets: unknown[] = []) {
  const model = await startWordModel();
  const dataDir = await temporaryDirectory();
  const file = path.join(dataDir, "budgets.json");
  await writeFile(file, JSON.stringify(budgets));
  const settings = {
    ...model.settings,
    ...{ BRIDGE_ADAPTERS: "vercel-ai,command", BRIDGE_BUDGETS_FILE: file },
    BRIDGE_COMMAND: '["/bin/true"]',
  };
  return { dataDir, settings, calls: model.calls };
}

const dispatch = (bridge: Pick<BridgeProgram, "call">, calls: number, fields: object = {}) =>
  dispatchTask(bridge, {
    taskId: "t",
    agentId: "a",
    provider: "vercel-ai",
    message: `${calls} words`,
    mcpServers: wordServers,
    budget,
    ...fields,
  });
const listApprovals = async (bridge: Pick<BridgeProgram, "call">) =>
  ((await (await bridge.call("GET", "/api/v2/approvals?order=oldest")).json()) as { data: Record<string, unknown>[] }).data;
async function pendingApproval(bridge: Pick<BridgeProgram, "call">, count = 1) {
  await expect.poll(async () => (await listApprovals(bridge)).map(({ state }) => state).slice(count - 1)).toEqual(["pending"]);
  return (await listApprovals(bridge)).at(-1) as { approvalId: string; input: unknown };
}
const decide = (bridge: Pick<BridgeProgram, "call">, { approvalId }: { approvalId: string }, body: object) =>
  bridge.call("POST", `/api/v2/approvals/${approvalId}`, body);

test("the next model call of a task at its maximum waits for a decision, and the task goes on with a raise", async () => {
  const bridge = await start();
  expect((await dispatch(bridge, 6)).status).toBe(202);
  const approval = await pendingApproval(bridge);
  const input = { spentUsd: 0.3, maxCostUsd: 0.25, spentTokens: 300, maxTokens: null };
  expect(approval).toMatchObject({ kind: "budget", toolName: "budget", provider: "vercel-ai", input, raiseByUsd: null });
  expect(await (await bridge.call("GET", "/api/v2/tasks/t")).json()).toMatchObject({ state: "running", waitingOn: "approval" });
  expect(bridge.calls()).toHaveLength(3);
  const decisions = await Promise.all([
    ...[
      decide(bridge, approval, { decision: "approve", raiseByUsd: 0.2 }),
      decide(bridge, approval, { decision: "approve", raiseByUsd: 0.2 }),
    ],
  ]);
  expect(decisions.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  const second = await pendingApproval(bridge, 2);
  expect(second.input).toMatchObject({ spentUsd: 0.5, maxCostUsd: 0.45 });
  await decide(bridge, second, { decision: "approve" });
  expect(await taskInState(bridge, "t", "completed")).toMatchObject({ costUsd: 0.7, result: { output: "Done." } });
  expect(await listApprovals(bridge)).toMatchObject([
    { state: "approved", raiseByUsd: 0.2 },
    { state: "approved", raiseByUsd: 0.25 },
  ]);
});

test("a rejection stops a task at its maximum", async () => {
  const bridge = await start();
  await dispatch(bridge, 6);
  await decide(bridge, await pendingApproval(bridge), { decision: "reject", reason: "Enough." });
  const error = "The task has spent 0.3 US dollars, and its budget permits 0.25. A higher maximum was rejected: Enough.";
  expect(await taskInState(bridge, "t", "failed")).toMatchObject({ result: { errorCode: "budget_exceeded", error, costUsd: 0.3 } });
  expect(bridge.calls()).toHaveLength(3);
});

test("a task that runs again after kill -9 keeps its raises, and asks again for what waited", { timeout: scaled(120_000) }, async () => {
  const { dataDir, settings } = await prepare();
  const first = await startBridgeProgram(dataDir, settings);
  await dispatch(first, 5, { onInterrupt: "retry" });
  await decide(first, await pendingApproval(first), { decision: "approve", raiseByUsd: 0.2 });
  await pendingApproval(first, 2);
  // What a task has spent is stored at most once per second.
  await expect.poll(async () => (await (await first.call("GET", "/api/v2/tasks/t")).json()) as object).toMatchObject({ costUsd: 0.5 });
  first.signal("SIGKILL");
  await first.exited;
  const bridge = await startBridgeProgram(dataDir, settings);
  const third = await pendingApproval(bridge, 3);
  expect(third.input).toMatchObject({ spentUsd: 0.5, maxCostUsd: 0.45 });
  expect(await listApprovals(bridge)).toMatchObject([{ state: "approved" }, { state: "rejected", decidedBy: "bridge" }, {}]);
  await decide(bridge, third, { decision: "approve", raiseByUsd: 1 });
  expect(await taskInState(bridge, "t", "completed")).toMatchObject({ costUsd: 1.1 });
});

test("a raised task spends from the budgets of the operator, and is stopped if they have no room", async () => {
  const bridge = await start([{ name: "day", per: "day", maxCostUsd: 0.45 }]);
  await dispatch(bridge, 9);
  await decide(bridge, await pendingApproval(bridge), { decision: "approve", raiseByUsd: 0.2 });
  const result = { errorCode: "budget_exceeded", error: "The budget day has no room for what the task spends.", costUsd: 0.5 };
  expect(await taskInState(bridge, "t", "failed")).toMatchObject({ result });
  expect((await listApprovals(bridge)).every(({ state }) => state !== "pending")).toBe(true);
});

test("an adapter whose model calls Bridge cannot hold rejects a budget that asks, and is skipped as a fallback", async () => {
  const bridge = await start();
  const rejected = await dispatchTask(bridge, { taskId: "u", agentId: "a", provider: "command", message: "x", budget });
  expect(await rejected.json()).toMatchObject({ status: 422, code: "capability_missing", errors: [{ path: "budget.onReached" }] });
  const body = { agentId: "a", provider: "vercel-ai", message: "x", budget, fallbacks: [{ provider: "command" }] };
  const checked = (await (await bridge.call("POST", "/api/v2/dispatch/check", body)).json()) as { task: { candidates: object[] } };
  const reason = expect.stringContaining("budget.onReached the adapter command cannot hold a task between two calls of its model");
  expect(checked.task.candidates).toMatchObject([{ canRun: true }, { canRun: false, reason }]);
});
