import { expect, test, vi } from "vitest";
import type { ExecutionResult } from "#contract";
import { createInMemoryAdapter, type Run } from "../../adapters/in-memory-adapter.ts";
import { caller, endOf, newDispatch, startEngine } from "../engine.ts";

const limited = { status: "error", errorCode: "rate_limited", error: "Usage limit reached. Try again in 2 seconds." } as const;
const usage = { inputTokens: 5, outputTokens: 1 };
const waiting = { whenLimited: "wait" } as const;

/** An adapter whose first runs reach a limit. */
function limitedAdapter(limits: number) {
  let runs = 0;
  const run: Run = async () => (++runs <= limits ? { ...limited, usage, costUsd: 0.5 } : { output: "done", usage, costUsd: 0.25 });
  return { adapter: createInMemoryAdapter({ run, capabilities: { sandboxing: true } }), runs: () => runs };
}

test("a task that may wait returns to the queue until the end of the limit, and counts what it has spent", async () => {
  const { adapter, runs } = limitedAdapter(1);
  const engine = await startEngine([adapter]);
  const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId: "t", request: waiting }), caller);
  await vi.waitFor(async () => expect(await engine.store.findTaskProgress("default", "t")).toMatchObject({ state: "queued" }));
  await vi.waitFor(() => expect(engine.dispatcher.load("memory")).toMatchObject({ running: 0, queued: 1 }));
  const needs = (await engine.store.readTaskStatuses([task.seq])).get(task.seq)?.queued ?? expect.fail("not queued");
  const progress = (await engine.store.findTaskProgress("default", "t")) ?? expect.fail("no task");
  expect(await engine.dispatcher.findQueuedReason(progress, needs)).toBe("cooldown");
  expect(runs()).toBe(1);

  const ended = await endOf(engine, task);
  expect(ended).toMatchObject({ state: "completed", restarts: 0, result: { output: "done", costUsd: 0.75, usage: { inputTokens: 10 } } });
  const types = engine.eventsOf("t").map(({ type }) => type);
  expect(types.filter((type) => type === "execution.started")).toHaveLength(1);
  expect(engine.eventsOf("t").find(({ type }) => type === "execution.progress")?.data).toMatchObject({
    waitingUntil: expect.any(String),
    reason: expect.stringContaining("usage limit"),
  });
});

test("a task waits for the end of a limit that another task has reached, without a run", async () => {
  const { adapter, runs } = limitedAdapter(1);
  const engine = await startEngine([adapter]);
  const first = await engine.dispatcher.admitTask(newDispatch({ taskId: "first" }), caller);
  expect(await endOf(engine, first.task)).toMatchObject({ result: { errorCode: "rate_limited" } });
  const second = await engine.dispatcher.admitTask(newDispatch({ taskId: "second", request: waiting }), caller);
  await vi.waitFor(async () => expect(await engine.store.findTaskProgress("default", "second")).toMatchObject({ state: "queued" }));
  expect(runs()).toBe(1);
  expect(await endOf(engine, second.task)).toMatchObject({ state: "completed" });
  expect(runs()).toBe(2);
});

test("a task fails with rate_limited if the limit ends after its time to wait", async () => {
  const { adapter } = limitedAdapter(1);
  const engine = await startEngine([adapter]);
  const { task } = await engine.dispatcher.admitTask(newDispatch({ request: { ...waiting, waitSeconds: 1 } }), caller);
  expect(await endOf(engine, task)).toMatchObject({ state: "failed", result: { errorCode: "rate_limited", costUsd: 0.5 } });
});

test("a task that a limit ends without an answer has used no model, also if it was not started, and keeps what earlier runs have spent", async () => {
  let runs = 0;
  let error: Partial<ExecutionResult> = { error: "Try again in 3 hours." };
  const run: Run = async () => (++runs === 1 ? { ...limited, usage, costUsd: 0.5 } : { ...limited, ...error });
  const engine = await startEngine([createInMemoryAdapter({ run, capabilities: { sandboxing: true } })]);
  const finish = vi.spyOn(engine.store, "finishTaskIfRunning");
  const end = async (taskId: string, request = {}) => {
    const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId, request }), caller);
    const { result } = await endOf(engine, task);
    return { result, usedNoModel: finish.mock.lastCall?.[1].usedNoModel };
  };
  const again = { ...waiting, waitSeconds: 60 };
  expect(await end("again", again)).toMatchObject({ result: { errorCode: "rate_limited", costUsd: 0.5 }, usedNoModel: false });
  expect(runs).toBe(2);
  expect(await end("held", again)).toMatchObject({ result: { errorCode: "rate_limited" }, usedNoModel: true });
  expect(runs).toBe(2);
  expect(await end("rejected")).toMatchObject({ result: { errorCode: "rate_limited" }, usedNoModel: true });
  error = { errorCode: "model_error", error: "It failed." };
  expect(await end("failed")).toMatchObject({ result: { errorCode: "model_error" }, usedNoModel: false });
});

test("a task that may have changed something does not wait, because it would begin again", async () => {
  const run: Run = async (_request, emit) => {
    emit("tool.invoked", { toolCallId: "1", toolName: "shell", input: {} });
    emit("tool.completed", { toolCallId: "1", toolName: "shell", output: "", isError: false });
    return limited;
  };
  const engine = await startEngine([createInMemoryAdapter({ run })]);
  const { task } = await engine.dispatcher.admitTask(newDispatch({ request: { ...waiting, profile: "modify" } }), caller);
  expect(await endOf(engine, task)).toMatchObject({ state: "failed", result: { errorCode: "rate_limited" } });
});

test("a canceled task that waits ends with what it has spent", async () => {
  const { adapter } = limitedAdapter(1);
  const engine = await startEngine([adapter]);
  const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId: "t", request: waiting }), caller);
  await vi.waitFor(() => expect(engine.dispatcher.load("memory")).toMatchObject({ running: 0, queued: 1 }));
  await engine.dispatcher.cancel("default", "t");
  expect(await endOf(engine, task)).toMatchObject({ state: "cancelled", result: { costUsd: 0.5 } });
  expect(engine.eventsOf("t").filter(({ type }) => type === "execution.started")).toHaveLength(1);
});
