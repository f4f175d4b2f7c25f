import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { expect, test } from "vitest";
import { openStore } from "../../src/store/open-sqlite.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const source = (file: string) => JSON.stringify(new URL(`../../${file}`, import.meta.url).href);
const migrations = readdirSync(new URL("../../migrations/", import.meta.url))
  .filter((name) => name.endsWith(".sql"))
  .sort();
const sqlOf = (name: string) => readFileSync(new URL(`../../migrations/${name}`, import.meta.url), "utf8");

/** Runs a module that kills its own process with SIGKILL. Resolves with the signal that ended it, or with null if it ran to its end. */
const run = (script: string): Promise<NodeJS.Signals | null> =>
  new Promise((resolve, reject) => {
    execFile(process.execPath, ["--input-type=module", "-e", script], (error, _, stderr) => {
      if (error !== null && error.signal == null) reject(new Error(stderr));
      else resolve(error?.signal ?? null);
    });
  });

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
  // `exec` runs one migration each. The last kill comes after all migrations and before the commit.
  for (let step = 1; step <= migrations.length; step += 1) {
    const killed = await run(`import SqliteDatabase from "better-sqlite3";
      import { migrate } from ${source("src/store/engines/sqlite/migrate.ts")};
      const database = new SqliteDatabase(${JSON.stringify(file)});
      const { exec, pragma } = database;
      let steps = 0;
      const count = (act) => (...values) => {
        const result = act.apply(database, values);
        steps += 1;
        if (steps === ${step}) process.kill(process.pid, "SIGKILL");
        return result;
      };
      database.exec = count(exec);
      database.pragma = (text, ...rest) => (text.includes("=") ? count(pragma)(text, ...rest) : pragma.call(database, text, ...rest));
      migrate(database);`);
    expect({ step, killed }).toEqual({ step, killed: "SIGKILL" });
    expect(contentOf(file)).toEqual(before);
  }
  const store = openStore({ file });
  expect(await store.findTask("default", "old")).toMatchObject({ state: "completed" });
  await store.close();
  expect(contentOf(file)["version"]).toBe(migrations.length);
});

test("a kill at any statement of pruning leaves every task whole, and the next run removes the rest", async () => {
  const file = path.join(await temporaryDirectory(), "bridge.db");
  await openStore({ file }).close();
  const database = new SqliteDatabase(file);
  for (let number = 1; number <= 3; number += 1) insertOldTask(database, number);
  database.exec("UPDATE counter SET value = 6 WHERE name = 'event'");
  database.close();
  const before = contentOf(file);
  const prune = (killAt: number) =>
    run(`import SqliteDatabase from "better-sqlite3";
      import { openStore } from ${source("src/store/open-sqlite.ts")};
      const { prepare } = SqliteDatabase.prototype;
      let deletes = 0;
      SqliteDatabase.prototype.prepare = function (sql) {
        const statement = prepare.call(this, sql);
        if (!sql.startsWith("DELETE")) return statement;
        const { run } = statement;
        statement.run = (...values) => {
          const result = run.apply(statement, values);
          deletes += 1;
          if (deletes === ${killAt}) process.kill(process.pid, "SIGKILL");
          return result;
        };
        return statement;
      };
      const store = openStore({ file: ${JSON.stringify(file)} });
      while ((await store.prune(1000, 100)) > 0);
      await store.close();`);

  let kills = 0;
  // The first statements are one transaction. The next run finds no further rows.
  while ((await prune(kills + 1)) === "SIGKILL") {
    kills += 1;
    const after = contentOf(file);
    if ((after["task"] as unknown[]).length === 0) break;
    expect({ kills, after }).toEqual({ kills, after: before });
  }
  expect(kills).toBeGreaterThan(10);
  await prune(0);
  const { task, event, callback, callback_dedup: dedup, approval, counter } = contentOf(file);
  expect({ task, event, callback, dedup, approval }).toEqual({ task: [], event: [], callback: [], dedup: [], approval: [] });
  expect(counter).toEqual([
    { name: "event", value: 6 },
    { name: "pruned", value: 6 },
  ]);
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
  const act = (killAt: number, work: string) =>
    run(`import SqliteDatabase from "better-sqlite3";
      import { openStore } from ${source("src/store/open-sqlite.ts")};
      const { prepare } = SqliteDatabase.prototype;
      let writes = 0;
      SqliteDatabase.prototype.prepare = function (sql) {
        const statement = prepare.call(this, sql);
        if (!/^(DELETE|UPDATE|COMMIT)/.test(sql)) return statement;
        const { run } = statement;
        statement.run = (...values) => {
          const result = run.apply(statement, values);
          writes += 1;
          if (writes === ${killAt}) process.kill(process.pid, "SIGKILL");
          return result;
        };
        return statement;
      };
      const store = openStore({ file: ${JSON.stringify(file)} });
      ${work}
      await store.close();`);
  const deletion = `if ((await store.deleteTaskIfEnded("default", "t1")) !== "deleted") throw new Error("not deleted");
    while ((await store.purgeDeletedTasks()) > 0);`;

  let kills = 0;
  for (;;) {
    kills += 1;
    expect({ kills, end: await act(kills, deletion) }).toEqual({ kills, end: "SIGKILL" });
    const { task, event } = contentOf(file) as { task: { tenant: string }[]; event: unknown[] };
    if (task[0]?.tenant === "") {
      // The commit of the deletion hides the tasks, and some of their rows remain.
      expect([task.map(({ tenant }) => tenant), event.length > 0]).toEqual([["", ""], true]);
      break;
    }
    expect(contentOf(file)).toEqual(before);
  }
  expect(kills).toBeGreaterThan(8);
  const store = openStore({ file });
  expect(await store.findTask("default", "t1")).toBeNull();
  expect((await store.readEvents(0, { tenant: "default" })).events).toEqual([]);
  expect(await store.readTaskEvents(1, 0, 10, "all")).toEqual([]);
  while ((await store.prune(Number.MAX_SAFE_INTEGER, 100)) > 0);
  await store.close();
  const { task, event, callback, callback_dedup: dedup, approval, text_chunk: chunks, counter } = contentOf(file);
  expect({ task, event, callback, dedup, approval, chunks }).toEqual({
    task: [],
    event: [],
    callback: [],
    dedup: [],
    approval: [],
    chunks: [],
  });
  // The event numbers continue, and the deletion causes no gap.
  expect(counter).toEqual([
    { name: "event", value: 1500 },
    { name: "pruned", value: 0 },
  ]);
  // Each kill needs a process.
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
