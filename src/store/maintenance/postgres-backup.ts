import { NoDatabaseError } from "../../errors.ts";
import { type Connection, connect, readMeta, readSchema } from "../engines/postgres/connection.ts";
import { explainStartError } from "../engines/postgres/prepare-database.ts";
import { type BackupManifest, countsSql, createBackupFile, publishBackup, toCounts } from "./backup-file.ts";
import { findPrograms, readServerMajor, type StartProgram, separatePassword, waitForProgram } from "./postgres-programs.ts";

/**
 * Writes a verified backup of Bridge's tables with pg_dump, also while nodes run, and its manifest. The dump and the manifest show the same
 * moment. Throws StartError.
 */
export async function backUpDatabase(url: string, backup: string, bridgeVersion: string): Promise<BackupManifest> {
  return await createBackupFile(backup, async (partial) => {
    const connection = await connect({ url, answerMs: 0 }).catch((error: unknown) => {
      throw explainStartError(error, url);
    });
    try {
      const major = await readServerMajor(connection);
      const start = await findPrograms(["pg_dump", "pg_restore"], { url, major, manual: manualCommand(url, backup) });
      const content = await dump(connection, start, partial);
      await listContents(start, partial);
      return await publishBackup(partial, backup, { engine: "postgres", ...content, bridgeVersion });
    } finally {
      connection.close();
    }
  });
}

/** Dumps the snapshot of a transaction, in which the rows are counted, too. */
async function dump(connection: Connection, start: StartProgram, partial: string) {
  await connection.query("SET statement_timeout = 0");
  await connection.query("SET idle_in_transaction_session_timeout = 0");
  await connection.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  const createdAt = new Date().toISOString();
  const schema = await readSchema(connection);
  const epoch = await readMeta(connection, "epoch");
  if (epoch === null) throw new NoDatabaseError("The database is empty: Bridge has not been started on it yet.");
  const schemaVersion = Number(await readMeta(connection, "schema_version"));
  const { rows } = await connection.query("SELECT pg_export_snapshot() AS snapshot");
  const options = ["--format=custom", "--no-owner", "--no-privileges", `--table=${quotePattern(schema)}.*`];
  const child = start("pg_dump", [...options, `--snapshot=${rows[0]?.["snapshot"]}`, `--file=${partial}`]);
  await waitForProgram(child, "pg_dump");
  const counts = toCounts((await connection.query(countsSql)).rows[0]);
  return { createdAt, schema, epoch, schemaVersion, counts };
}

/** A name without this would be a pattern, and in lower case. */
const quotePattern = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Checks that pg_restore can read the archive. */
async function listContents(start: StartProgram, partial: string): Promise<void> {
  const child = start("pg_restore", ["--list", partial], { connects: false });
  child.stdout.resume();
  await waitForProgram(child, "pg_restore");
}

/** The command without the checks of this one. */
const manualCommand = (url: string, backup: string): string =>
  `  pg_dump --format=custom --no-owner --file=${backup} '${separatePassword(url).target}'`;
