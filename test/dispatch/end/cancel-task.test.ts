import { describe, expect, test, vi } from "vitest";
import type { Dispatcher } from "../../../src/dispatch/dispatcher.ts";
import type { Store } from "../../../src/store/store.ts";
import { createInMemoryAdapter, type Run } from "../../adapters/in-memory-adapter.ts";
import { newTask } from "../../conformance/store/fixtures.ts";
import { openTestStore } from "../../support/database-subject.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { caller, endOf, newDispatch, startEngine } from "../engine.ts";
import { createCompositeAdapter, createHeldRuntime } from "../runtimes.ts";

type Engine = Awaited<ReturnType<typeof startEngine>>;

const terminalEvents = (engine: Engine, taskId: string) =>
  engine.eventsOf(taskId).filter(({ type }) => type === "execution.completed" || type === "execution.failed");

const canceledBy: [name: string, choose: (engine: Engine) => Dispatcher][] = [
  ["in the process that runs it", ({ dispatcher }) => dispatcher],
  ["in a process that does not run it", ({ createOtherDispatcher }) => createOtherDispatcher()],
];

describe.each(canceledBy)("a task that is canceled %s", (_, choose) => {
  test("a canceled task stops, and a later cancellation changes nothing", async () => {
    const { run, held } = createHeldRuntime();
    const engine = await startEngine([createInMemoryAdapter({ run })]);
    const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId: "t" }), caller);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    const canceling = choose(engine);
    expect(await canceling.cancel("default", "t")).toMatchObject({ changed: true });
    expect(await endOf(engine, task)).toMatchObject({
      state: "cancelled",
      result: { errorCode: "cancelled", error: "The task was canceled." },
    });
    expect(await canceling.cancel("default", "t")).toMatchObject({ changed: false, task: { state: "cancelled" } });
  });

  test("by two clients at the same time ends once", async () => {
    const started = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const run: Run = async () => {
      started.resolve();
      await ended.promise;
      return {};
    };
    // The task does not end before both clients have an answer.
    const engine = await startEngine([createInMemoryAdapter({ run })], { stopGraceMs: 60_000 });
    const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId: "t" }), caller);
    await started.promise;
    const dispatchers = [choose(engine), choose(engine)];
    const answers = await Promise.all(dispatchers.map((canceling) => canceling.cancel("default", "t")));
    expect(answers.map(({ changed }) => changed)).toEqual([true, true]);
    ended.resolve();
    expect(await endOf(engine, task)).toMatchObject({ state: "cancelled" });
    expect(terminalEvents(engine, "t")).toHaveLength(1);
  });

  test.each(["the cancellation", "the result"])("while its runtime ends has one terminal event, also if %s is first", async (first) => {
    const { run, held } = createHeldRuntime();
    const engine = await startEngine([createInMemoryAdapter({ run })], { maxConcurrent: () => 10 });
    const canceling = choose(engine);
    const tasks = await Promise.all(
      Array.from({ length: 10 }, (_, index) => engine.dispatcher.admitTask(newDispatch({ taskId: `t${index}` }), caller)),
    );
    await vi.waitFor(() => expect(held).toHaveLength(10));
    const cancellations = held.map(async ({ release, taskId }, index) => {
      if (first === "the result") release();
      // The cancellation with index n begins n microtasks later, so that they meet the results at different steps.
      for (let step = 0; step < index; step += 1) await null;
      const cancellation = canceling.cancel("default", taskId);
      release();
      return await cancellation;
    });
    for (const { changed, task } of await Promise.all(cancellations)) if (!changed) expect(task.state).toBe("completed");
    for (const { task } of tasks) {
      expect((await endOf(engine, task)).state).toMatch(/^(completed|cancelled)$/);
      expect(terminalEvents(engine, task.taskId)).toHaveLength(1);
    }
    expect(await engine.store.listInterruptedTasks()).toEqual([]);
  });

  test("a canceled task ends with its child tasks, running and queued", async () => {
    const { run, held } = createHeldRuntime();
    const engine = await startEngine([createCompositeAdapter(), createInMemoryAdapter({ run })], {
      maxConcurrent: (provider) => (provider === "composite" ? 2 : 1),
    });
    for (const taskId of ["p1", "p2"]) await engine.dispatcher.admitTask(newDispatch({ taskId, provider: "composite" }), caller);
    const childOf = async (parentTaskId: string) =>
      (await engine.store.listTasks({ tenant: "default", parentTaskId }, { before: null, limit: 10 }))[0];
    await vi.waitFor(async () => expect([held.length, await childOf("p1"), await childOf("p2")]).not.toContain(undefined));
    const canceling = choose(engine);
    await Promise.all(["p1", "p2"].map((taskId) => canceling.cancel("default", taskId)));
    for (const parentTaskId of ["p1", "p2"]) {
      const parent = await engine.store.findTask("default", parentTaskId);
      expect(await endOf(engine, parent as never)).toMatchObject({ state: "cancelled" });
      const child = await childOf(parentTaskId);
      expect(await engine.dispatcher.waitForEnd(child as never, 60_000)).toMatchObject({ state: "cancelled" });
      for (const taskId of [parentTaskId, child?.taskId ?? ""]) expect(terminalEvents(engine, taskId)).toHaveLength(1);
    }
  });
});

test("a task that this process runs is stopped without a write to the store", async () => {
  const { run, held } = createHeldRuntime();
  const engine = await startEngine([createInMemoryAdapter({ run })]);
  const requests = vi.spyOn(engine.store, "requestStopIfRunning");
  const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId: "early" }), caller);
  await engine.dispatcher.cancel("default", "early");
  expect(await endOf(engine, task)).toMatchObject({ state: "cancelled" });
  const { task: later } = await engine.dispatcher.admitTask(newDispatch({ taskId: "later" }), caller);
  await vi.waitFor(() => expect(held.some(({ taskId }) => taskId === "later")).toBe(true));
  await engine.dispatcher.cancel("default", "later");
  expect(await endOf(engine, later)).toMatchObject({ state: "cancelled" });
  expect(requests).not.toHaveBeenCalled();
});

test("a cancellation of a task that no process runs is stored, and the next start ends the task as canceled and does not retry it", async () => {
  const engine = await startEngine([createInMemoryAdapter()]);
  const request = { ...newDispatch().request, onInterrupt: "retry" as const };
  for (const taskId of ["canceled", "interrupted"]) {
    await engine.store.insertTaskIfAbsent(newTask({ taskId, provider: "memory", request }), { starts: true });
  }
  expect(await engine.dispatcher.cancel("default", "canceled")).toMatchObject({ changed: true, task: { state: "running" } });
  await engine.stop();

  const next = await startEngine([createInMemoryAdapter()], { dataDir: engine.dataDir });
  const ends = await Promise.all(
    ["canceled", "interrupted"].map(async (taskId) => endOf(next, (await next.store.findTask("default", taskId)) as never)),
  );
  expect(ends).toMatchObject([
    { state: "cancelled", result: { errorCode: "cancelled", error: "The task was canceled." } },
    { state: "completed", restarts: 1 },
  ]);
});

test("a cancellation through another process changes nothing if the task ends by itself before it is stopped", async () => {
  const dataDir = await temporaryDirectory();
  const real = await openTestStore(dataDir);
  const { run, held } = createHeldRuntime();
  const requestStopIfRunning: Store["requestStopIfRunning"] = async ({ tenant, taskId }) => {
    held[0]?.release();
    await vi.waitFor(async () => expect(await real.findTaskProgress(tenant, taskId)).toMatchObject({ state: "completed" }));
    return true;
  };
  const engine = await startEngine([createInMemoryAdapter({ run })], { dataDir, store: { ...real, requestStopIfRunning } });
  const { task } = await engine.dispatcher.admitTask(newDispatch(), { tenant: "default", traceparent: null, tracestate: null });
  await vi.waitFor(() => expect(held).toHaveLength(1));
  const outcome = await engine.createOtherDispatcher().cancel("default", task.taskId);
  expect(outcome).toMatchObject({ task: { state: "completed" }, changed: false });
});

test("a task that runs again after an interruption can be canceled, also after its first runtime has ended late", async () => {
  const runtimes: PromiseWithResolvers<void>[] = [];
  const run: Run = async () => {
    const runtime = Promise.withResolvers<void>();
    runtimes.push(runtime);
    await runtime.promise;
    return {};
  };
  const engine = await startEngine([createInMemoryAdapter({ run })]);
  const { dispatcher } = engine;
  const { task } = await dispatcher.admitTask(newDispatch({ taskId: "t", request: { onInterrupt: "retry" } }), caller);
  await vi.waitFor(() => expect(runtimes).toHaveLength(1));
  dispatcher.interrupt("The node lost its database.");
  await vi.waitFor(async () => expect((await engine.store.findTask("default", "t"))?.state).toBe("queued"));
  dispatcher.resume();
  await vi.waitFor(() => expect(runtimes).toHaveLength(2));
  runtimes[0]?.resolve();
  await vi.waitFor(() => expect(dispatcher.load("memory").running).toBe(1));
  expect(await dispatcher.cancel("default", "t")).toMatchObject({ changed: true });
  expect(await endOf(engine, task)).toMatchObject({ state: "cancelled", restarts: 1 });
});
