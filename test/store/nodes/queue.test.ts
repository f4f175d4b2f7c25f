import { expect, onTestFinished, test, vi } from "vitest";
import { createLoneView } from "../../../src/cluster/lone-cluster.ts";
import type { DispatcherOptions } from "../../../src/dispatch/dispatcher.ts";
import { createSharedQueue } from "../../../src/dispatch/sharing/shared-queue.ts";
import type { Hint } from "../../../src/store/nodes/interface.ts";
import type { Task, TenantQuota } from "../../../src/task.ts";
import { createInMemoryAdapter, type Run } from "../../adapters/in-memory-adapter.ts";
import { newDispatch, startEngine, unlimitedQuota } from "../../dispatch/engine.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/create-database.ts";
import { openNode } from "../../support/postgres/open-node.ts";

/** The tasks that run on any node, in the order of their starts, as `<node> <message>`. */
function createHeldRuntimes() {
  const started: string[] = [];
  const held = new Map<string, () => void>();
  let mostRunning = 0;
  const runOn =
    (node: string): Run =>
    async ({ message }) => {
      started.push(`${node} ${message}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      held.set(message, resolve);
      mostRunning = Math.max(mostRunning, held.size);
      await promise;
      return { output: message };
    };
  const release = (message: string): void => {
    const resolve = held.get(message);
    held.delete(message);
    resolve?.();
  };
  return {
    ...{ started, runOn, release },
    running: () => [...held.keys()],
    mostRunning: () => mostRunning,
    releaseAll: () => [...held.keys()].forEach(release),
  };
}

type Runtimes = ReturnType<typeof createHeldRuntimes>;
interface NodeOptions {
  slots: number;
  /** Whether the node gets the hints of other nodes. Default: true. */
  hears?: boolean;
  quota?: Partial<TenantQuota>;
}

/** Starts the dispatcher of a node that runs its tasks on these runtimes. */
async function startNode(database: TestDatabase, node: string, runtimes: Runtimes, { slots, hears = true, quota }: NodeOptions) {
  let onHint = (_: Hint): void => {};
  const opened = await openNode({ url: database.urlAt(database.port), node, onHint: (hint) => onHint(hint) });
  const options: Partial<DispatcherOptions> = {
    store: opened.store,
    shareQueue: createSharedQueue({ cluster: opened.cluster, graceMs: 0 }),
    view: createLoneView({ id: node, name: node, tags: [], files: "local" }),
    maxConcurrent: () => slots,
    queueLimit: 10_000,
    quotaOf: () => ({ ...unlimitedQuota, ...quota }),
  };
  const engine = await startEngine([createInMemoryAdapter({ run: runtimes.runOn(node) })], options);
  onTestFinished(async () => {
    const drained = engine.dispatcher.drain();
    runtimes.releaseAll();
    await drained;
  });
  if (hears)
    onHint = (hint) => {
      if (hint.startsWith("queue:")) engine.dispatcher.onQueueHint(hint.slice("queue:".length));
    };
  const dispatch = async (tenant: string, taskId: string, agentId = `agent of ${taskId}`) => {
    const request = { message: taskId };
    return (await engine.dispatcher.admitTask(newDispatch({ taskId, agentId, request }), { tenant, traceparent: null, tracestate: null }))
      .task;
  };
  return { ...engine, dispatch, load: () => engine.dispatcher.load("memory") };
}

test.each([
  ["by a hint", true],
  ["by its next count, if the hint is lost", false],
])("a task that a node without slots accepts starts on another node %s, and leaves the counts of both", async (_, hears) => {
  const database = await createDatabase();
  const runtimes = createHeldRuntimes();
  const front = await startNode(database, "front", runtimes, { slots: 0 });
  const runner = await startNode(database, "runner", runtimes, { slots: 1, hears });
  await front.dispatch("A", "a1");
  await front.dispatch("A", "a2");
  await vi.waitFor(() => expect(runtimes.started).toEqual(["runner a1"]));
  await vi.waitFor(() => expect([front.load().queued, runner.load().queued]).toEqual([1, 1]));
  runtimes.release("a1");
  await vi.waitFor(() => expect(runtimes.started).toEqual(["runner a1", "runner a2"]));
  await vi.waitFor(() => expect([front.load().queued, runner.load().queued]).toEqual([0, 0]));
});

test("a task whose slots are taken on its node starts on another node, unless its agent lives on the first one", async () => {
  const database = await createDatabase();
  const runtimes = createHeldRuntimes();
  const [one, two] = [await startNode(database, "n1", runtimes, { slots: 1 }), await startNode(database, "n2", runtimes, { slots: 1 })];
  await one.dispatch("A", "a1", "home");
  await vi.waitFor(() => expect(runtimes.started).toEqual(["n1 a1"]));
  await one.dispatch("A", "a2", "home");
  await one.dispatch("A", "a3", "free");
  await vi.waitFor(() => expect(runtimes.started).toEqual(["n1 a1", "n2 a3"]));
  runtimes.release("a3");
  await two.dispatch("A", "a4", "home");
  await vi.waitFor(() => expect(two.load().running).toBe(0));
  runtimes.release("a1");
  await vi.waitFor(() => expect(runtimes.started).toEqual(["n1 a1", "n2 a3", "n1 a2"]));
  runtimes.release("a2");
  await vi.waitFor(() => expect(runtimes.started).toEqual(["n1 a1", "n2 a3", "n1 a2", "n1 a4"]));
});

test("a task that is canceled on another node leaves the counts", async () => {
  const database = await createDatabase();
  const runtimes = createHeldRuntimes();
  const [one, two] = [await startNode(database, "n1", runtimes, { slots: 0 }), await startNode(database, "n2", runtimes, { slots: 0 })];
  await one.dispatch("A", "a1");
  await vi.waitFor(() => expect(two.load().queued).toBe(1));
  await two.dispatcher.cancel("A", "a1");
  expect(two.load().queued).toBe(0);
  await vi.waitFor(() => expect(one.load().queued).toBe(0));
});

test("tenants take turns over all nodes: one that floods a node does not delay one that dispatches at another node", async () => {
  const database = await createDatabase();
  const runtimes = createHeldRuntimes();
  const flooded = await startNode(database, "n1", runtimes, { slots: 0 });
  const other = await startNode(database, "n2", runtimes, { slots: 0 });
  await Promise.all(Array.from({ length: 200 }, (_, index) => flooded.dispatch("A", `a${index}`)));
  await Promise.all(Array.from({ length: 10 }, (_, index) => other.dispatch("B", `b${index}`)));
  await startNode(database, "n3", runtimes, { slots: 2 });
  for (let ended = 0; ended < 20; ended += 1) {
    await vi.waitFor(() => expect(runtimes.running()).toHaveLength(2));
    runtimes.release(runtimes.running()[0] as string);
  }
  const firsts = runtimes.started.slice(0, 20).filter((name) => name.startsWith("n3 b"));
  expect(firsts).toHaveLength(10);
});

test("the limit of queued tasks holds over all nodes", async () => {
  const database = await createDatabase();
  const runtimes = createHeldRuntimes();
  const quota = { queueLimit: 3 };
  const one = await startNode(database, "n1", runtimes, { slots: 0, quota });
  const two = await startNode(database, "n2", runtimes, { slots: 0, quota });
  for (const id of ["a1", "a2", "a3"]) await one.dispatch("A", id);
  await vi.waitFor(() => expect(two.load().queued).toBe(3));
  await expect(two.dispatch("A", "a4")).rejects.toMatchObject({ code: "queue_full", queue: "tenant" });
  await expect(one.dispatch("A", "a4")).rejects.toMatchObject({ code: "queue_full" });
  await two.dispatcher.cancel("A", "a1");
  await vi.waitFor(() => expect(one.load().queued).toBe(2));
  expect((await one.dispatch("A", "a4")).state).toBe("queued");
});

test("a task that waits for a limit on the running tasks of its tenant or agent over all nodes reports it on each node", async () => {
  const database = await createDatabase();
  const runtimes = createHeldRuntimes();
  const quota = { maxRunning: 2, agentMaxRunning: 1 };
  const front = await startNode(database, "front", runtimes, { slots: 0, quota });
  const runner = await startNode(database, "runner", runtimes, { slots: 3, quota });
  const anywhere = { node: null, needs: [], isSessionInUse: false, isPostponed: false, budgets: [] };
  const reasonsOf = (task: Task) => Promise.all([front, runner].map(({ dispatcher }) => dispatcher.findQueuedReason(task, anywhere)));
  await runner.dispatch("A", "a1", "agent");
  await vi.waitFor(() => expect(runtimes.started).toEqual(["runner a1"]));
  const ofAgent = await runner.dispatch("A", "a2", "agent");
  expect(await reasonsOf(ofAgent)).toEqual(["quota", "quota"]);
  await runner.dispatch("A", "a3");
  await vi.waitFor(() => expect(runtimes.started.at(-1)).toBe("runner a3"));
  const ofTenant = await runner.dispatch("A", "a4");
  expect(await reasonsOf(ofTenant)).toEqual(["quota", "quota"]);
  const ofOther = { ...ofTenant, tenant: "B" };
  expect((await reasonsOf(ofOther)).includes("quota")).toBe(false);
});

test("the limit of running tasks holds over all nodes, and the end of a task on one node starts the next one on another", async () => {
  const database = await createDatabase();
  const runtimes = createHeldRuntimes();
  const quota = { maxRunning: 2 };
  const one = await startNode(database, "n1", runtimes, { slots: 3, quota });
  const two = await startNode(database, "n2", runtimes, { slots: 3, quota });
  await one.dispatch("A", "a1");
  await two.dispatch("A", "a2");
  await vi.waitFor(() => expect(runtimes.running().toSorted()).toEqual(["a1", "a2"]));
  // The agent of the next task lives on the second node.
  await two.dispatch("A", "a3", "agent of a2");
  await two.dispatch("B", "b1");
  await vi.waitFor(() => expect(runtimes.running().toSorted()).toEqual(["a1", "a2", "b1"]));
  runtimes.release("a1");
  await vi.waitFor(() => expect(runtimes.started.at(-1)).toBe("n2 a3"));
  for (let index = 4; index < 20; index += 1) await (index % 2 === 0 ? one : two).dispatch("A", `a${index}`);
  runtimes.release("b1");
  while (runtimes.started.length < 20) {
    await vi.waitFor(() => expect(runtimes.running().length).toBeGreaterThan(0));
    expect(runtimes.running().length).toBeLessThanOrEqual(2);
    runtimes.release(runtimes.running()[0] as string);
  }
  expect(runtimes.mostRunning()).toBe(3);
});
