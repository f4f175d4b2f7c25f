import { existsSync } from "node:fs";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { NoDatabaseError, StartError } from "../../../errors.ts";

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
