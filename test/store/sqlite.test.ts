import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import SqliteDatabase from "better-sqlite3";
import { expect, onTestFinished, test, vi } from "vitest";
import { openStore } from "../../src/store/open-sqlite.ts";
import { callbackStates } from "../../src/store/posts/interface.ts";
import type { TaskFilter } from "../../src/store/tasks/interface.ts";
import { taskStates } from "../../src/task.ts";
import { newFinish, newTask, started } from "../conformance/store/fixtures.ts";
import { storeConformance } from "../conformance/store/store.ts";
import { sqliteSubject } from "../support/sqlite-subject.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

storeConformance(sqliteSubject);

const fileIn = async () => path.join(await temporaryDirectory(), "bridge.db");

test("a second process on the file is rejected until the first has released it", async () => {
  const file = await fileIn();
  const store = openStore({ file });
  const open = `import { openStore } from ${JSON.stringify(new URL("../../src/store/open-sqlite.ts", import.meta.url).href)};
    await openStore({ file: ${JSON.stringify(file)} }).close();`;
  const second = promisify(execFile)(process.execPath, ["--input-type=module", "-e", open]);
  await expect(second).rejects.toThrow(/Another process owns the database/);
  await store.close();
  await promisify(execFile)(process.execPath, ["--input-type=module", "-e", open]);
});

test("a schema newer than the code is rejected and not changed", async () => {
  const file = await fileIn();
  await openStore({ file }).close();
  const database = new SqliteDatabase(file);
  database.pragma("user_version = 999");
  database.close();
  expect(() => openStore({ file })).toThrow(/schema version 999/);
  expect(new SqliteDatabase(file, { readonly: true }).pragma("user_version", { simple: true })).toBe(999);
});

test.each([
  ["small", 10, ["inserted", "started"]],
  ["large", 600_000, ["inserted"]],
])("a task with a %s request starts in the commit that inserts it only if the request is small", async (_, length, expected) => {
  const store = openStore({ file: await fileIn() });
  onTestFinished(() => store.close());
  const order: string[] = [];
  const task = newTask();
  const inserted = store
    .insertTaskIfAbsent({ ...task, request: { ...task.request, message: "x".repeat(length) } })
    .then(() => order.push("inserted"));
  const started = store
    .startNextTaskIfQueued({ provider: "command", tenant: "default", kind: "dispatched", exceptAgents: [] })
    .then((claimed) => order.push(claimed === null ? "nothing to start" : "started"));
  await inserted;
  expect(order).toEqual(expected);
  await started;
  expect(order).toEqual(["inserted", "started"]);
});

test("a large write takes several event-loop turns and commits, and becomes visible to readers atomically", async () => {
  const store = openStore({ file: await fileIn() });
  onTestFinished(() => store.close());
  const task = await started(store);
  const shown: number[] = [];
  store.onEvents((events) => shown.push(events.length));
  let turns = 0;
  let isOver = false;
  const countTurns = (): void => {
    turns += 1;
    if (!isOver) setImmediate(countTurns);
  };
  countTurns();
  const data = JSON.stringify({ content: "x".repeat(64 * 1024) });
  const writes = Array.from({ length: 32 }, () =>
    store.appendEventsIfRunning(
      task,
      Array.from({ length: 4 }, () => ({ type: "assistant.text" as const, data })),
    ),
  );
  await writes[0];
  const small = store.insertTaskIfAbsent(newTask({ taskId: "small" }));
  // No event is published before all of them are on the disk.
  expect([store.lastEventNumber(), shown]).toEqual([1, []]);
  expect(await store.readTaskEvents(task.seq, 0, 9, "all")).toHaveLength(1);
  expect(await Promise.all(writes)).toEqual(Array(32).fill(true));
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(16);
  expect([store.lastEventNumber(), shown]).toEqual([129, [128]]);
  expect((await small).inserted).toBe(true);
});

test("each call of postponeCommit in a turn of the event loop postpones the commit by one turn, up to 16 turns", async () => {
  const store = openStore({ file: await fileIn() });
  onTestFinished(() => store.close());
  async function countTurns(postponements: number): Promise<number> {
    let turns = 0;
    let isOver = false;
    const takeTurn = (): void => {
      turns += 1;
      if (turns <= postponements) store.postponeCommit();
      if (!isOver) setImmediate(takeTurn);
    };
    setImmediate(takeTurn);
    await store.checkWritable();
    isOver = true;
    return turns;
  }
  const least = await countTurns(0);
  expect(await countTurns(5)).toBe(least + 5);
  expect(await countTurns(1000)).toBe(least + 16);
});

test("a callback is passed to its listener only after the commit that stores it", async () => {
  const file = await fileIn();
  const store = openStore({ file });
  onTestFinished(() => store.close());
  const reader = new SqliteDatabase(file, { readonly: true });
  onTestFinished(() => void reader.close());
  const committed: unknown[] = [];
  store.onCallback(() => committed.push(reader.prepare("SELECT task FROM callback ORDER BY task").pluck().all()));
  const tasks = await Promise.all(["a", "b"].map((taskId) => store.insertTaskIfAbsent(newTask({ taskId }))));
  const cancelled = newFinish({ state: "cancelled" }, "https://example.com/");
  // The second end violates a constraint, so its transaction is rolled back, and the first one is committed alone.
  const ends = await Promise.allSettled([
    store.finishTaskIfQueued((tasks[0] as (typeof tasks)[number]).task, cancelled),
    store.finishTaskIfQueued((tasks[1] as (typeof tasks)[number]).task, { ...cancelled, state: "completed" }),
  ]);
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(committed).toEqual([[1]]);
});

test("a large commit leaves no large write-ahead log", async () => {
  const file = await fileIn();
  const store = openStore({ file });
  onTestFinished(() => store.close());
  await store.insertTaskIfAbsent(newTask({ request: { ...newTask().request, message: "x".repeat(30 * 1024 ** 2) } }));
  for (let count = 0; count < 3; count += 1) await store.checkWritable();
  expect(statSync(`${file}-wal`).size).toBeLessThan(9 * 1024 ** 2);
});

test("inserting a task that exists writes nothing to the disk", async () => {
  const file = await fileIn();
  const store = openStore({ file });
  onTestFinished(() => store.close());
  await store.insertTaskIfAbsent(newTask());
  const { size } = statSync(`${file}-wal`);
  for (let count = 0; count < 3; count += 1) expect((await store.insertTaskIfAbsent(newTask())).inserted).toBe(false);
  expect(statSync(`${file}-wal`).size).toBe(size);
});

test("closing the store writes all waiting entries, however large", async () => {
  const file = await fileIn();
  const store = openStore({ file });
  const task = await started(store);
  const data = JSON.stringify({ content: "x".repeat(400_000) });
  const writes = Array.from({ length: 20 }, () => store.appendEventsIfRunning(task, [{ type: "assistant.text", data }]));
  await store.close();
  expect(await Promise.all(writes)).toEqual(Array(20).fill(true));
  const again = openStore({ file });
  onTestFinished(() => again.close());
  expect(again.lastEventNumber()).toBe(21);
});

test("every open uses WAL and synchronous=FULL, also the second one", async () => {
  const file = await fileIn();
  for (let time = 0; time < 2; time += 1) {
    const store = openStore({ file });
    await store.insertTaskIfAbsent(newTask({ taskId: `t${time}` }));
    await store.close();
  }
  const database = new SqliteDatabase(file, { readonly: true });
  onTestFinished(() => void database.close());
  expect(database.pragma("journal_mode", { simple: true })).toBe("wal");
  expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
  expect(database.prepare("SELECT count(*) AS count FROM task").get()).toEqual({ count: 2 });
});

test("no query sorts or scans a whole table, with any filter", async () => {
  const file = await fileIn();
  const store = openStore({ file });
  onTestFinished(() => store.close());
  const prepared = vi.spyOn(SqliteDatabase.prototype, "prepare");
  const page = { before: null, limit: 10 };
  const filters: Omit<TaskFilter, "tenant">[] = [
    { provider: "p" },
    { agentId: "a" },
    { parentTaskId: "p" },
    { agentId: "a", provider: "p" },
    { agentId: "a", provider: "p", parentTaskId: "p" },
  ];
  for (const state of [undefined, ...taskStates]) {
    for (const filter of [{}, ...filters]) await store.listTasks({ tenant: "t", state, ...filter }, page);
  }
  for (const state of [undefined, ...callbackStates]) await store.listCallbacks("t", state, page);
  await store.findTask("t", "x");
  await store.listInterruptedTasks();
  await store.findQueuedTask("p");
  for (const kind of ["child", "dispatched"] as const) {
    for (const exceptAgents of [[], ["a"], ["a", "b"]])
      await store.startNextTaskIfQueued({ provider: "p", tenant: "t", kind, exceptAgents });
  }
  await store.listUnfinishedChildren(1);
  await store.listChildrenSpent(1);
  await store.readTaskEvents(1, 0, 10, "execution");
  await store.readEvents(0, { tenant: "t" });
  await store.readTaskStatuses([1]);
  await store.listDueCallbacks({ tenant: "t", receiver: "http://a.test" }, 8);
  await store.listDueCallbackQueues();
  await store.nextCallbackInMs();
  const webhook = { tenant: "t", webhook: "w" };
  for (const state of [undefined, ...callbackStates]) await store.listWebhookDeliveries(webhook, state, page);
  await store.claimDueDeliveries(webhook, 8, new Set());
  await store.findWebhookDelivery(webhook, "x");

  const statements = prepared.mock.calls.map(([sql]) => sql).filter((sql) => /^(SELECT|WITH|UPDATE task SET state = 'running')/.test(sql));
  expect(statements.length).toBeGreaterThan(30);
  // Claims of children and of dispatched tasks, with up to two agents excluded.
  expect(statements.filter((sql) => sql.startsWith("UPDATE"))).toHaveLength(6);
  const database = new SqliteDatabase(file, { readonly: true });
  onTestFinished(() => void database.close());
  for (const sql of statements) {
    const values = Array.from(sql.matchAll(/\?/g), () => 1);
    const plan = database.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
    const faults = plan.filter(({ detail }) =>
      /TEMP B-TREE|^SCAN (?!.*USING COVERING INDEX task_(queued|running)|CONSTANT ROW$|hop$|next|child|other|waiting$|queue$|[0-9]|\(?subquery)/.test(
        detail,
      ),
    );
    // The claim of a child sorts the children of one tenant that wait for one adapter. Their number is limited by their running parents.
    if (sql.includes("max(c.started_at)")) expect(faults.splice(0).map(({ detail }) => detail)).toEqual(["USE TEMP B-TREE FOR ORDER BY"]);
    expect({ sql, faults }).toEqual({ sql, faults: [] });
  }
});

test("on a faulty disk, requests of callers are rejected at once, and Bridge's own writes wait and are done in order", async () => {
  const file = await fileIn();
  const faults: unknown[] = [];
  const store = openStore({ file, onFault: (error) => faults.push(error) });
  onTestFinished(() => store.close());
  await store.insertTaskIfAbsent(newTask());
  const task = await store.startNextTaskIfQueued({ provider: "command", tenant: "default", kind: "dispatched", exceptAgents: [] });
  if (task === null) throw new Error("nothing was claimed");
  const { task: waiting } = await store.insertTaskIfAbsent(newTask({ taskId: "waiting" }));

  // For the store, a writer that holds the lock has the same effect as a disk that rejects writes.
  const blocker = new SqliteDatabase(file, { timeout: 0 });
  blocker.exec("BEGIN IMMEDIATE");
  const appended = store.appendEventsIfRunning(task, [{ type: "assistant.text", data: '{"content":"kept"}' }]);
  const finished = store.finishTaskIfRunning(task, newFinish());
  await expect(store.insertTaskIfAbsent(newTask({ taskId: "refused" }))).rejects.toMatchObject({ code: "storage_unavailable" });
  const cancelled = store.finishTaskIfQueued(waiting, newFinish({ state: "cancelled" }), { patient: false });
  await expect(cancelled).rejects.toMatchObject({ code: "storage_unavailable" });
  expect(faults.length).toBeGreaterThan(0);
  blocker.exec("ROLLBACK");
  blocker.close();

  expect(await appended).toBe(true);
  expect(await finished).toMatchObject({ state: "completed" });
  const log = await store.readTaskEvents(task.seq, 0, 10, "all");
  expect(log.map(({ number, type }) => [number, type])).toEqual([
    [1, "execution.started"],
    [2, "assistant.text"],
    [3, "execution.completed"],
  ]);
  expect(await store.findTask("default", "refused")).toBeNull();
});
