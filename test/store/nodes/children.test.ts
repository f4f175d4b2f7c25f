import { Client } from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { createLoneView } from "../../../src/cluster/lone-cluster.ts";
import { createSharedQueue } from "../../../src/dispatch/sharing/shared-queue.ts";
import { createInMemoryAdapter, type Run } from "../../adapters/in-memory-adapter.ts";
import { newDispatch, startEngine } from "../../dispatch/engine.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/create-database.ts";
import { openNode } from "../../support/postgres/open-node.ts";

/** Starts the dispatcher of a node whose tasks of `parent` start a child on `memory`, which has one slot. */
async function startNode(database: TestDatabase, node: string) {
  const { store, cluster } = await openNode({ url: database.urlAt(database.port), node });
  const started: string[] = [];
  const release = Promise.withResolvers<void>();
  const run: Run = async ({ message }) => {
    started.push(message);
    if (message === "blocker") await release.promise;
    return { output: message };
  };
  const parent = createInMemoryAdapter({
    provider: "parent",
    run: async ({ taskId, message }) => {
      const child = await runChild({ parentTaskId: taskId, provider: "memory", message: `child of ${message}` });
      return { output: child.errorCode ?? child.output ?? "" };
    },
  });
  const engine = await startEngine([parent, createInMemoryAdapter({ run })], {
    store,
    shareQueue: createSharedQueue({ cluster, graceMs: 0 }),
    view: createLoneView({ id: node, name: node, tags: [], files: "local" }),
    maxConcurrent: (provider) => (provider === "memory" ? 1 : 4),
  });
  const { runChild } = engine.dispatcher;
  onTestFinished(async () => {
    release.resolve();
    await engine.dispatcher.drain();
  });
  const dispatch = async (provider: string, message: string) => {
    const request = { message };
    return (await engine.dispatcher.admitTask(newDispatch({ taskId: message, agentId: message, provider, request }), caller)).task;
  };
  return { ...engine, store, dispatch, started, release: release.resolve };
}

const caller = { tenant: "default", traceparent: null, tracestate: null };

/** Occupies the slot of the first node, so that the child of its task waits. */
async function queueChild() {
  const database = await createDatabase();
  const [one, two] = [await startNode(database, "n1"), await startNode(database, "n2")];
  await one.dispatch("memory", "blocker");
  await vi.waitFor(() => expect(one.started).toEqual(["blocker"]));
  const parent = await one.dispatch("parent", "first");
  const [child] = await vi.waitFor(async () => {
    const children = await one.store.listUnfinishedChildren(parent.seq);
    expect(children).toMatchObject([{ state: "queued", node: "n1" }]);
    return children;
  });
  return { database, one, two, parent, child: child as NonNullable<typeof child> };
}

test("a queued child that is canceled on another node leaves the counts of its node", async () => {
  const { one, two, child } = await queueChild();
  expect(one.dispatcher.load("memory")).toMatchObject({ running: 1, queued: 1 });
  expect(await two.dispatcher.cancel("default", child.taskId)).toMatchObject({ changed: true });
  await vi.waitFor(() => expect(one.dispatcher.load("memory")).toMatchObject({ running: 1, queued: 0 }), { timeout: 15_000 });
  await vi.waitFor(async () => expect((await one.store.findTask("default", "first"))?.result?.output).toBe("cancelled"));
});

test("a child that another node has locked when a slot becomes free starts soon after", async () => {
  const { database, one, child } = await queueChild();
  const holder = new Client(database.urlAt(database.port));
  await holder.connect();
  await holder.query("BEGIN");
  await holder.query("SELECT 1 FROM task WHERE seq = $1 FOR NO KEY UPDATE", [child.seq]);
  one.release();
  await vi.waitFor(() => expect(one.dispatcher.load("memory").running).toBe(0));
  expect(one.started).toEqual(["blocker"]);
  await holder.end();
  await vi.waitFor(() => expect(one.started).toEqual(["blocker", "child of first"]), { timeout: 15_000 });
});
