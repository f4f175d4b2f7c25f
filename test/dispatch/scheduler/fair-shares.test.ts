import { describe, expect, test, vi } from "vitest";
import type { AdapterConfig, ExecutionAdapter } from "#contract";
import type { TenantQuota } from "../../../src/task.ts";
import { createInMemoryAdapter, type Run } from "../../adapters/in-memory-adapter.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { newDispatch, startEngine, unlimitedQuota } from "../engine.ts";

/** A runtime whose tasks run until they are released. `started` has their messages in order. */
function createHeldRuntime() {
  const held = new Map<string, () => void>();
  const started: string[] = [];
  const run: Run = async ({ message }, _emit, signal) => {
    started.push(message);
    await new Promise<void>((resolve, reject) => {
      held.set(message, resolve);
      signal.addEventListener("abort", () => reject(new Error("cancelled")));
    });
    return { output: message, resumeToken: "session" };
  };
  return { run, started, release: (message: string) => held.get(message)?.() };
}

const callerOf = (tenant: string) => ({ tenant, traceparent: null, tracestate: null });

/** An engine, and a dispatch whose message is its task id, which starts with its tenant. */
async function start(adapters: readonly ExecutionAdapter[], options: Parameters<typeof startEngine>[1] = {}) {
  const engine = await startEngine(adapters, options);
  const dispatch = async (taskId: string, fields: Parameters<typeof newDispatch>[0] = {}) => {
    const request = { message: taskId, ...fields.request };
    return (await engine.dispatcher.admitTask(newDispatch({ taskId, ...fields, request }), callerOf(taskId[0] as string))).task;
  };
  const running = (count: number) =>
    vi.waitFor(() =>
      expect([...engine.registry.list()].reduce((sum, { provider }) => sum + engine.dispatcher.load(provider).running, 0)).toBe(count),
    );
  return { ...engine, dispatch, running };
}

describe("slots", () => {
  test("repeated dispatches do not compete for a slot with a task that waits for one", async () => {
    const { run, started, release } = createHeldRuntime();
    const { store, dispatch, running } = await start([createInMemoryAdapter({ run })], { maxConcurrent: () => 1 });
    await dispatch("a1");
    await running(1);
    await dispatch("b1");
    const insert = vi.spyOn(store, "insertTaskIfAbsent");
    await Promise.all(Array.from({ length: 5 }, () => dispatch("a1")));
    expect(insert).not.toHaveBeenCalled();
    release("a1");
    await vi.waitFor(() => expect(started).toEqual(["a1", "b1"]));
  });

  test("a tenant with one task gets the next free slot, however many tasks another tenant has queued", async () => {
    const { run, started, release } = createHeldRuntime();
    const engine = await start([createInMemoryAdapter({ run })]);
    for (let count = 0; count < 60; count += 1) await engine.dispatch(`A${count}`);
    await vi.waitFor(() => expect(started).toEqual(["A0", "A1"]));
    await engine.dispatch("B0");
    release("A1");
    await vi.waitFor(() => expect(started).toHaveLength(3));
    expect(started[2]).toBe("B0");
  });

  test("children of one tenant do not keep another tenant's tasks waiting", async () => {
    const { run, started, release } = createHeldRuntime();
    let config: AdapterConfig | undefined;
    const parent = createInMemoryAdapter({
      provider: "composite",
      async run({ taskId }) {
        const messages = Array.from({ length: 6 }, (_, index) => `A-child${index}`);
        await Promise.all(messages.map((message) => config?.runChild({ parentTaskId: taskId, provider: "memory", message })));
        return {};
      },
    });
    const initialize = parent.initialize;
    parent.initialize = async (given) => {
      config = given;
      await initialize(given);
    };
    const engine = await start([createInMemoryAdapter({ run }), parent], { maxConcurrent: () => 1 });
    await engine.dispatch("A0", { provider: "composite" });
    await vi.waitFor(() => expect(engine.dispatcher.load("memory")).toMatchObject({ running: 1, queued: 5 }));
    await engine.dispatch("B0", { provider: "memory" });
    release("A-child0");
    await vi.waitFor(() => expect(started).toEqual(["A-child0", "B0"]));
    await engine.dispatcher.cancel("A", "A0");
  });

  test("tasks that wait for a session of their tenant leave the slot to other tenants", async () => {
    const { run, started, release } = createHeldRuntime();
    const engine = await start([createInMemoryAdapter({ run })]);
    await engine.dispatch("A0");
    await vi.waitFor(() => expect(started).toEqual(["A0"]));
    release("A0");
    await engine.running(0);
    for (let count = 1; count < 9; count += 1) await engine.dispatch(`A${count}`, { request: { resumeToken: "session" } });
    await engine.dispatch("B0");
    await vi.waitFor(() => expect(started).toEqual(["A0", "A1", "B0"]));
    release("A1");
    await vi.waitFor(() => expect(started).toEqual(["A0", "A1", "B0", "A2"]));
  });

  test("a restart keeps the queue and its fairness", async () => {
    const dataDir = await temporaryDirectory();
    const first = await start([createInMemoryAdapter({ run: createHeldRuntime().run })], { dataDir, maxConcurrent: () => 1 });
    for (const taskId of ["A0", "A1", "A2", "A3", "B0", "B1"]) await first.dispatch(taskId, { request: { onInterrupt: "retry" } });
    await vi.waitFor(() => expect(first.dispatcher.load("memory")).toMatchObject({ running: 1, queued: 5 }));
    await first.stop();
    const { run, started, release } = createHeldRuntime();
    const second = await start([createInMemoryAdapter({ run })], { dataDir, maxConcurrent: () => 1 });
    for (let count = 1; count <= 6; count += 1) {
      await vi.waitFor(() => expect(started).toHaveLength(count));
      release(started.at(-1) as string);
    }
    await second.running(0);
    expect(started).toEqual(["A0", "B0", "A1", "B1", "A2", "A3"]);
    expect(second.dispatcher.load("memory").queued).toBe(0);
  });
});

describe("quotas", () => {
  test("the limit of running tasks applies over all adapters, and a task that waits for it starts when another one ends", async () => {
    const { run, started, release } = createHeldRuntime();
    const quotaOf = (tenant: string) => ({ ...unlimitedQuota, maxRunning: tenant === "A" ? 2 : null });
    const engine = await start([createInMemoryAdapter({ run, provider: "p" }), createInMemoryAdapter({ run, provider: "q" })], {
      quotaOf,
      maxConcurrent: () => 3,
    });
    await engine.dispatch("A0", { provider: "p" });
    await engine.dispatch("A1", { provider: "q" });
    const held = await engine.dispatch("A2", { provider: "q" });
    await engine.dispatch("B0", { provider: "q" });
    await engine.running(3);
    expect(started.toSorted()).toEqual(["A0", "A1", "B0"]);
    expect(await engine.dispatcher.isHeldByQuota(held)).toBe(true);
    release("A0");
    await vi.waitFor(() => expect(started.at(-1)).toBe("A2"));
    expect(await engine.dispatcher.isHeldByQuota(held)).toBe(true);
    release("A1");
    release("A2");
    await engine.running(1);
    expect(await engine.dispatcher.isHeldByQuota(held)).toBe(false);
  });

  test("the limit of an agent delays only its tasks, and canceling one frees nothing", async () => {
    const { run, started, release } = createHeldRuntime();
    const quotaOf = () => ({ ...unlimitedQuota, agentMaxRunning: 1 });
    const engine = await start([createInMemoryAdapter({ run })], { quotaOf, maxConcurrent: () => 4 });
    const tasks = [];
    for (let count = 0; count < 4; count += 1) tasks.push(await engine.dispatch(`A${count}`, { agentId: "busy" }));
    const other = await engine.dispatch("A4", { agentId: "other" });
    await engine.running(2);
    expect(started.toSorted()).toEqual(["A0", "A4"]);
    expect(await Promise.all([...tasks, other].map((task) => engine.dispatcher.isHeldByQuota(task)))).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);
    expect(await engine.dispatcher.isHeldByQuota({ ...other, agentId: "third" })).toBe(false);
    await engine.dispatcher.cancel("A", "A1");
    release("A0");
    await vi.waitFor(() => expect(started.at(-1)).toBe("A2"));
  });

  test("a quota that is raised while Bridge runs starts the tasks that waited for it", async () => {
    const { run, started } = createHeldRuntime();
    const quota: TenantQuota = { ...unlimitedQuota, maxRunning: 1 };
    const engine = await start([createInMemoryAdapter({ run })], { quotaOf: () => ({ ...quota }) });
    await engine.dispatch("A0");
    await engine.dispatch("A1");
    await engine.running(1);
    quota.maxRunning = 2;
    engine.dispatcher.onQuotasChanged();
    await vi.waitFor(() => expect(started).toEqual(["A0", "A1"]));
  });

  test("a full queue rejects the tenant that has filled it, and accepts a tenant that has nothing queued", async () => {
    const { run } = createHeldRuntime();
    const engine = await start([createInMemoryAdapter({ run })], { queueLimit: 4, maxConcurrent: () => 1 });
    for (let count = 0; count < 5; count += 1) await engine.dispatch(`A${count}`);
    await expect(engine.dispatch("A5")).rejects.toMatchObject({ code: "queue_full", queue: "bridge", retryAfterSeconds: 5 });
    await engine.dispatch("B0");
    await engine.dispatch("B1");
    await expect(engine.dispatch("B2")).rejects.toMatchObject({ code: "queue_full", queue: "bridge" });
    expect((await engine.metrics.queueFull.get()).values).toEqual([{ labels: { queue: "bridge" }, value: 2 }]);
  });

  test.each([
    ["tenant", { queueLimit: 1 }],
    ["agent", { agentQueueLimit: 1 }],
  ])("the rejection names the full queue: %s", async (queue, quota) => {
    const { run } = createHeldRuntime();
    const engine = await start([createInMemoryAdapter({ run })], {
      quotaOf: () => ({ ...unlimitedQuota, ...quota }),
      maxConcurrent: () => 1,
    });
    await engine.dispatch("A0");
    await engine.running(1);
    await engine.dispatch("A1");
    await expect(engine.dispatch("A2")).rejects.toMatchObject({ code: "queue_full", queue });
    await engine.dispatch("B0");
    const elsewhere = engine.dispatch("A3", { agentId: "another" });
    if (queue === "agent") await elsewhere;
    else await expect(elsewhere).rejects.toMatchObject({ queue: "tenant" });
    await engine.dispatcher.cancel("A", "A1");
    await engine.dispatch("A4");
  });
});
