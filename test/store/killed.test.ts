import { copyFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { createInterruptedTasks } from "../../src/dispatch/end/interrupted-tasks.ts";
import { createTreeEnds } from "../../src/dispatch/run/tree-ends.ts";
import type { BudgetLimit } from "../../src/store/budgets/interface.ts";
import { migrate } from "../../src/store/engines/sqlite/migrate.ts";
import { openStore } from "../../src/store/open-sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { newFinish, newTask } from "../conformance/store/fixtures.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const migrations = readdirSync(new URL("../../migrations/", import.meta.url))
  .filter((name) => name.endsWith(".sql"))
  .sort();
const sqlOf = (name: string) => readFileSync(new URL(`../../migrations/${name}`, import.meta.url), "utf8");

/**
 * Runs the work, and copies the database after each statement that the pattern selects. A copy contains what a kill would leave: the pages
 * that SQLite has passed to the system, which are those of the file and of its write-ahead log.
 */
async function copyAtEach(file: string, pattern: RegExp, work: () => unknown): Promise<string[]> {
  const directory = await temporaryDirectory();
  const copies: string[] = [];
  const after = <Act extends (...values: never[]) => unknown>(act: Act, isSelected: (...values: Parameters<Act>) => boolean): Act =>
    function (this: unknown, ...values: Parameters<Act>) {
      const result = act.apply(this, values);
      if (isSelected(...values)) copies.push(copyDatabase(file, path.join(directory, `${copies.length}.db`)));
      return result;
    } as Act;
  const { prepare, exec, pragma } = SqliteDatabase.prototype;
  vi.spyOn(SqliteDatabase.prototype, "exec").mockImplementation(after(exec, (sql: string) => pattern.test(sql)));
  vi.spyOn(SqliteDatabase.prototype, "pragma").mockImplementation(after(pragma, (sql: string) => pattern.test(sql)));
  vi.spyOn(SqliteDatabase.prototype, "prepare").mockImplementation(function (this: Database, sql: string) {
    const statement = prepare.call(this, sql);
    if (pattern.test(sql)) Object.assign(statement, { run: after(statement.run, () => true), get: after(statement.get, () => true) });
    return statement;
  });
  try {
    await work();
  } finally {
    vi.restoreAllMocks();
  }
  return copies;
}

function copyDatabase(file: string, copy: string): string {
  for (const suffix of ["", "-wal"]) if (existsSync(file + suffix)) copyFileSync(file + suffix, copy + suffix);
  return copy;
}

/** The complete content of the database file. */
function contentOf(file: string): Record<string, unknown> {
  const database = new SqliteDatabase(file);
  try {
    expect(database.pragma("foreign_key_check")).toEqual([]);
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'").pluck().all();
    const rows = (tables as string[]).sort().map((table) => [table, database.prepare(`SELECT * FROM ${table}`).all()]);
    const schema = database.prepare("SELECT name, sql FROM sqlite_master ORDER BY name").all();
    return { version: database.pragma("user_version", { simple: true }), schema, ...Object.fromEntries(rows) };
  } finally {
    database.close();
  }
}

/** A database of the first schema, with a task that has ended. */
async function firstSchema(): Promise<string> {
  const file = path.join(await temporaryDirectory(), "bridge.db");
  const database = new SqliteDatabase(file);
  database.pragma("journal_mode = WAL");
  database.exec(sqlOf(migrations[0] as string));
  database.pragma("user_version = 1");
  database.exec(`INSERT INTO task (tenant, id, agent_id, provider, state, request, fingerprint, created_at, started_at, finished_at, result)
    VALUES ('default', 'old', 'a', 'command', 'completed', '{}', '', 1, 1, 1, '{}')`);
  database.close();
  return file;
}

test("a kill at any step of a migration leaves the schema as it was, and the next start completes it", async () => {
  const file = await firstSchema();
  const before = contentOf(file);
  // The last copy is made after all migrations and before the commit.
  const copies = await copyAtEach(file, /\S/, () => {
    const database = new SqliteDatabase(file);
    migrate(database);
    database.close();
  });
  expect(copies.length).toBeGreaterThanOrEqual(migrations.length);
  for (const copy of copies) expect(contentOf(copy)).toEqual(before);
  const store = openStore({ file: copies.at(-1) as string });
  expect(await store.findTask("default", "old")).toMatchObject({ state: "completed" });
  await store.close();
  expect(contentOf(copies.at(-1) as string)["version"]).toBe(migrations.length);
});

test("a kill at any statement of pruning leaves every task whole, and the next run removes the rest", async () => {
  const file = path.join(await temporaryDirectory(), "bridge.db");
  await openStore({ file }).close();
  const database = new SqliteDatabase(file);
  for (let number = 1; number <= 3; number += 1) insertOldTask(database, number);
  database.exec("UPDATE counter SET value = 6 WHERE name = 'event'");
  database.close();
  const before = contentOf(file);
  const prune = async (pruned: string) => {
    const store = openStore({ file: pruned });
    while ((await store.prune(1000, 100)) > 0);
    await store.close();
  };

  const copies = await copyAtEach(file, /^DELETE/, () => prune(file));
  expect(copies.length).toBeGreaterThan(10);
  // The first statements are one transaction.
  const whole = copies.filter((copy) => (contentOf(copy)["task"] as unknown[]).length > 0);
  expect(whole).toEqual(copies.slice(0, whole.length));
  for (const copy of whole) expect({ copy, content: contentOf(copy) }).toEqual({ copy, content: before });
  for (const copy of copies) {
    await prune(copy);
    const { task, event, callback, callback_dedup: dedup, approval, counter } = contentOf(copy);
    expect({ task, event, callback, dedup, approval }).toEqual({ task: [], event: [], callback: [], dedup: [], approval: [] });
    expect(counter).toEqual([
      { name: "event", value: 6 },
      { name: "pruned", value: 6 },
    ]);
  }
});

test("a kill at any statement of a deletion leaves the task whole or deletes it, and retention removes the rest of its rows", async () => {
  const file = path.join(await temporaryDirectory(), "bridge.db");
  await openStore({ file }).close();
  const database = new SqliteDatabase(file);
  for (let number = 1; number <= 2; number += 1) insertOldTask(database, number);
  database.exec(`
    UPDATE task SET parent_seq = 1, parent_id = 't1' WHERE seq = 2;
    INSERT INTO event (number, task, type, at, data)
      WITH RECURSIVE n (i) AS (SELECT 5 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) SELECT i, 1, 'execution.progress', 1, '{}' FROM n;
    INSERT INTO text_chunk (task, text, number, json) VALUES (1, 1, 1, 'a'), (1, 1, 2, 'b');
    UPDATE task SET result_gaps = '[{"at":1,"text":{"kept":1,"chunks":2}}]' WHERE seq = 1;
    UPDATE counter SET value = 1500 WHERE name = 'event';`);
  database.close();
  const before = contentOf(file);
  const copies = await copyAtEach(file, /^(DELETE|UPDATE|COMMIT)/, async () => {
    const store = openStore({ file });
    expect(await store.deleteTaskIfEnded("default", "t1")).toBe("deleted");
    while ((await store.purgeDeletedTasks()) > 0);
    await store.close();
  });
  const tenantsOf = (copy: string) => (contentOf(copy)["task"] as { tenant: string }[]).map(({ tenant }) => tenant);
  // The commit of the deletion hides the tasks, and some of their rows remain.
  const deletedAt = copies.findIndex((copy) => !tenantsOf(copy).includes("default"));
  expect(deletedAt).toBeGreaterThan(8);
  expect(tenantsOf(copies[deletedAt] as string)).toEqual(["", ""]);
  for (const copy of copies.slice(0, deletedAt)) expect({ copy, content: contentOf(copy) }).toEqual({ copy, content: before });
  for (const copy of copies.slice(deletedAt)) await expectDeleted(copy);
});

/** Expects that clients find no deleted task, and that retention removes the rest of its rows. */
async function expectDeleted(file: string): Promise<void> {
  const store = openStore({ file });
  expect(await store.findTask("default", "t1")).toBeNull();
  expect((await store.readEvents(0, { tenant: "default" })).events).toEqual([]);
  expect(await store.readTaskEvents(1, 0, 10, "all")).toEqual([]);
  while ((await store.prune(Number.MAX_SAFE_INTEGER, 100)) > 0);
  await store.close();
  const { task, event, callback, callback_dedup: dedup, approval, text_chunk: chunks, counter } = contentOf(file);
  expect({ task, event, callback, dedup, approval, chunks }).toEqual({
    ...{ task: [], event: [], callback: [] },
    ...{ dedup: [], approval: [], chunks: [] },
  });
  // The event numbers continue, and the deletion causes no gap.
  expect(counter).toEqual([
    { name: "event", value: 1500 },
    { name: "pruned", value: 0 },
  ]);
}

const dayLimit: BudgetLimit = {
  ...{ name: "day", startsAt: 0, endsAt: 1e15, maxMicros: 10_000_000, maxTokens: null },
  ...{ warnAt: [0.01], tenant: null, provider: null },
};

function useDayBudget(store: Store): void {
  store.useBudgets({ limitsAt: () => [dayLimit], onReached() {}, onRoom() {} });
}

/** What the budget counts in US dollars, and the state of the task. */
function countsOf(file: string) {
  const { budget_period: periods, task } = contentOf(file) as Record<string, Record<string, number | string>[]>;
  const [period] = periods ?? [];
  const usd = (column: string): number => Number(period?.[column] ?? 0) / 1e6;
  return { state: task?.[0]?.["state"], spent: usd("spent_micros"), reserved: usd("reserved_micros"), estimated: usd("estimated_micros") };
}

/** Ends interrupted tasks as the start of Bridge does. */
async function restart(file: string): Promise<void> {
  const store = openStore({ file });
  useDayBudget(store);
  const approvals = { adopt() {}, release: async () => {} } as never;
  const trees = createTreeEnds({ store, repositories: null, ownNode: "", logger: pino({ level: "silent" }) });
  await createInterruptedTasks({ store, approvals, recordEnd: async () => {}, trees }).endOwnTasks();
  await store.close();
}

test("a kill at any statement of a start, a report, a stop and an end leaves a budget whose counts the next start corrects, once", async () => {
  const finish = newFinish({
    state: "failed",
    result: { status: "error", errorCode: "budget_exceeded", error: "", durationMs: 1, connection: "cli", costUsd: 0.75 },
    event: { type: "execution.failed", data: "{}" },
  });
  const prepared = path.join(await temporaryDirectory(), "bridge.db");
  const first = openStore({ file: prepared });
  useDayBudget(first);
  await first.insertTaskIfAbsent(newTask({ asks: [{ name: "day", askMicros: 1_000_000, askTokens: null }] }));
  await first.close();

  const copies = await copyAtEach(prepared, /^(INSERT|DELETE|UPDATE|COMMIT)/, async () => {
    const store = openStore({ file: prepared });
    useDayBudget(store);
    const task = await store.startNextTaskIfQueued({ provider: "command", tenant: "default", kind: "dispatched", exceptAgents: [] });
    if (task === null) throw new Error("The task did not start.");
    const spent = { usage: null, costUsd: 0.25, costSource: "runtime" } as const;
    expect(await store.reportUsageIfRunning(task, { spent, event: { type: "usage.reported", data: "{}" } })).toBeTruthy();
    expect(await store.requestStopIfRunning(task, { code: "budget_exceeded", reason: "stop" })).toBeTruthy();
    expect(await store.finishTaskIfRunning(task, { ...finish, callback: null })).not.toBeNull();
    await store.close();
  });

  /** By the counts after the kill: those after the next start. */
  const corrected = [
    [
      { state: "queued", spent: 0, reserved: 0, estimated: 0 },
      { state: "queued", spent: 0, reserved: 0, estimated: 0 },
    ],
    [
      { state: "running", spent: 0, reserved: 1, estimated: 0 },
      { state: "failed", spent: 1, reserved: 0, estimated: 1 },
    ],
    [
      { state: "running", spent: 0.25, reserved: 0.75, estimated: 0 },
      { state: "failed", spent: 0.25, reserved: 0, estimated: 0 },
    ],
    [
      { state: "failed", spent: 0.75, reserved: 0, estimated: 0 },
      { state: "failed", spent: 0.75, reserved: 0, estimated: 0 },
    ],
  ] as const;
  const seen: number[] = [];
  for (const file of [...copies, prepared]) {
    const found = countsOf(file);
    const step = corrected.findIndex(([killed]) => isDeepStrictEqual(killed, found));
    expect({ file, found, step }).toEqual({ file, found, step: Math.max(0, step) });
    await restart(file);
    expect({ file, counts: countsOf(file) }).toEqual({ file, counts: corrected[step]?.[1] });
    const content = contentOf(file);
    await restart(file);
    expect({ file, content: contentOf(file) }).toEqual({ file, content });
    seen.push(step);
  }
  expect(seen).toEqual(seen.toSorted());
  expect(new Set(seen)).toEqual(new Set([0, 1, 2, 3]));
  expect(seen.length).toBeGreaterThan(15);
});

function insertOldTask(database: Database, seq: number): void {
  database.exec(`
    INSERT INTO task (seq, tenant, id, agent_id, provider, state, request, fingerprint, created_at, started_at, finished_at, result)
      VALUES (${seq}, 'default', 't${seq}', 'a', 'command', 'completed', '{}', '', 1, 1, 1, '{}');
    INSERT INTO event (number, task, type, at, data)
      VALUES (${2 * seq - 1}, ${seq}, 'execution.started', 1, '{}'), (${2 * seq}, ${seq}, 'execution.completed', 1, '{}');
    INSERT INTO callback (task, tenant, url, origin, body, state, updated_at)
      VALUES (${seq}, 'default', 'http://a.test/', 'http://a.test', NULL, 'delivered', 1);
    INSERT INTO callback_dedup (task, at) VALUES (${seq}, 1);
    INSERT INTO approval (id, task, tenant, tool_call_id, tool_name, input, state, created_at, expires_at, decided_at, decided_by)
      VALUES ('apr_${seq}', ${seq}, 'default', 'c', 't', '{}', 'rejected', 1, 1, 1, 'bridge');`);
}
