import { expect, onTestFinished, test, vi } from "vitest";
import { createLoneView } from "../../../src/cluster/lone-cluster.ts";
import { createSharedQueue } from "../../../src/dispatch/sharing/shared-queue.ts";
import { connect } from "../../../src/store/engines/postgres/connection.ts";
import { createReaderPool } from "../../../src/store/engines/postgres/reader-pool.ts";
import { createRunningReads } from "../../../src/store/nodes/postgres.ts";
import { taskHandle } from "../../../src/task.ts";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { caller, endOf, newDispatch, startEngine } from "../../dispatch/engine.ts";
import { createDatabase } from "../../support/postgres/create-database.ts";
import { openNode } from "../../support/postgres/open-node.ts";
import { accept, openWrites } from "../../support/postgres/open-writes.ts";

/** Starts a node with one slot, which holds each task until it is released. It looks for lost tasks all the time. */
async function startNode() {
  const database = await createDatabase();
  const { store, cluster } = await openNode({ url: database.urlAt(database.port), node: "n1" });
  const held = new Map<string, () => void>();
  let searches = 0;
  const adapter = createInMemoryAdapter({
    async run({ taskId }) {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.set(taskId, resolve);
      await promise;
      return {};
    },
  });
  const engine = await startEngine([adapter], {
    store,
    shareQueue: createSharedQueue({
      cluster: {
        ...cluster,
        listOwnRunningTasks() {
          searches += 1;
          return cluster.listOwnRunningTasks();
        },
      },
      graceMs: 0,
      lostTaskSearchMs: 20,
    }),
    view: createLoneView({ id: "n1", name: "n1", tags: [], files: "local" }),
    maxConcurrent: () => 1,
  });
  onTestFinished(async () => {
    const drained = engine.dispatcher.drain();
    for (const release of held.values()) release();
    await drained;
  });
  const dispatch = async (taskId: string, onInterrupt: "fail" | "retry" = "fail") =>
    (await engine.dispatcher.admitTask(newDispatch({ taskId, agentId: taskId, request: { onInterrupt } }), caller)).task;
  /** Stores a queued task as running here, as a claim does whose answer is lost. */
  const lose = (taskId: string) => database.query("UPDATE task SET state = 'running', node = 'n1', started_at = 1 WHERE id = $1", [taskId]);
  const stateOf = async (taskId: string) => (await store.findTask("default", taskId))?.state;
  async function searchTwice(): Promise<void> {
    const before = searches;
    await vi.waitFor(() => expect(searches).toBeGreaterThan(before + 3));
  }
  const readLost = vi.spyOn(store, "listInterruptedTasks");
  return {
    ...engine,
    readLost,
    database,
    dispatch,
    lose,
    stateOf,
    searchTwice,
    held,
    release: (taskId: string) => held.get(taskHandle({ tenant: "default", taskId }))?.(),
  };
}

test("a task that is stored as running on a live node without a run ends, or starts again if its dispatch permits it", async () => {
  const node = await startNode();
  await node.dispatch("running");
  await vi.waitFor(() => expect(node.held.size).toBe(1));
  const lost = await node.dispatch("lost");
  const again = await node.dispatch("again", "retry");
  const canceled = await node.dispatch("canceled", "retry");
  await node.database.query("UPDATE task SET stop_code = 'cancelled', stop_reason = 'Stop.' WHERE id = 'canceled'");
  for (const taskId of ["lost", "again", "canceled"]) await node.lose(taskId);
  expect(await endOf(node, lost)).toMatchObject({
    state: "failed",
    result: { errorCode: "bridge_restarted", error: "The node that was to run the task has lost it." },
  });
  expect(await endOf(node, canceled)).toMatchObject({ state: "cancelled" });
  await vi.waitFor(async () => expect(await node.stateOf("again")).toBe("queued"));
  await node.searchTwice();
  expect(await node.stateOf("running")).toBe("running");
  node.release("running");
  await vi.waitFor(() => expect(node.held.size).toBe(2));
  await node.searchTwice();
  node.release("again");
  expect(await endOf(node, again)).toMatchObject({ state: "completed", restarts: 1 });
  expect(node.eventsOf("again").map(({ type }) => type)).toEqual(["execution.progress", "execution.completed"]);
});

test("a task whose start has no answer yet is not lost", async () => {
  const node = await startNode();
  const { startNextTaskIfQueued } = node.store;
  const answer = Promise.withResolvers<void>();
  node.store.startNextTaskIfQueued = async (filter) => {
    const task = await startNextTaskIfQueued(filter);
    await answer.promise;
    return task;
  };
  await node.dispatch("first");
  await vi.waitFor(() => expect(node.held.size).toBe(1));
  const task = await node.dispatch("late");
  node.release("first");
  await vi.waitFor(async () => expect(await node.stateOf("late")).toBe("running"));
  await vi.waitFor(() => expect(node.readLost).toHaveBeenCalled());
  answer.resolve();
  await vi.waitFor(() => expect(node.held.size).toBe(2));
  node.release("late");
  expect(await endOf(node, task)).toMatchObject({ state: "completed" });
});

test("a process that other nodes have declared dead, or that was replaced, sees no running tasks of its node", async () => {
  const { database, store } = await openWrites();
  const { seq } = await accept(store);
  const reader = createReaderPool({ connect: () => connect({ url: database.urlAt(database.port) }), onFault() {} });
  onTestFinished(() => reader.close());
  const list = (incarnation: string) => createRunningReads(reader, { id: "n1", incarnation }).listOwnRunningTasks();
  expect(await list("1")).toEqual([seq]);
  expect(await list("replaced")).toEqual([]);
  await database.query("UPDATE node SET state = 'gone'");
  expect(await list("1")).toEqual([]);
});
