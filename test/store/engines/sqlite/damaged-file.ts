import { closeSync, openSync, statSync, writeSync } from "node:fs";
import SqliteDatabase from "better-sqlite3";

const DAMAGE_BYTES = 8 * 1024;

/** Adds ended tasks `filler-0`, `filler-1`, … of 8 KB each, more than SQLite's page cache holds, and moves them out of the log. */
export function fillDatabase(file: string, tenant: string, tasks: number): void {
  const database = new SqliteDatabase(file);
  const insert = database.prepare(
    `INSERT INTO task (tenant, id, agent_id, provider, state, request, fingerprint, created_at, started_at, finished_at, result)
     VALUES (?, ?, 'writer', 'command', 'completed', '{"message":"x"}', 'f', 1, 1, ?, ?)`,
  );
  const result = JSON.stringify({ status: "ok", output: "o".repeat(8000), durationMs: 1, connection: "cli" });
  const now = Date.now();
  database.transaction(() => {
    for (let task = 0; task < tasks; task += 1) insert.run(tenant, `filler-${task}`, now, result);
  })();
  database.pragma("wal_checkpoint(TRUNCATE)");
  database.close();
}

/** Overwrites bytes in the middle of the file, as a failing disk does. */
export function damageMiddle(file: string, bytes = DAMAGE_BYTES): void {
  const opened = openSync(file, "r+");
  const middle = Math.floor(statSync(file).size / 2 / 4096) * 4096;
  writeSync(opened, Buffer.alloc(bytes, 0xa5), 0, bytes, middle);
  closeSync(opened);
}
