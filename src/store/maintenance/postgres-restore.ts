import { randomBytes } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { DatabaseError } from "pg";
import { ConflictError, StartError } from "../../errors.ts";
import { type Connection, connect, describeDatabase, readMeta, readSchema } from "../engines/postgres/connection.ts";
import { readMigrations } from "../engines/postgres/migrate.ts";
import { explainStartError } from "../engines/postgres/prepare-database.ts";
import { advisoryLocks } from "../engines/postgres/statements.ts";
import { endNodes, selectLiving, upsertEpoch } from "../events/postgres-epoch.ts";
import { type BackupManifest, describeTasks, findsDataSql, type Restored, type RestoreOptions, readBackup } from "./backup-file.ts";
import { findPrograms, readServerMajor, type StartProgram, separatePassword, waitForProgram } from "./postgres-programs.ts";

/**
 * Replaces Bridge's tables by those of a backup, with a new epoch of event ids, in one transaction: a crash leaves the old or the new
 * tables. Refuses while a node is alive, and a database with tasks unless `isForced`. Throws StartError.
 */
export async function restoreDatabase(url: string, backup: string, { isForced, hasManifest }: RestoreOptions): Promise<Restored> {
  if (!hasManifest)
    throw new StartError(`Without a manifest, only SQLite databases are restored. Use pg_restore:\n\n${manualCommands(url, backup)}`);
  const manifest = await readBackup(backup, "postgres");
  const connection = await connect({ url }).catch((error: unknown) => {
    throw explainStartError(error, url);
  });
  try {
    checkVersion(manifest);
    const { tables, tasks: replacedTasks } = await checkTarget(connection, manifest, { url, isForced });
    const major = await readServerMajor(connection);
    const start = await findPrograms(["pg_restore", "psql"], { url, major, manual: manualCommands(url, backup) });
    const epoch = randomBytes(5).toString("hex");
    await runRestore(start, backup, { before: beginSql(manifest, tables), after: endSql(manifest, epoch) });
    const { createdAt, schemaVersion, counts } = manifest;
    return { createdAt, schemaVersion, counts, epoch, replaced: null, replacedTasks };
  } finally {
    connection.close();
  }
}

function checkVersion({ schemaVersion, bridgeVersion }: BackupManifest): void {
  const known = readMigrations().length;
  if (schemaVersion <= known) return;
  throw new StartError(
    `The backup has schema version ${schemaVersion} (Bridge ${bridgeVersion}), but this Bridge knows only versions up to ${known}. Install that Bridge, or a newer one.`,
  );
}

/** Returns the tables that the backup replaces, and the number of tasks in them. */
async function checkTarget(
  connection: Connection,
  { schema }: BackupManifest,
  { url, isForced }: { url: string; isForced: boolean },
): Promise<{ tables: string[]; tasks: number | null }> {
  const target = describeDatabase(url);
  const current = await readSchema(connection);
  if (current !== schema)
    throw new ConflictError(`The backup contains the schema ${schema}, and the tables of the database ${target} would be in ${current}.`);
  const { rows } = await connection.query("SELECT tablename FROM pg_tables WHERE schemaname = $1 ORDER BY tablename", [current]);
  const tables = rows.map((row) => String(row["tablename"]));
  if (tables.length === 0) return { tables, tasks: 0 };
  if ((await readMeta(connection, "schema_version").catch(() => null)) === null)
    throw new ConflictError(
      `The database ${target} contains tables of another program: ${tables.slice(0, 5).join(", ")}. Use another database.`,
    );
  const { rows: living } = await connection.query(selectLiving);
  if (living.length > 0)
    throw new ConflictError(
      `The database cannot be restored while nodes are running: ${living.map((row) => `${row["name"]} (${row["seconds"]} s)`).join(", ")}. ` +
        "Stop them. If they do not run, wait until their leases are over.",
    );
  const { rows: data } = await connection.query(findsDataSql);
  const tasks = await countTasks(connection);
  if (data[0]?.["found"] === true && !isForced)
    throw new ConflictError(
      `The database ${target} ${describeTasks(tasks)}. To replace them, make a backup (brg db backup), and repeat the command with --force.`,
    );
  return { tables, tasks };
}

/** Returns null if the tasks cannot be counted in time, which must not prevent a restore. */
async function countTasks(connection: Connection): Promise<number | null> {
  try {
    return Number((await connection.query("SELECT count(*) AS tasks FROM task")).rows[0]?.["tasks"]);
  } catch (error) {
    if (error instanceof DatabaseError) return null;
    throw error;
  }
}

/** Runs the script of pg_restore in psql, between the two parts of one transaction. Without the last part, nothing is committed. */
async function runRestore(start: StartProgram, backup: string, { before, after }: { before: string; after: string }): Promise<void> {
  const session = start("psql", ["--no-psqlrc", "--quiet", "--output=/dev/null", "--set=ON_ERROR_STOP=1", "--file=-"]);
  const archive = startScript(start, backup);
  const written = async (): Promise<void> => {
    session.stdin.write(before);
    await Promise.all([pipeline(archive.stdout, session.stdin, { end: false }), waitForProgram(archive, "pg_restore")]);
    session.stdin.end(after);
  };
  // If pg_restore fails, psql gets no COMMIT. If psql fails, its error explains why the pipe broke.
  const [ended, sent] = await Promise.allSettled([
    waitForProgram(session, "psql"),
    written().catch((error: unknown) => {
      session.stdin.destroy();
      throw error;
    }),
  ]);
  for (const { reason } of [ended, sent].filter((one) => one.status === "rejected")) throw reason;
}

/** Prints the script that creates the tables. pg_restore connects to no database for this. */
const startScript = (start: StartProgram, backup: string) =>
  start("pg_restore", ["--no-owner", "--no-privileges", "--file=-", backup], { connects: false });

/** No node joins before the commit. */
function beginSql({ schema }: BackupManifest, tables: readonly string[]): string {
  const lock = `BEGIN;\nSET search_path TO ${quote(schema)};\nSELECT pg_advisory_xact_lock(${advisoryLocks.join});\n`;
  if (tables.length === 0) return lock;
  const check = raiseIf(`EXISTS (${selectLiving})`, "A node was started meanwhile. Stop it, and repeat the command.");
  return `${lock}${check}DROP TABLE ${tables.map((table) => `${quote(schema)}.${quote(table)}`).join(", ")} CASCADE;\n`;
}

/**
 * Verifies what was restored, and starts the new epoch. The timeline is that of the server that made the backup, so another server would
 * start an epoch once more.
 */
function endSql({ schema, counts }: BackupManifest, epoch: string): string {
  const differs = Object.entries({ task: counts.tasks, event: counts.events, callback: counts.callbacks, approval: counts.approvals })
    .map(([table, count]) => `(SELECT count(*) FROM ${table}) <> ${count}`)
    .join(" OR ");
  return `
SET search_path TO ${quote(schema)};
${raiseIf(differs, "The backup contains other numbers of rows than its manifest.")}
${upsertEpoch.replace("$1", `'${epoch}'`)};
DELETE FROM meta WHERE name = 'timeline';
${endNodes};
COMMIT;
`;
}

const raiseIf = (condition: string, message: string): string =>
  `DO $check$ BEGIN IF ${condition} THEN RAISE EXCEPTION '${message}'; END IF; END $check$;\n`;

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The commands without the checks of this one. */
function manualCommands(url: string, backup: string): string {
  const { target } = separatePassword(url);
  return `  pg_restore --single-transaction --exit-on-error --no-owner --dbname='${target}' ${backup}   # into an empty database\n  brg db renew-epoch`;
}
