import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../../src/store/engines/postgres/connection.ts";
import { createReaderPool, type Reader } from "../../../src/store/engines/postgres/reader-pool.ts";
import type { NodeAdapter } from "../../../src/store/nodes/interface.ts";
import { createDeadNodeWrites } from "../../../src/store/nodes/postgres-dead-nodes.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Task } from "../../../src/task.ts";
import { newFinish, newTask } from "../../conformance/store/fixtures.ts";
import { createDatabase, type TestDatabase } from "../../support/postgres/create-database.ts";
import { describeNode, openNode } from "../../support/postgres/open-node.ts";
import { hold } from "../../support/postgres/open-writes.ts";

type Node = Awaited<ReturnType<typeof open>>;

async function open(database: TestDatabase, node: string) {
  const opened = await openNode({ url: database.urlAt(database.port), node });
  onTestFinished(() => opened.store.close());
  return opened;
}

/** Opens two nodes on one database. */
async function openTwo() {
  const database = await createDatabase();
  return { database, a: await open(database, "a"), b: await open(database, "b") };
}

const accept = async ({ store }: Node, taskId: string, { starts = true, parent = null as Task | null } = {}): Promise<Task> =>
  (await store.insertTaskIfAbsent(newTask({ taskId, agentId: taskId, parent }), { starts })).task;

const claim = ({ store }: Node) =>
  store.startNextTaskIfQueued({ provider: newTask().provider, tenant: "default", kind: "dispatched", exceptAgents: [] });

const endLease = ({ query }: TestDatabase, id: string) => query("UPDATE node SET lease_until = 1 WHERE id = $1", [id]);
const idsOf = async (tasks: ReturnType<Store["listInterruptedTasks"]>) => (await tasks).map(({ task }) => task.taskId);

const adapter: NodeAdapter = { provider: "command", health: "healthy", capabilities: null, running: 1, maxConcurrent: 4, checkedAt: 5 };

test("a node is listed as it registered itself, with what it reported last", async () => {
  const { a, b } = await openTwo();
  await a.cluster.join(describeNode("a", { url: "http://a", tags: ["gpu", "eu"], files: "shared", settingsDigest: "d" }));
  const before = Date.now();
  const now = await a.cluster.renewLease({
    leaseMs: 60_000,
    skewMs: 7.4,
    settingsDigest: "d",
    adapters: [adapter, { ...adapter, provider: "other", checkedAt: null }],
  });
  expect(Number(now)).toBeGreaterThanOrEqual(before - 1);
  await a.cluster.renewLease({ leaseMs: 60_000, skewMs: 7.4, settingsDigest: "changed", adapters: [{ ...adapter, running: 2 }] });
  await b.cluster.startDraining();
  const [first, second] = await b.cluster.listNodes();
  expect(first).toMatchObject({
    id: "a",
    incarnation: "a-1",
    name: "a",
    url: "http://a",
    tags: ["gpu", "eu"],
    files: "shared",
    settingsDigest: "changed",
  });
  expect(first).toMatchObject({ state: "live", isAlive: true, skewMs: 7, adapters: [{ ...adapter, running: 2 }], agents: 0 });
  expect(first?.leaseUntil).toBeGreaterThanOrEqual(Number(now) + 59_000);
  expect(second).toMatchObject({ name: "b", state: "draining", isAlive: true, adapters: [] });
});

test("a node whose lease is over is declared dead by another one, once, and never by itself", async () => {
  const { database, a, b } = await openTwo();
  expect(await b.cluster.takeExpiredNode()).toBeNull();
  await endLease(database, "a");
  expect(await a.cluster.takeExpiredNode()).toBeNull();
  expect(await b.cluster.takeExpiredNode()).toEqual({ id: "a", name: "a", files: "local" });
  expect(await b.cluster.takeExpiredNode()).toBeNull();
  expect((await b.cluster.listNodes())[0]).toMatchObject({ name: "a", state: "gone", isAlive: false });
  expect(await a.cluster.renewLease({ leaseMs: 60_000, skewMs: 0, settingsDigest: "d", adapters: [] })).toBeNull();
});

test("a statement that the network has delayed declares no node dead", async () => {
  const { database } = await openTwo();
  await endLease(database, "a");
  const reader = createReaderPool({ connect: () => connect({ url: database.urlAt(database.port) }), onFault() {} });
  onTestFinished(() => reader.close());
  let delayMs = 2_001;
  const delayed: Reader = {
    ...reader,
    // The clock was read this long ago, when the next statement arrives.
    async get(statement, ...values) {
      const row = await reader.get(statement, ...values);
      return row !== undefined && "now" in row ? { now: Number(row["now"]) - delayMs } : row;
    },
  };
  const { takeExpiredNode } = createDeadNodeWrites(delayed, "b");
  expect(await takeExpiredNode()).toBeNull();
  delayMs = 0;
  expect(await takeExpiredNode()).toMatchObject({ id: "a" });
});

test("a dead node with running tasks is taken again if the node that took it does not release it", async () => {
  const { database, a, b } = await openTwo();
  const c = await open(database, "c");
  const task = await accept(a, "task");
  await endLease(database, "a");
  expect(await b.cluster.takeExpiredNode()).toMatchObject({ id: "a" });
  expect(await c.cluster.takeExpiredNode()).toBeNull();
  await database.query("UPDATE node SET taken_until = 1");
  expect(await c.cluster.takeExpiredNode()).toMatchObject({ id: "a" });
  await database.query("UPDATE node SET taken_until = 1");
  await c.store.finishTaskIfRunning(task, newFinish());
  expect(await b.cluster.takeExpiredNode()).toBeNull();
});

test("a node that was declared dead starts no task, and another one starts what it accepts", async () => {
  const { database, a, b } = await openTwo();
  const parent = await accept(a, "parent");
  await endLease(database, "a");
  await b.cluster.takeExpiredNode();
  expect(await accept(a, "new")).toMatchObject({ state: "queued" });
  await expect(accept(a, "child", { starts: false, parent })).rejects.toMatchObject({ code: "storage_unavailable" });
  expect(await claim(a)).toBeNull();
  expect(await claim(b)).toMatchObject({ taskId: "new", state: "running" });
});

test("a process whose node was started again starts no task", async () => {
  const { database, a } = await openTwo();
  await accept(a, "task", { starts: false });
  await database.query("UPDATE node SET incarnation = 'later' WHERE id = 'a'");
  expect(await claim(a)).toBeNull();
  expect(await a.cluster.renewLease({ leaseMs: 60_000, skewMs: 0, settingsDigest: "d", adapters: [] })).toBeNull();
  await a.cluster.leave();
  expect(await database.query("SELECT state FROM node WHERE id = 'a'")).toEqual([{ state: "live" }]);
});

test("a batch that starts tasks keeps its node alive until it ends, and does not delay the renewal of the lease", async () => {
  const { database, a, b } = await openTwo();
  // The end of the batch waits for this lock, which numbers events.
  const holder = await hold(database, "SELECT pg_advisory_xact_lock(4713002)");
  const accepted = accept(a, "task");
  const isWaiting = async () =>
    database.query("SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'");
  await expect.poll(isWaiting).toHaveLength(1);
  expect(await a.cluster.renewLease({ leaseMs: 60_000, skewMs: 0, settingsDigest: "d", adapters: [] })).toBeGreaterThan(0);
  await endLease(database, "a");
  expect(await b.cluster.takeExpiredNode()).toBeNull();
  await holder.commit();
  expect(await accepted).toMatchObject({ state: "running" });
  expect(await b.cluster.takeExpiredNode()).toMatchObject({ id: "a" });
  expect(await idsOf(b.store.listInterruptedTasks("a"))).toEqual(["task"]);
});

test("the interrupted tasks of a node are its running tasks and their queued children, children first", async () => {
  const { database, a, b } = await openTwo();
  const parent = await accept(a, "parent");
  await accept(a, "running-child", { parent });
  await accept(a, "queued-child", { starts: false, parent });
  await accept(a, "queued", { starts: false });
  await accept(b, "other");
  expect(await idsOf(a.store.listInterruptedTasks())).toEqual(["queued-child", "running-child", "parent"]);
  expect(await idsOf(b.store.listInterruptedTasks())).toEqual(["other"]);
  expect(await idsOf(b.store.listInterruptedTasks("a"))).toEqual([]);
  await endLease(database, "a");
  await b.cluster.takeExpiredNode();
  expect(await idsOf(b.store.listInterruptedTasks("a"))).toEqual(["queued-child", "running-child", "parent"]);
  await a.cluster.join(describeNode("a"));
  expect(await idsOf(b.store.listInterruptedTasks("a"))).toEqual([]);
});

test.each([
  ["local", ["a"], 2],
  ["shared", [], 2],
  ["ephemeral", [], 1],
] as const)(
  "a dead node with %s files is released: its agents stay if their files are local, and their sessions end if the files are lost",
  async (files, kept, tokens) => {
    const { database, a, b } = await openTwo();
    await a.cluster.join(describeNode("a", { files }));
    await accept(a, "queued", { starts: false });
    await database.query("INSERT INTO place (tenant, agent_id, node, since) VALUES ('default', 'agent', 'a', 0)");
    await database.query("INSERT INTO callback_origin (origin, node, taken_at) VALUES ('http://x', 'a', 0)");
    await database.query("UPDATE task SET node = 'a'");
    await database.query(`INSERT INTO resume_token (tenant, provider, agent_id, token, used_at)
    VALUES ('default', 'command', 'agent', 't', 0), ('default', 'command', 'agent on another node', 't', 0)`);
    const nodesOf = async (table: string) =>
      (await database.query<{ node: string | null }>(`SELECT node FROM ${table}`)).map(({ node }) => node);
    await b.cluster.releaseNode("a");
    expect([await nodesOf("place"), await nodesOf("callback_origin"), await nodesOf("task")]).toEqual([["a"], ["a"], ["a"]]);
    await endLease(database, "a");
    expect(await b.cluster.takeExpiredNode()).toMatchObject({ files });
    await b.cluster.releaseNode("a");
    expect([await nodesOf("place"), await nodesOf("callback_origin"), await nodesOf("task")]).toEqual([
      kept,
      [],
      kept.length === 0 ? [null] : kept,
    ]);
    expect(await database.query("SELECT agent_id FROM resume_token")).toHaveLength(tokens);
  },
);

test("a dead node is forgotten with its agents when its tasks have ended, and a live one is not", async () => {
  const { database, a, b } = await openTwo();
  const task = await accept(a, "task");
  await accept(a, "queued", { starts: false });
  await database.query("UPDATE task SET node = 'a'");
  expect([await b.cluster.forgetNode("a"), await b.cluster.forgetNode("absent")]).toEqual(["alive", "absent"]);
  await endLease(database, "a");
  await b.cluster.takeExpiredNode();
  expect(await b.cluster.forgetNode("a")).toBe("alive");
  await b.store.finishTaskIfRunning(task, newFinish());
  expect(await b.cluster.forgetNode("a")).toBe("forgotten");
  expect(await database.query("SELECT id FROM node")).toEqual([{ id: "b" }]);
  expect(await database.query("SELECT * FROM place")).toEqual([]);
  expect(await database.query("SELECT node FROM task WHERE id = 'queued'")).toEqual([{ node: null }]);
});

test("nodes that have been dead for a day are forgotten, except those with agents or running tasks", async () => {
  const { database, a, b } = await openTwo();
  const nodes = ["recent", "old", "with-agents", "with-tasks", "being-released"];
  for (const id of nodes) await open(database, id);
  await b.store.finishTaskIfRunning(await accept(b, "task"), newFinish());
  await database.query("UPDATE task SET node = 'old'");
  await database.query("INSERT INTO place (tenant, agent_id, node, since) VALUES ('default', 'agent', 'with-agents', 0)");
  await accept(a, "running");
  await database.query("UPDATE task SET node = 'with-tasks' WHERE id = 'running'");
  await database.query("UPDATE node SET state = 'gone' WHERE id = ANY ($1)", [nodes]);
  await database.query("UPDATE node SET lease_until = lease_until - 90000000 WHERE id <> 'recent'");
  await database.query("UPDATE node SET taken_until = lease_until + 180000000 WHERE id = 'being-released'");
  expect(await b.cluster.forgetUnusedNodes()).toBe(1);
  expect(await b.cluster.forgetUnusedNodes()).toBe(0);
  expect((await b.cluster.listNodes()).map(({ id }) => id)).toEqual(["a", "b", "being-released", "recent", "with-agents", "with-tasks"]);
  expect(await b.store.findTask("default", "task")).toMatchObject({ state: "completed", node: "old" });
});
