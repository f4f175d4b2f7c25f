import { NoDatabaseError, StartError } from "../../errors.ts";
import { openReadOnly } from "../engines/sqlite/database-file.ts";
import { isDamage, remedyOf } from "../engines/sqlite/faults.ts";
import { type BackupManifest, createBackupFile, publishBackup } from "./backup-file.ts";
import { findFaults, readCounts, readEpoch } from "./sqlite-check.ts";

/**
 * Writes a verified backup of a database file, also while Bridge runs, and its manifest. It contains every commit from before the start of
 * the backup. Throws StartError.
 */
export async function backUpDatabase(file: string, backup: string, bridgeVersion: string): Promise<BackupManifest> {
  return await createBackupFile(backup, async (partial) => {
    const createdAt = new Date().toISOString();
    copySnapshot(file, partial);
    return await publishBackup(partial, backup, { engine: "sqlite", schema: "main", createdAt, bridgeVersion, ...verifyCopy(partial) });
  });
}

/**
 * Copies the state of one moment. SQLite's online backup would begin again after each write of Bridge, so under load it would not end.
 * `VACUUM INTO` also omits the remains of deleted rows.
 */
function copySnapshot(file: string, copy: string): void {
  const database = openReadOnly(file);
  try {
    database.prepare("VACUUM INTO ?").run(copy);
  } catch (error) {
    if (isDamage(error)) throw new StartError(`The database ${file} is damaged: ${(error as Error).message}. ${remedyOf(file)}`);
    throw new StartError(`The backup failed: ${(error as Error).message}. Check the free space of its disk.`, { cause: error });
  } finally {
    database.close();
  }
}

/** Reads the whole copy again. */
function verifyCopy(copy: string): Pick<BackupManifest, "schemaVersion" | "epoch" | "counts"> {
  const database = openReadOnly(copy);
  try {
    const [fault] = findFaults(database);
    if (fault !== undefined) throw new StartError(`The backup is not valid: ${fault}. Check its disk, and run: brg db check`);
    const epoch = readEpoch(database);
    if (epoch === null) throw new NoDatabaseError("The database is empty: Bridge has not been started on it yet.");
    return { schemaVersion: Number(database.pragma("user_version", { simple: true })), epoch, counts: readCounts(database) };
  } finally {
    database.close();
  }
}
