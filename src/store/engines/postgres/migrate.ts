import { readdirSync, readFileSync } from "node:fs";
import { sleep } from "@hak2i/async-kit";
import { StartError } from "../../../errors.ts";
import { type Connection, classifyFault, connect } from "./connection.ts";
import { advisoryLocks, serverClock } from "./statements.ts";

/** Maximum wait of a migration for a lock. The statements of running nodes wait behind it meanwhile. */
const LOCK_MS = 700;

/** Time for the statements that have waited, before the migration tries again. */
const PAUSE_MS = 300;

/** How often a migration tries to get its locks: for about five minutes. */
const ATTEMPTS = 300;

/** How often a node looks whether another one has ended its migration. The creation of an index can take minutes. */
const LOOK_MS = 200;

const LOOKS = 3_000;

/** Options of a migration; `directory` is for tests. */
export interface MigrateOptions {
  /** Whether the schema may be changed. */
  isAllowed?: boolean;
  directory?: URL;
}

/**
 * Brings the schema up to date while nodes of the previous version run; without `isAllowed`, refuses a schema that is not. Refuses a schema
 * with which this code cannot work. Returns the version of the schema.
 */
export async function migrate(url: string, { isAllowed = true, directory = migrationsDir }: MigrateOptions = {}): Promise<number> {
  const migrations = readMigrations(directory);
  // A change of a large table takes long.
  const connection = await connect({ url, answerMs: 0 });
  try {
    await connection.query("SET statement_timeout = 0");
    const version = await readCompatibleVersion(connection, migrations.length);
    if (version >= migrations.length) return version;
    if (!isAllowed) throw createTooOldError(version, migrations.length);
    return await upgrade(connection, migrations);
  } finally {
    // Also releases the lock of the migration, and ends a transaction that was not committed.
    connection.close();
  }
}

/** A node that starts at the same time waits for the lock, and then finds the schema up to date. */
async function upgrade(connection: Connection, migrations: readonly Migration[]): Promise<number> {
  await acquireLock(connection);
  const version = await readCompatibleVersion(connection, migrations.length);
  for (const migration of migrations.slice(version)) await retryWithLocks(connection, () => apply(connection, migration));
  return Math.max(version, migrations.length);
}

/** Does not wait for the lock inside the server, because `CREATE INDEX CONCURRENTLY` waits for the end of all such statements. */
async function acquireLock(connection: Connection): Promise<void> {
  for (let look = 0; look < LOOKS; look += 1) {
    const { rows } = await connection.query("SELECT pg_try_advisory_lock($1) AS acquired", [advisoryLocks.migration]);
    if (rows[0]?.["acquired"] === true) return;
    await sleep(LOOK_MS);
  }
  throw new StartError("Bridge cannot start: another node has been upgrading the database for 10 minutes. Start it again later.");
}

async function retryWithLocks(connection: Connection, act: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      await connection.query("ROLLBACK");
      if (classifyFault(error) !== "contention" || attempt === ATTEMPTS) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

async function apply(connection: Connection, migration: Migration): Promise<void> {
  // These statements wait for transactions of others without making anyone wait behind them.
  if (migration.isAlone) {
    await connection.query("SET lock_timeout = 0");
    for (const statement of splitStatements(migration.sql)) await connection.query(statement);
  }
  await connection.query("BEGIN ISOLATION LEVEL READ COMMITTED");
  await connection.query(`SET LOCAL lock_timeout = ${LOCK_MS}`);
  // No node joins before the commit.
  await connection.query(`SELECT pg_advisory_xact_lock(${advisoryLocks.join})`);
  await checkLiveNodes(connection, migration);
  if (!migration.isAlone) await connection.query(migration.sql);
  await connection.query(storeVersion, [String(migration.version), String(migration.compatibleFrom)]);
  await connection.query("COMMIT");
}

/** PostgreSQL runs several statements of one message in a transaction. */
const splitStatements = (sql: string): string[] =>
  sql
    .replaceAll(/^--.*$/gm, "")
    .split(/;\s*$/m)
    .filter((statement) => statement.trim() !== "");

/** Refuses a schema on which a node that is alive cannot work. */
async function checkLiveNodes(connection: Connection, { version, compatibleFrom }: Migration): Promise<void> {
  if (!(await hasTable(connection, "node"))) return;
  const { rows } = await connection.query(selectOlderNodes, [compatibleFrom]);
  if (rows.length === 0) return;
  throw new StartError(
    `Bridge cannot start: it needs schema version ${version}, with which these running nodes cannot work: ` +
      `${rows.map((row) => row["name"]).join(", ")}. Stop them first, or upgrade them to the release in between.`,
  );
}

const selectOlderNodes = `SELECT name FROM node
  WHERE state <> 'gone' AND lease_until > ${serverClock} AND schema_version < $1 ORDER BY name`;

const createTooOldError = (version: number, needed: number): StartError =>
  new StartError(
    `Bridge cannot start: the database has schema version ${version}, this Bridge needs version ${needed}, and BRIDGE_MIGRATE is off. ` +
      "Run: npx brg db migrate",
  );

/** A database keeps the highest `compatibleFrom` of its migrations. */
const storeVersion = `INSERT INTO meta (name, value) VALUES ('schema_version', $1), ('compatible_from', $2)
  ON CONFLICT (name) DO UPDATE SET value = CASE WHEN meta.name = 'schema_version' THEN excluded.value
    ELSE greatest(meta.value::int, excluded.value::int)::text END`;

/** Returns the version of the schema. Throws StartError if this code, which knows the versions up to `known`, is too old for it. */
export async function readCompatibleVersion(connection: Connection, known: number): Promise<number> {
  if (!(await hasTable(connection, "meta"))) return 0;
  const version = await readNumber(connection, "schema_version");
  if (version <= known) return version;
  const compatibleFrom = (await readNumber(connection, "compatible_from")) || version;
  if (known >= compatibleFrom) return version;
  throw new StartError(
    `Bridge cannot start: the database has schema version ${version}, which needs a Bridge that knows at least version ${compatibleFrom}, ` +
      `but this Bridge knows only versions up to ${known}. Start a newer Bridge.`,
  );
}

async function hasTable(connection: Connection, name: string): Promise<boolean> {
  const { rows } = await connection.query("SELECT to_regclass($1) IS NOT NULL AS exists", [name]);
  return rows[0]?.["exists"] === true;
}

async function readNumber(connection: Connection, name: string): Promise<number> {
  const { rows } = await connection.query("SELECT value FROM meta WHERE name = $1", [name]);
  return Number(rows[0]?.["value"] ?? 0);
}

/** A numbered SQL file. The n-th takes the schema from version n-1 to n. */
interface Migration {
  /** The version of the schema after it. */
  version: number;
  /** The statements, run together in a transaction or, with `isAlone`, one after the other outside of one. */
  sql: string;
  /** The lowest number of migrations that a Bridge must have to run on this schema. */
  compatibleFrom: number;
  /** Whether it must run outside a transaction, like `CREATE INDEX CONCURRENTLY`. It can be run again after it was interrupted. */
  isAlone: boolean;
}

/** The directory of Bridge's migrations. */
const migrationsDir = new URL("../../../../migrations/postgres/", import.meta.url);

/** Returns the migrations in order. Throws if one does not state with which versions its schema is compatible. */
export function readMigrations(directory: URL = migrationsDir): Migration[] {
  const names = readdirSync(directory)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  return names.map((name, index) => {
    const version = index + 1;
    if (Number.parseInt(name, 10) !== version) throw new Error(`Migration ${name} is out of order: expected number ${version}`);
    const sql = readFileSync(new URL(name, directory), "utf8");
    const [, compatibleFrom] = /^-- compatible-from: (\d+)$/m.exec(sql) ?? [];
    if (compatibleFrom === undefined) throw new Error(`Migration ${name} has no line "-- compatible-from: <number>"`);
    return { version, sql, compatibleFrom: Number(compatibleFrom), isAlone: /^-- alone$/m.test(sql) };
  });
}
