import { expect, onTestFinished, test } from "vitest";
import type { StoredEvent } from "../../../src/store/events/interface.ts";
import type { Hint } from "../../../src/store/nodes/interface.ts";
import type { PostgresStoreOptions } from "../../../src/store/open-postgres.ts";
import type { Store } from "../../../src/store/store.ts";
import type { StopRequest, Task, TaskIdentity } from "../../../src/task.ts";
import { newFinish, newTask } from "../../conformance/store/fixtures.ts";
import { createDatabase } from "../../support/postgres/create-database.ts";
import { openNode } from "../../support/postgres/open-node.ts";
import { hold } from "../../support/postgres/open-writes.ts";
import { startProxy } from "../../support/postgres/proxy.ts";

/** The store of one node, and what it has reported. */
interface Node {
  store: Store;
  published: StoredEvent[];
  hints: Hint[];
  stops: (readonly [TaskIdentity, StopRequest])[];
}

async function join(node: string, options: Omit<PostgresStoreOptions, "node">): Promise<Node> {
  const hints: Hint[] = [];
  const { store } = await openNode({ node, ...options, onHint: (hint) => hints.push(hint) });
  onTestFinished(() => store.close());
  const published: StoredEvent[] = [];
  const stops: Node["stops"] = [];
  store.onEvents((events) => published.push(...events));
  store.onStopRequests((...stop) => stops.push(stop));
  return { store, published, hints, stops };
}

const start = async ({ store }: Node, taskId: string): Promise<Task> =>
  (await store.insertTaskIfAbsent(newTask({ taskId, agentId: taskId }), { starts: true })).task;

const append = ({ store }: Node, task: Task, mark: string, count = 1): Promise<boolean> =>
  store.appendEventsIfRunning(
    task,
    Array.from({ length: count }, () => ({ type: "execution.progress", data: JSON.stringify({ mark }) })),
  );

const numbersOf = ({ published }: Node): number[] => published.map(({ number }) => number);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** The task of an own event is the object that the caller passed. */
const withoutTask = ({ task: { seq, taskId }, ...event }: StoredEvent) => ({ ...event, seq, taskId });

test("every node publishes the events of all nodes once, in number order and unchanged", async () => {
  const { urlAt, port } = await createDatabase();
  const nodes = await Promise.all(["a", "b", "c"].map((node) => join(node, { url: urlAt(port) })));
  const tasks = await Promise.all(nodes.map((node, index) => start(node, `task-${index}`)));
  const rounds = upTo(40).map(async (round) => {
    for (const [index, node] of nodes.entries()) await append(node, tasks[index] as Task, `${index}`, (round % 3) + 1);
  });
  await Promise.all(rounds);
  const last = await (nodes[0] as Node).store.catchUp();
  for (const node of nodes) await expect.poll(() => node.store.lastEventNumber()).toBe(last);
  for (const node of nodes) expect(numbersOf(node)).toEqual(upTo(last));
  const [first, ...others] = nodes as [Node, ...Node[]];
  for (const other of others) expect(other.published.map(withoutTask)).toEqual(first.published.map(withoutTask));
});

test("after a failover that has lost commits, the nodes begin a new epoch and publish the events that have the same numbers", async () => {
  const database = await createDatabase();
  const proxy = await startProxy(database.port);
  const [a, b] = [await join("a", { url: database.urlAt(proxy.port) }), await join("b", { url: database.urlAt(proxy.port) })];
  const task = await start(a, "task");
  await append(a, task, "kept", 2);
  await append(a, task, "lost", 2);
  for (const { store } of [a, b]) await expect.poll(() => store.lastEventNumber()).toBe(5);
  const { epoch } = a.store;
  expect(b.store.epoch).toBe(epoch);

  // A replica that lacks the last commit has become the server.
  proxy.cut();
  await database.query("DELETE FROM event WHERE number > 3");
  await database.query("UPDATE meta SET value = '00000000' WHERE name = 'timeline'");
  proxy.pass();
  expect(await append(b, task, "new", 3)).toBe(true);

  for (const node of [a, b]) {
    await expect.poll(() => numbersOf(node)).toEqual([1, 2, 3, 4, 5, 4, 5, 6]);
    expect(node.published.slice(5).map(({ data }) => JSON.parse(data).mark)).toEqual(["new", "new", "new"]);
    expect(node.store.epoch).not.toBe(epoch);
  }
  expect(a.store.epoch).toBe(b.store.epoch);
});

test("a page of the log contains only events that this node has published", async () => {
  const { urlAt, port } = await createDatabase();
  const proxy = await startProxy(port);
  const writing = await join("a", { url: urlAt(port) });
  const reading = await join("b", { url: urlAt(port), listenUrl: urlAt(proxy.port) });
  proxy.cut();
  const task = await start(writing, "task");
  let isWriting = true;
  const writes = (async () => {
    for (const round of upTo(100)) await append(writing, task, `${round}`);
    isWriting = false;
  })();
  let seen = 0;
  const check = (page: readonly StoredEvent[]): void => {
    const published = new Set(numbersOf(reading));
    for (const { number } of page) expect(published).toContain(number);
    seen += page.length;
  };
  while (isWriting || reading.published.length < 101) {
    await Promise.all([
      reading.store.catchUp(),
      reading.store.readEvents(0, { tenant: "default" }).then(({ events }) => check(events)),
      reading.store.readTaskEvents(task.seq, 0, 200, "all").then(check),
    ]);
  }
  await writes;
  expect([seen > 0, numbersOf(reading)]).toEqual([true, upTo(101)]);
});

test("a node that receives no hints finds events by polling, and at once when it catches up", async () => {
  const { urlAt, port } = await createDatabase();
  const proxy = await startProxy(port);
  const writing = await join("a", { url: urlAt(port) });
  const deaf = await join("b", { url: urlAt(port), listenUrl: urlAt(proxy.port) });
  proxy.cut();
  const task = await start(writing, "task");
  await expect.poll(() => numbersOf(deaf)).toEqual([1]);
  await append(writing, task, "x", 600);
  expect(await deaf.store.catchUp()).toBe(601);
  expect(numbersOf(deaf)).toEqual(upTo(601));
});

test("events whose commit got no answer are published once", async () => {
  const { urlAt, port } = await createDatabase();
  const proxy = await startProxy(port);
  const node = await join("a", { url: urlAt(proxy.port) });
  const task = await start(node, "task");
  let cuts = 0;
  proxy.cutCommitsWhile(() => {
    cuts += 1;
    return cuts % 2 === 0 ? "reply" : null;
  });
  for (const mark of upTo(10)) await append(node, task, `${mark}`);
  proxy.pass();
  await expect.poll(() => numbersOf(node)).toEqual(upTo(11));
  expect(proxy.cutCommits).toBeGreaterThan(2);
});

test("a deleted end of the log does not stop the tail, and its numbers are not used again", async () => {
  const { urlAt, port } = await createDatabase();
  const [a, b] = [await join("a", { url: urlAt(port) }), await join("b", { url: urlAt(port) })];
  const task = await start(a, "task");
  await a.store.finishTaskIfRunning(task, newFinish());
  expect(await a.store.deleteTaskIfEnded("default", "task")).toBe("deleted");
  expect(await b.store.catchUp()).toBe(2);
  const late = await join("c", { url: urlAt(port) });
  expect(late.store.lastEventNumber()).toBe(2);
  await start(b, "next");
  expect(await late.store.catchUp()).toBe(3);
  expect(numbersOf(late)).toEqual([3]);
});

test("hints report a queued task and a stop request to the other nodes, after they are stored", async () => {
  const { urlAt, port } = await createDatabase();
  const [a, b] = [await join("a", { url: urlAt(port) }), await join("b", { url: urlAt(port) })];
  let queued = 0;
  // A hint is lost as long as one of the nodes does not listen yet.
  await expect
    .poll(async () => {
      queued += 1;
      await a.store.insertTaskIfAbsent(newTask({ taskId: `queued-${queued}` }));
      return b.hints;
    })
    .toContain("queue:command");
  await start(a, "started");
  const running = await start(b, "running");
  const stop = { code: "cancelled", reason: "Stop." } as const;
  await a.store.requestStopIfRunning(running, stop);
  await expect.poll(() => b.hints).toContain("stops");
  await expect.poll(() => b.stops).toContainEqual([expect.objectContaining({ taskId: "running" }), stop]);
});

test("the nodes add to the usage of one hour without waiting for each other, and readers get the sum", async () => {
  const { urlAt, port, query } = await createDatabase();
  const nodes = await Promise.all(["a", "b", "c"].map((node) => join(node, { url: urlAt(port) })));
  const agents = upTo(30).map((number) => `agent-${number % 5}`);
  await Promise.all(
    nodes.flatMap((node, index) =>
      agents.map(async (agentId, number) => {
        const request = { ...newTask().request, labels: { [`name-${(number + index) % 3}`]: "value" } };
        const task = newTask({ taskId: `${index}-${number}`, agentId: `${agentId}-${index}`, provider: "p", request });
        const { task: started } = await node.store.insertTaskIfAbsent(task, { starts: true });
        await node.store.finishTaskIfRunning(started, newFinish());
      }),
    ),
  );
  const hours = (await query<{ hour: string }>("SELECT DISTINCT hour FROM usage_hour")).map(({ hour }) => Number(hour));
  for (const { store } of nodes) {
    const sums = await store.sumUsage("default", hours, "provider");
    expect(sums).toMatchObject([{ key: "p", counts: { completed: 90 } }]);
    expect((await store.sumUsage("default", hours, "label")).map(({ counts }) => counts.completed)).toEqual([30, 30, 30]);
  }
  const rows = await query<{ node: string }>("SELECT DISTINCT node FROM usage_hour ORDER BY 1");
  expect(rows.map(({ node }) => node)).toEqual(["a", "b", "c"]);
});

test("a transaction that holds the usage rows of one node does not block the ends of another node", async () => {
  const database = await createDatabase();
  const [a, b] = [await join("a", { url: database.urlAt(database.port) }), await join("b", { url: database.urlAt(database.port) })];
  const end = async (node: Node, taskId: string) => node.store.finishTaskIfRunning(await start(node, taskId), newFinish());
  await end(a, "first");
  const holding = await hold(database, "SELECT 1 FROM usage_hour WHERE node = 'a' FOR UPDATE");
  expect(await end(b, "second")).toMatchObject({ state: "completed" });
  await holding.commit();
});
