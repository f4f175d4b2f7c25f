import { randomBytes } from "node:crypto";
import { chownSync, constants, existsSync, rmSync, statSync } from "node:fs";
import { copyFile, rename } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { ConflictError, StartError } from "../../errors.ts";
import { locateDatabase } from "../engines/sqlite/data-paths.ts";
import { lockFile } from "../engines/sqlite/lock-file.ts";
import { countMigrations } from "../engines/sqlite/migrate.ts";
import {
  type BackupManifest,
  describeTasks,
  findsDataSql,
  flushFile,
  type Restored,
  type RestoreOptions,
  readBackup,
} from "./backup-file.ts";
import { findFaults, hasTables, readCounts } from "./sqlite-check.ts";

/**
 * Replaces the database file by a backup with a new epoch of event ids. The lock of the database keeps Bridge from starting meanwhile. A
 * crash leaves the old file or the new one. Refuses a file with tasks, unless `isForced`: then keeps a copy of it. Throws StartError.
 */
export async function restoreDatabase(name: string, backup: string, { isForced, hasManifest }: RestoreOptions): Promise<Restored> {
  const manifest = hasManifest ? await readBackup(backup, "sqlite") : null;
  const file = locateDatabase(name);
  const releaseLock = lockFile(`${file}.lock`, {
    name: "database",
    setting: "BRIDGE_DATABASE_URL",
    remedy: "Stop Bridge, and repeat the command.",
  });
  const restored = `${file}.restoring`;
  try {
    adoptOwner(`${file}.lock`);
    const held = existsSync(file) ? readHeld(file) : { isEmpty: true, tasks: 0 };
    if (!held.isEmpty && !isForced)
      throw new ConflictError(
        `The database ${file} ${describeTasks(held.tasks)}. To replace it, repeat the command with --force, which keeps a copy of it in the same directory.`,
      );
    // An earlier restore may have been interrupted.
    rmSync(restored, { force: true });
    await copyFile(backup, restored, constants.COPYFILE_EXCL);
    const prepared = prepareCopy(restored, manifest);
    await flushFile(restored);
    const replaced = held.isEmpty ? null : await keepCopy(file);
    mergeLog(file);
    await rename(restored, file);
    await flushFile(path.dirname(file));
    return { createdAt: manifest?.createdAt ?? null, ...prepared, replaced, replacedTasks: held.tasks };
  } finally {
    rmSync(restored, { force: true });
    releaseLock();
  }
}

/** What a database file contains. As Bridge creates it at its first start, it is empty. The tasks are null if they cannot be counted. */
function readHeld(file: string): { isEmpty: boolean; tasks: number | null } {
  try {
    const database = new SqliteDatabase(file, { fileMustExist: true });
    try {
      if (!hasTables(database)) return { isEmpty: true, tasks: 0 };
      const isEmpty = database.prepare(findsDataSql).pluck().get() === 0;
      return { isEmpty, tasks: database.prepare("SELECT count(*) FROM task").pluck().get() as number };
    } finally {
      database.close();
    }
  } catch {
    // It is damaged, or not a database of Bridge.
    return { isEmpty: false, tasks: null };
  }
}

/** Verifies the copy and starts a new epoch in it. */
function prepareCopy(copy: string, manifest: BackupManifest | null): Pick<Restored, "schemaVersion" | "counts" | "epoch"> {
  const database = openCopy(copy);
  try {
    const [fault] = findFaults(database);
    if (fault !== undefined) throw new StartError(`The backup is damaged: ${fault}. Use another one.`);
    const schemaVersion = Number(database.pragma("user_version", { simple: true }));
    checkVersion(schemaVersion);
    const counts = readCounts(database);
    if (manifest !== null && !isDeepStrictEqual(counts, manifest.counts))
      throw new StartError("The backup contains other numbers of rows than its manifest.");
    const epoch = randomBytes(5).toString("hex");
    database
      .prepare("INSERT INTO meta (name, value) VALUES ('epoch', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
      .run(epoch);
    return { schemaVersion, counts, epoch };
  } finally {
    database.close();
    adoptOwner(copy);
  }
}

function openCopy(copy: string): Database {
  const database = new SqliteDatabase(copy);
  try {
    // A copy with a write-ahead log would not be complete in one file.
    database.pragma("journal_mode = DELETE");
    return database;
  } catch (error) {
    database.close();
    throw new StartError(`The backup is not a SQLite database: ${(error as Error).message}.`, { cause: error });
  }
}

function checkVersion(version: number): void {
  const known = countMigrations();
  if (version === 0) throw new StartError("The backup has no schema version (PRAGMA user_version is 0), so it is no backup of Bridge.");
  if (version <= known) return;
  throw new StartError(
    `The backup has schema version ${version}, but this Bridge knows only versions up to ${known}. Install the Bridge that wrote it, or a newer one.`,
  );
}

/** Copies the database and its write-ahead log. A link to it would count as a second name of the database after a crash. */
async function keepCopy(file: string): Promise<string> {
  const kept = `${file}.replaced-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  for (const suffix of ["-wal", ""]) {
    if (!existsSync(`${file}${suffix}`)) continue;
    await copyFile(`${file}${suffix}`, `${kept}${suffix}`, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    adoptOwner(`${kept}${suffix}`);
    await flushFile(`${kept}${suffix}`);
  }
  return kept;
}

/**
 * Moves the write-ahead log of the old database into its file, because SQLite would apply a log that remains to the new file. A file that
 * is no database has no log to keep.
 */
function mergeLog(file: string): void {
  if (existsSync(file)) {
    try {
      const database = new SqliteDatabase(file, { fileMustExist: true });
      try {
        database.pragma("wal_checkpoint(TRUNCATE)");
      } finally {
        database.close();
      }
    } catch {
      // What cannot be merged is in the kept copy.
    }
  }
  for (const suffix of ["-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true });
}

/** As root, gives a new file to the owner of its directory, as whom Bridge runs. */
function adoptOwner(file: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(path.dirname(file));
  chownSync(file, uid, gid);
}
