import { describe, expect, onTestFinished, test } from "vitest";
import type { ClusterStore, Hint } from "../../../src/store/nodes/interface.ts";
import type { DueCallback } from "../../../src/store/posts/interface.ts";
import type { Store } from "../../../src/store/store.ts";
import { newFinish, newTask } from "../../conformance/store/fixtures.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/create-database.ts";
import { openNode } from "../../support/postgres/open-node.ts";

interface Node {
  store: Store;
  cluster: ClusterStore;
  /** Callbacks that the store has handed over. */
  handedOver: DueCallback[];
  hints: Hint[];
}

async function join(database: TestDatabase, node: string, options: { delivers?: boolean } = {}): Promise<Node> {
  const hints: Hint[] = [];
  const handedOver: DueCallback[] = [];
  const onHint = (hint: Hint) => hint.startsWith("callbacks:") && hints.push(hint);
  const before = await countListeners(database);
  const { store, cluster } = await openNode({ url: database.urlAt(database.port), node, ...options, onHint });
  onTestFinished(() => store.close());
  // Until a node listens, it neither gets nor sends hints.
  await expect.poll(() => countListeners(database)).toBeGreaterThan(before);
  store.onCallback((callback) => handedOver.push(callback));
  return { store, cluster, handedOver, hints };
}

/** Counts the sessions that exchange hints, by their last statement. */
async function countListeners({ query }: TestDatabase): Promise<number> {
  const rows = await query(
    `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND query ~ '^LISTEN |pg_listening_channels|^SELECT pg_notify'`,
  );
  return rows.length;
}

/** Ends a task with a callback to the origin. */
async function end({ store }: Node, taskId: string, origin = "http://receiver.test"): Promise<void> {
  const { task } = await store.insertTaskIfAbsent(newTask({ taskId, agentId: taskId }), { starts: true });
  expect(await store.finishTaskIfRunning(task, newFinish({}, `${origin}/path`))).not.toBeNull();
}

const queue = (origin = "http://receiver.test") => ({ tenant: "default", receiver: origin });
const idsOf = (callbacks: readonly DueCallback[]) => callbacks.map(({ task }) => task.taskId);
const ownersIn = (database: TestDatabase) => database.query("SELECT origin, node FROM callback_origin ORDER BY origin");

describe("the origin of callbacks", () => {
  test("the origin of callbacks is free after its node was killed and has started again without posting callbacks", async () => {
    const database = await createDatabase();
    const [first, second] = [await join(database, "n1"), await join(database, "n2")];
    await end(first, "a");
    await first.store.close();
    await expect.poll(() => countListeners(database)).toBe(1);
    await join(database, "n1", { delivers: false });
    expect(await second.store.listDueCallbackQueues()).toEqual([queue()]);
    expect(idsOf(await second.store.listDueCallbacks(queue(), 10))).toEqual(["a"]);
  });

  test("the origin of callbacks belongs to the node that has stored the first callback to it, which alone posts the callbacks of all nodes", async () => {
    const database = await createDatabase();
    const [first, second] = [await join(database, "n1"), await join(database, "n2")];
    await end(first, "a");
    await end(second, "b");
    expect([idsOf(first.handedOver), idsOf(second.handedOver)]).toEqual([["a"], []]);
    await expect.poll(() => first.hints).toEqual(["callbacks:n1"]);
    expect(second.hints).toEqual([]);
    expect([await first.store.listDueCallbackQueues(), await second.store.listDueCallbackQueues()]).toEqual([[queue()], []]);
    expect(idsOf(await first.store.listDueCallbacks(queue(), 10))).toEqual(["a", "b"]);
    expect(await second.store.listDueCallbacks(queue(), 10)).toEqual([]);
    expect([await first.store.nextCallbackInMs(), await second.store.nextCallbackInMs()]).toEqual([null, null]);
  });

  test("the origin of callbacks is taken by one of several nodes that store callbacks to it at the same time", async () => {
    const database = await createDatabase();
    const nodes = await Promise.all(["n1", "n2", "n3"].map((node) => join(database, node)));
    const origins = Array.from({ length: 20 }, (_, index) => `http://receiver-${index}.test`);
    await Promise.all(nodes.flatMap((node, at) => origins.map((origin, index) => end(node, `${at}-${index}`, origin))));
    const owned = await Promise.all(nodes.map(({ store }) => store.listDueCallbackQueues()));
    expect(
      owned
        .flat()
        .map(({ receiver: origin }) => origin)
        .toSorted(),
    ).toEqual(origins.toSorted());
  });

  test.each([
    ["its owner is gone", "UPDATE node SET state = 'gone' WHERE id = 'n1'"],
    ["its owner is forgotten", "DELETE FROM node WHERE id = 'n1'"],
    ["its owner was released", "DELETE FROM callback_origin"],
  ])("the origin of callbacks is taken by another node when %s, with the callbacks that wait", async (_, change) => {
    const database = await createDatabase();
    const [first, second] = [await join(database, "n1"), await join(database, "n2")];
    await end(first, "a");
    expect(await second.store.listDueCallbackQueues()).toEqual([]);
    await database.query(change);
    expect(await second.store.listDueCallbackQueues()).toEqual([queue()]);
    expect(idsOf(await second.store.listDueCallbacks(queue(), 10))).toEqual(["a"]);
    expect(await first.store.listDueCallbacks(queue(), 10)).toEqual([]);
    await end(second, "b");
    expect(idsOf(second.handedOver)).toEqual(["b"]);
    expect(await ownersIn(database)).toEqual([{ origin: "http://receiver.test", node: "n2" }]);
  });

  test("the origin of callbacks stays with an owner whose lease is over until that node is declared dead", async () => {
    const database = await createDatabase();
    const [first, second] = [await join(database, "n1"), await join(database, "n2")];
    await end(first, "a");
    await database.query("UPDATE node SET lease_until = 1 WHERE id = 'n1'");
    expect(await second.store.listDueCallbackQueues()).toEqual([]);
    await end(second, "b");
    expect(second.handedOver).toEqual([]);
    expect(idsOf(await first.store.listDueCallbacks(queue(), 10))).toEqual(["a", "b"]);
    expect((await second.cluster.takeExpiredNode())?.id).toBe("n1");
    expect(await second.store.listDueCallbackQueues()).toEqual([queue()]);
  });

  test("the origin of callbacks moves with the end of a task, when its owner is gone", async () => {
    const database = await createDatabase();
    const [first, second] = [await join(database, "n1"), await join(database, "n2")];
    await end(first, "a");
    await database.query("UPDATE node SET state = 'gone' WHERE id = 'n1'");
    await end(second, "b");
    expect(idsOf(second.handedOver)).toEqual(["b"]);
  });

  test("the origin of callbacks stays with a node that drains, until it leaves", async () => {
    const database = await createDatabase();
    const [first, second] = [await join(database, "n1"), await join(database, "n2")];
    await end(first, "a");
    await database.query("UPDATE node SET state = 'draining' WHERE id = 'n1'");
    expect(await second.store.listDueCallbackQueues()).toEqual([]);
    await first.cluster.leave();
    await expect.poll(() => second.hints).toEqual(["callbacks:any"]);
    expect(await second.store.listDueCallbackQueues()).toEqual([queue()]);
  });

  test("the origin of callbacks is never taken by a node that posts no callbacks", async () => {
    const database = await createDatabase();
    const silent = await join(database, "n1", { delivers: false });
    const posting = await join(database, "n2");
    await end(silent, "a");
    expect([silent.handedOver, await silent.store.listDueCallbackQueues(), await silent.store.nextCallbackInMs()]).toEqual([[], [], null]);
    expect(await ownersIn(database)).toEqual([]);
    await expect.poll(() => posting.hints).toEqual(["callbacks:any"]);
    expect(await posting.store.listDueCallbackQueues()).toEqual([queue()]);
    await end(silent, "b");
    await expect.poll(() => posting.hints).toEqual(["callbacks:any", "callbacks:n2"]);
  });

  test("the node of an origin learns of a redelivery through any node", async () => {
    const database = await createDatabase();
    const [first, second] = [await join(database, "n1"), await join(database, "n2")];
    await end(first, "a");
    const [callback] = first.handedOver;
    if (callback === undefined) throw new Error("No callback was handed over.");
    const dead = { state: "dead", nextInMs: null, lastStatus: 500, lastError: null, event: null } as const;
    await first.store.settleCallbackIfPending(callback, dead);
    expect(await second.store.redeliverCallbackIfDead(callback.task.seq)).toMatchObject({ state: "pending" });
    await expect.poll(() => first.hints).toEqual(["callbacks:n1"]);
    expect(await second.store.listDueCallbackQueues()).toEqual([]);
    expect(idsOf(await first.store.listDueCallbacks(queue(), 10))).toEqual(["a"]);
  });
});
