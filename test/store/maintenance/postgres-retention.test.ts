import { expect, test } from "vitest";
import type { NewTicket } from "../../../src/store/access/interface.ts";
import { newFinish, newTask } from "../../conformance/store/fixtures.ts";
import { accept, openWrites, type WritingNode } from "../../support/postgres/open-writes.ts";

const DAY_MS = 86_400_000;
const text = { type: "assistant.text", data: '{"content":"x"}' } as const;

async function endedTask(store: WritingNode, taskId: string, callbackUrl?: string) {
  const task = await accept(store, { taskId });
  await store.appendEventsIfRunning(task, [text]);
  await store.finishTaskIfRunning(task, newFinish({ result: { ...newFinish().result, resumeToken: taskId } }, callbackUrl));
  return task;
}

type Database = Awaited<ReturnType<typeof openWrites>>["database"];

/** Moves all stored times of some tasks by days. */
async function shift(database: Database, ids: readonly string[], days: number): Promise<void> {
  const tasks = "(SELECT seq FROM task WHERE id = ANY ($1))";
  await database.query(`UPDATE event SET at = at + $2 WHERE task IN ${tasks}`, [ids, days * DAY_MS]);
  await database.query("UPDATE task SET finished_at = finished_at + $2 WHERE id = ANY ($1)", [ids, days * DAY_MS]);
  await database.query("UPDATE resume_token SET used_at = used_at + $2 WHERE token = ANY ($1)", [ids, days * DAY_MS]);
}

const columnOf = async (database: Database, sql: string): Promise<unknown[]> =>
  (await database.query(sql)).map((row) => Object.values(row)[0]);

test("retention deletes expired events in order, then their tasks, and expired tokens; later events keep their numbers", async () => {
  const { database, store } = await openWrites();
  for (const id of ["old-1", "old-2", "new"]) await endedTask(store, id);
  await shift(database, ["old-1", "old-2"], -2);
  expect(await store.prune(DAY_MS, 4)).toBe(4 + 1 + 2);
  expect(await columnOf(database, "SELECT number FROM event ORDER BY number")).toEqual(["5", "6", "7", "8", "9"]);
  expect(await store.prune(DAY_MS, 4)).toBe(2 + 1);
  expect(await store.prune(DAY_MS, 4)).toBe(0);
  expect(await columnOf(database, "SELECT id FROM task")).toEqual(["new"]);
  expect(await columnOf(database, "SELECT token FROM resume_token")).toEqual(["new"]);
  expect(await columnOf(database, "SELECT value FROM counter WHERE name = 'pruned'")).toEqual(["6"]);
});

test.each([
  ["whose task runs", async (store: WritingNode) => void (await accept(store, { taskId: "blocked" }))],
  ["whose callback is pending", async (store: WritingNode) => void (await endedTask(store, "blocked", "http://receiver.test/"))],
])("retention stops before an event %s, although later events have expired", async (_, insert) => {
  const { database, store } = await openWrites();
  await endedTask(store, "old");
  await insert(store);
  await endedTask(store, "later");
  await shift(database, ["old", "blocked", "later"], -2);
  while ((await store.prune(DAY_MS, 100)) > 0);
  expect(await columnOf(database, "SELECT min(number) FROM event")).toEqual(["4"]);
  expect(await columnOf(database, "SELECT id FROM task ORDER BY seq")).toEqual(["blocked", "later"]);
});

test("retention deletes events from a time when the clock was ahead as soon as the next event has expired", async () => {
  const { database, store } = await openWrites();
  for (const id of ["ahead", "past"]) await endedTask(store, id);
  await shift(database, ["ahead"], 30);
  expect(await store.prune(DAY_MS, 100)).toBe(0);
  await shift(database, ["past"], -2);
  while ((await store.prune(DAY_MS, 2)) > 0);
  expect(await columnOf(database, "SELECT id FROM task")).toEqual([]);
  await accept(store, { taskId: "next" });
  expect(await columnOf(database, "SELECT number FROM event")).toEqual(["7"]);
});

test("retention keeps the texts of pruned events that the result of a kept task contains", async () => {
  const { database, store } = await openWrites();
  const task = await accept(store);
  await store.appendEventsIfRunning(task, [text, { ...text, type: "execution.progress" }]);
  await store.finishTaskIfRunning(task, newFinish({ storedResult: { json: "{}", gaps: [{ at: 1, text: { events: [2, 2] } }] } }));
  await shift(database, ["task-1"], -2);
  await store.prune(DAY_MS, 3);
  expect(await database.query("SELECT text, number, json FROM text_chunk")).toEqual([{ text: 0, number: "2", json: text.data }]);
  while ((await store.prune(DAY_MS, 3)) > 0);
  expect(await columnOf(database, "SELECT task FROM text_chunk")).toEqual([]);
});

test("retention passes over a task that another transaction has locked", async () => {
  const { database, store, hold } = await openWrites();
  for (const id of ["locked", "free"]) await endedTask(store, id);
  await shift(database, ["locked", "free"], -2);
  const held = await hold("SELECT 1 FROM task WHERE id = 'locked' FOR NO KEY UPDATE");
  while ((await store.prune(DAY_MS, 100)) > 0);
  expect(await columnOf(database, "SELECT id FROM task")).toEqual(["locked"]);
  await held.commit();
  expect(await store.prune(DAY_MS, 100)).toBe(1);
});

test("a check that the database accepts writes commits, and fails while it is read-only", async () => {
  const { database, store } = await openWrites();
  await store.checkWritable();
  expect(await database.query("SELECT number FROM commit_marker")).toEqual([{ number: "1" }]);
  await database.query(`ALTER DATABASE ${database.name} SET default_transaction_read_only = on`);
  await database.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bridge' AND datname = current_database()",
  );
  await expect.poll(() => store.checkWritable().catch((error: unknown) => error)).toMatchObject({ code: "storage_unavailable" });
});

const newTicket = (hash: string, fields: Partial<NewTicket> = {}): NewTicket => ({
  ...{ hash, principal: "p", tenant: "default", scopes: ["read"], tokenProof: "proof", tokenExpiresAt: null },
  ...fields,
});

test("a ticket is redeemed once, before it expires, and only so many are valid per tenant", async () => {
  const { database, store, other } = await openWrites();
  const issued = await Promise.all(["a", "b", "c"].map((hash) => store.insertTicketIfRoom(newTicket(hash), 2)));
  expect(issued).toEqual([expect.any(Number), expect.any(Number), null]);
  expect(await store.insertTicketIfRoom(newTicket("other", { tenant: "other", tokenExpiresAt: 1 }), 2)).toBe(1);
  const redeemed = await Promise.all([store, other, store].map((node) => node.redeemTicket("a")));
  expect(redeemed.filter((ticket) => ticket !== null)).toEqual([
    { principal: "p", tenant: "default", scopes: ["read"], tokenProof: "proof" },
  ]);
  expect(await store.redeemTicket("other")).toBeNull();
  await database.query("UPDATE ticket SET expires_at = expires_at + 3600000");
  expect(await store.insertTicketIfRoom(newTicket("d"), 1)).toEqual(expect.any(Number));
  expect(await store.redeemTicket("b")).toBeNull();
  await database.query("UPDATE ticket SET expires_at = 1");
  expect(await store.prune(DAY_MS, 10)).toBe(1);
});

test("retention removes the markers of writers that have not committed for a week", async () => {
  const { database, store, other } = await openWrites();
  for (const writer of [store, other]) await writer.checkWritable();
  await database.query("UPDATE commit_marker SET at = at - 6 * 86400000");
  expect(await store.prune(DAY_MS, 100)).toBe(0);
  expect(await columnOf(database, "SELECT count(*)::int FROM commit_marker")).toEqual([2]);
  await database.query("UPDATE commit_marker SET at = at - 2 * 86400000 WHERE number = 1");
  expect(await store.prune(DAY_MS, 100)).toBe(1);
  expect(await columnOf(database, "SELECT number FROM commit_marker")).toEqual(["3"]);
});

test("retention removes the labels of tasks that a node of a release without labels has deleted", async () => {
  const { database, store } = await openWrites();
  const request = { ...newTask().request, labels: { team: "blue" } };
  await store.finishTaskIfRunning(await accept(store, { taskId: "oldest", request }), newFinish());
  for (const taskId of ["deleted", "kept"]) await accept(store, { taskId, request });
  await database.query("DELETE FROM event WHERE task = (SELECT seq FROM task WHERE id = 'deleted')");
  await database.query("DELETE FROM task WHERE id = 'deleted'");
  await shift(database, ["oldest"], -2);
  while ((await store.prune(DAY_MS, 100)) > 0);
  expect(await columnOf(database, "SELECT t.id FROM task_label l LEFT JOIN task t ON t.seq = l.task")).toEqual(["kept"]);
});
