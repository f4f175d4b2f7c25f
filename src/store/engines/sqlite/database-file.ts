import { existsSync, statSync } from "node:fs";
import type { Database } from "better-sqlite3";
import SqliteDatabase from "better-sqlite3";
import { NoDatabaseError, StartError } from "../../../errors.ts";
import { locateDatabase } from "./data-paths.ts";
import { damagedAtStart, findDamage, isDamage } from "./faults.ts";
import { lockFile } from "./lock-file.ts";
import { migrate } from "./migrate.ts";

/** A database file that is open in this process. */
export interface DatabaseFile {
  file: string;
  database: Database;
  /** Every page was checked when the file was opened. */
  isChecked: boolean;
  /** Closes the file, so that another process can open it. */
  close(): void;
}

/** Size to which the write-ahead log shrinks after a larger commit. */
const WAL_KEPT_BYTES = 8 * 1024 ** 2;

/** The check of such a file takes about 40 ms. A larger file is checked in the background, so that it does not delay the start. */
const CHECK_AT_START_BYTES = 64 * 1024 ** 2;

/**
 * Opens and migrates the database file for this process alone; a second process is rejected. Files up to
 * `checkAtStartBytes` are checked first.
 */
export function openDatabaseFile(name: string, checkAtStartBytes = CHECK_AT_START_BYTES): DatabaseFile {
  const file = locateDatabase(name);
  const releaseLock = lockFile(`${file}.lock`, { name: "database", setting: "BRIDGE_DATABASE_URL" });
  const isChecked = sizeOf(file) <= checkAtStartBytes;
  try {
    refuseHardLinks(file);
    const database = openFile(file, isChecked);
    return {
      file,
      database,
      isChecked,
      close() {
        database.close();
        releaseLock();
      },
    };
  } catch (error) {
    releaseLock();
    throw error;
  }
}

function openFile(file: string, isChecked: boolean): Database {
  // No other process writes to the file. If one does, waiting for it would block the event loop.
  const database = new SqliteDatabase(file, { timeout: 100 });
  try {
    database.pragma("journal_mode = WAL");
    // On every open, because the driver falls back to NORMAL when it reopens a WAL database, and NORMAL can lose acknowledged writes.
    database.pragma("synchronous = FULL");
    database.pragma("foreign_keys = ON");
    database.pragma(`journal_size_limit = ${WAL_KEPT_BYTES}`);
    const fault = isChecked ? findDamage(database) : null;
    if (fault !== null) throw damagedAtStart(file, fault);
    if (Number(database.pragma("synchronous", { simple: true })) !== 2) throw new Error("The database does not accept synchronous=FULL.");
    migrate(database);
    return database;
  } catch (error) {
    database.close();
    if (isNoDatabase(error)) throw noDatabase(file, error);
    throw isDamage(error) ? damagedAtStart(file, (error as Error).message) : error;
  }
}

/** Rejects hard links. SQLite names its log after the path, so a database that is opened under two names is damaged. */
function refuseHardLinks(file: string): void {
  const links = statSync(file, { throwIfNoEntry: false })?.nlink ?? 1;
  if (links === 1) return;
  throw new StartError(
    `Bridge cannot start: the database ${file} has ${links} hard links, so a second Bridge could open it under another name. Remove the other links, or copy the file.`,
  );
}

/** The size on disk, without the write-ahead log, which is small. */
const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** The header of a SQLite database is missing; most often the path names another kind of file. */
const isNoDatabase = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "SQLITE_NOTADB";

const noDatabase = (file: string, cause: unknown): StartError =>
  new StartError(
    `Bridge cannot start: BRIDGE_DATABASE_URL names ${file}, and this file is not a database. Set it to a SQLite database or to a file that does not exist.`,
    { cause },
  );

/** Time for which a read waits for another process, for example for a Bridge that is recovering the write-ahead log. */
const WAIT_MS = 10_000;

/**
 * Opens a database file for reading, also while Bridge writes to it. It takes no lock of Bridge, because a reader of the write-ahead log
 * blocks no writer. Throws StartError.
 */
export function openReadOnly(file: string): Database {
  if (!existsSync(file))
    throw new NoDatabaseError(`The database ${file} does not exist. Check BRIDGE_DATA_DIR and BRIDGE_DATABASE_URL, and the directory.`);
  try {
    const database = new SqliteDatabase(file, { readonly: true, fileMustExist: true, timeout: WAIT_MS });
    // The file is read for the first time here.
    database.pragma("schema_version");
    return database;
  } catch (error) {
    throw new StartError(`The database ${file} cannot be read: ${(error as Error).message}.`, { cause: error });
  }
}
