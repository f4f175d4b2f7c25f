import { cpSync, existsSync, readFileSync, rmSync, truncateSync } from "node:fs";
import SqliteDatabase from "better-sqlite3";

/**
 * Ways to disable durability: the last commits are lost, as on a disk that ignores fsync, an older copy is restored, or a start does not
 * settle what interrupted tasks have reserved.
 */
export type SqliteSabotage = "wal" | "copy" | "budgets";

/** Deletes the reservations of running tasks, so that the next start does not settle them. */
export const forgetReservations = "DELETE FROM task_budget WHERE starts_at IS NOT NULL";

const LOST_COMMITS = 6;

/** Returns the function that damages the database after each kill, while Bridge is not running. */
export function createSabotage(kind: SqliteSabotage, databaseFile: string): () => void {
  if (kind === "budgets") return () => runSql(databaseFile, forgetReservations);
  if (kind === "wal") return () => loseLastCommits(`${databaseFile}-wal`, LOST_COMMITS);
  let kills = 0;
  return () => {
    kills += 1;
    if (kills % 2 === 1) copyDatabase(databaseFile, `${databaseFile}.older`);
    else copyDatabase(`${databaseFile}.older`, databaseFile);
  };
}

function runSql(databaseFile: string, sql: string): void {
  const database = new SqliteDatabase(databaseFile);
  database.exec(sql);
  database.close();
}

function copyDatabase(from: string, to: string): void {
  for (const suffix of ["", "-wal"]) {
    if (existsSync(from + suffix)) cpSync(from + suffix, to + suffix);
    else rmSync(to + suffix, { force: true });
  }
}

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Truncates a write-ahead log before its last commits. Ignores frames of an earlier use of the file, which have different salts. */
function loseLastCommits(walFile: string, count: number): void {
  if (!existsSync(walFile)) return;
  const wal = readFileSync(walFile);
  if (wal.length < HEADER_BYTES) return;
  const frameBytes = FRAME_HEADER_BYTES + wal.readUInt32BE(8);
  const salts = wal.subarray(16, 24);
  const commits: number[] = [];
  for (let at = HEADER_BYTES; at + frameBytes <= wal.length; at += frameBytes) {
    if (!wal.subarray(at + 8, at + 16).equals(salts)) break;
    // The size of the database after the commit; 0 in all frames but the last of a transaction.
    if (wal.readUInt32BE(at + 4) !== 0) commits.push(at + frameBytes);
  }
  truncateSync(walFile, commits.at(-1 - count) ?? HEADER_BYTES);
}
