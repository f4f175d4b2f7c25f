import { expect, test } from "vitest";
import type { SpendingAnswer } from "#contract";
import { createInMemoryAdapter, type Run } from "../adapters/in-memory-adapter.ts";
import { caller, endOf, newDispatch, startEngine } from "../dispatch/engine.ts";

const budget = { maxCostUsd: 0.5, onReached: "ask", onUnknownCost: "reserve" } as const;
const yes = { decision: "approve", by: "operator", reason: null } as const;

/** Runs tasks that spend 60 cents, and then need the permission for as many calls as their message states, all at once. */
async function open(options: Parameters<typeof startEngine>[1] = {}) {
  const answers: SpendingAnswer[] = [];
  const run: Run = async ({ taskId, message }, emit, signal) => {
    const stopped = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
    emit("usage.reported", { usage: { inputTokens: 600, outputTokens: 0 }, costUsd: 0.6 });
    const calls = Array.from({ length: Number(message) }, () => engine.dispatcher.mayCallModel("memory", taskId));
    for (const call of calls) void call.then((answer) => answers.push(answer));
    await Promise.race([Promise.all(calls), stopped]);
    return { output: "done" };
  };
  const engine = await startEngine([createInMemoryAdapter({ run, capabilities: { holdsModelCalls: true } })], options);
  const accept = async (message = "1", fields = {}) =>
    (await engine.dispatcher.admitTask(newDispatch({ taskId: "t", request: { message, budget, ...fields } }), caller)).task;
  const list = () => engine.approvals.list("default", {}, { order: "oldest", after: null, limit: 50 });
  const pending = async () => {
    await expect.poll(async () => (await list()).at(-1)?.state).toBe("pending");
    return (await list()).at(-1) ?? expect.fail("none");
  };
  return { ...engine, accept, list, pending, answers };
}

test("a task at its maximum waits for one approval, which shows what is spent, for all calls at the same time", async () => {
  const engine = await open();
  const task = await engine.accept("3");
  const approval = await engine.pending();
  expect(approval).toMatchObject({
    ...{ kind: "budget", toolName: "budget", toolCallId: approval.approvalId },
    input: { spentUsd: 0.6, maxCostUsd: 0.5, spentTokens: 600, maxTokens: null },
  });
  expect(engine.answers).toEqual([]);
  await engine.approvals.decide("default", approval.approvalId, { ...yes, raiseByUsd: 0.25 });
  expect(await endOf(engine, task)).toMatchObject({ state: "completed" });
  expect([engine.answers.length, (await engine.list()).length]).toEqual([3, 1]);
  const { approvalId } = approval;
  expect(engine.eventsOf("t").filter(({ type }) => type.startsWith("tool."))).toMatchObject([
    { type: "tool.approval_requested", data: { approvalId, kind: "budget", toolName: "budget", input: { spentUsd: 0.6 } } },
    { type: "tool.approval_resolved", data: { approvalId, kind: "budget", decision: "approve", raiseByUsd: 0.25 } },
  ]);
});

test("a rejection ends the task with the reason of the person", async () => {
  const engine = await open();
  const task = await engine.accept();
  await engine.approvals.decide("default", (await engine.pending()).approvalId, { ...yes, decision: "reject", reason: "Too dear." });
  const error = "The task has spent 0.6 US dollars, and its budget permits 0.5. A higher maximum was rejected: Too dear.";
  expect(await endOf(engine, task)).toMatchObject({ state: "failed", result: { errorCode: "budget_exceeded", error, costUsd: 0.6 } });
});

test("an approval that expires ends the task", async () => {
  const engine = await open({ approvalSeconds: 0.05 });
  const task = await engine.accept();
  const error = expect.stringMatching(/A higher maximum was rejected: No decision was made within 0.05 s\.$/);
  expect(await endOf(engine, task)).toMatchObject({ state: "failed", result: { errorCode: "budget_exceeded", error } });
  expect(await engine.list()).toMatchObject([{ state: "rejected", decidedBy: "bridge" }]);
});

test("the time limit of a task is paused while a person decides about its budget", async () => {
  const engine = await open({ approvalSeconds: 2 });
  const task = await engine.accept("1", { timeoutSeconds: 1 });
  // Without the pause, the shorter time limit of the task would end it first.
  expect(await endOf(engine, task)).toMatchObject({ result: { errorCode: "budget_exceeded" } });
});

test("a cancellation ends the wait, and closes the approval", async () => {
  const engine = await open();
  const task = await engine.accept();
  await engine.pending();
  await engine.dispatcher.cancel("default", "t");
  expect(await endOf(engine, task)).toMatchObject({ state: "cancelled", result: { errorCode: "cancelled" } });
  expect(await engine.list()).toMatchObject([{ state: "rejected", decidedBy: "bridge", raises: { micros: 500_000 } }]);
});

test("an approval without an amount raises the maximum by that of the dispatch, and a raise that is too small asks again", async () => {
  const engine = await open();
  const task = await engine.accept();
  const first = await engine.pending();
  await engine.approvals.decide("default", first.approvalId, { ...yes, raiseByUsd: 0.05 });
  await expect.poll(async () => (await engine.list()).length).toBe(2);
  const second = await engine.pending();
  expect(second.input).toMatchObject({ maxCostUsd: 0.55 });
  await engine.approvals.decide("default", second.approvalId, yes);
  expect(await endOf(engine, task)).toMatchObject({ state: "completed" });
  expect(await engine.store.readRaises(task.seq)).toEqual({ micros: 550_000, tokens: 0 });
});

test("the calls of a child wait for the budget of its parent", async () => {
  const asking: Run = async ({ taskId }, emit) => {
    emit("usage.reported", { usage: { inputTokens: 1, outputTokens: 0 }, costUsd: 0.6 });
    const { allowed } = await engine.dispatcher.mayCallModel("child", taskId);
    return { output: String(allowed) };
  };
  const parent: Run = async ({ taskId }) => engine.dispatcher.runChild({ parentTaskId: taskId, provider: "child", message: "x" });
  const capabilities = { holdsModelCalls: true };
  const engine = await startEngine([
    createInMemoryAdapter({ run: parent, capabilities }),
    createInMemoryAdapter({ provider: "child", run: asking }),
  ]);
  const { task } = await engine.dispatcher.admitTask(
    newDispatch({ taskId: "t", provider: "memory", request: { message: "x", budget } }),
    caller,
  );
  const list = () => engine.approvals.list("default", { state: "pending" }, { order: "oldest", after: null, limit: 2 });
  await expect.poll(list).toMatchObject([{ kind: "budget", task: { taskId: "t" } }]);
  await engine.approvals.decide("default", (await list())[0]?.approvalId ?? "", yes);
  expect(await endOf(engine, task)).toMatchObject({ state: "completed", result: { output: "true", costUsd: 0.6 } });
});

test.each([
  ["a tool call", { kind: "tool" as const }, "approve", "must be omitted: the approval is for a tool call, not for a budget; got 2"],
  ["a rejection", {}, "reject", "must be omitted: only an approval raises the maximum; got 2"],
  [
    "a budget without maxCostUsd",
    { raises: { micros: null, tokens: 5 } },
    "approve",
    "must be omitted: the budget of the task has no maxCostUsd, and an approval raises its maxTokens; got 2",
  ],
] as const)("a raise of %s is rejected", async (_, fields, decision, message) => {
  const engine = await open();
  const task = await engine.accept();
  await engine.pending();
  await engine.store.insertApprovalIfRunning(task, {
    ...{ approvalId: "apr", toolCallId: "c", toolName: "x", shownInput: "{}", expiresInMs: null },
    ...{ kind: "budget", raises: { micros: 1, tokens: null }, ...fields },
    event: () => ({ type: "tool.approval_requested", data: "{}" }),
  });
  const decided = engine.approvals.decide("default", "apr", { ...yes, decision, raiseByUsd: 2 });
  await expect(decided).rejects.toMatchObject({ code: "invalid_request", errors: [{ path: "raiseByUsd", message }] });
});
