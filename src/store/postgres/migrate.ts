import { readdirSync, readFileSync } from "node:fs";
import { StartError } from "../../errors.ts";
import { advisoryLocks } from "./advisory-locks.ts";
import { type Connection, classifyFault, connect } from "./connection.ts";

const migrationsDir = new URL("../../../migrations/postgres/", import.meta.url);
/** Waits for another node's migration, each as long as the lock timeout of the session. */
const ATTEMPTS = 30;

/** A numbered SQL file. The n-th takes the schema from version n-1 to n. */
interface Migration {
  sql: string;
  /** The lowest number of migrations that a Bridge must have to run on this schema. */
  compatibleFrom: number;
}

/**
 * Brings the schema up to date in one transaction; without `isAllowed`, refuses a schema that is not. Refuses a schema with which this code
 * cannot work. Returns the version of the schema.
 */
export async function migrate(url: string, { isAllowed = true, directory = migrationsDir } = {}): Promise<number> {
  const migrations = readMigrations(directory);
  const connection = await connect({ url });
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return isAllowed ? await upgrade(connection, migrations) : await check(connection, migrations);
      } catch (error) {
        await connection.query("ROLLBACK");
        if (classifyFault(error) !== "contention" || attempt === ATTEMPTS) throw error;
      }
    }
  } finally {
    connection.close();
  }
}

/** A node that starts at the same time waits for the lock, and then finds the schema up to date. */
async function upgrade(connection: Connection, migrations: readonly Migration[]): Promise<number> {
  await connection.query("BEGIN ISOLATION LEVEL READ COMMITTED");
  await connection.query("SELECT pg_advisory_xact_lock($1)", [advisoryLocks.migration]);
  const version = await readCompatibleVersion(connection, migrations.length);
  const missing = migrations.slice(version);
  for (const { sql } of missing) await connection.query(sql);
  const compatibleFrom = missing.reduce((highest, migration) => Math.max(highest, migration.compatibleFrom), 0);
  if (missing.length > 0) await connection.query(storeVersion, [String(migrations.length), String(compatibleFrom)]);
  await connection.query("COMMIT");
  return Math.max(version, migrations.length);
}

async function check(connection: Connection, { length }: readonly Migration[]): Promise<number> {
  const version = await readCompatibleVersion(connection, length);
  if (version >= length) return version;
  throw new StartError(
    `Bridge cannot start: the database has schema version ${version}, this Bridge needs version ${length}, and BRIDGE_MIGRATE is off. ` +
      "Run: node src/main.ts migrate",
  );
}

/** A database keeps the highest `compatibleFrom` of its migrations. */
const storeVersion = `INSERT INTO meta (name, value) VALUES ('schema_version', $1), ('compatible_from', $2)
  ON CONFLICT (name) DO UPDATE SET value = CASE WHEN meta.name = 'schema_version' THEN excluded.value
    ELSE greatest(meta.value::int, excluded.value::int)::text END`;

/** Returns the version of the schema. Throws if this code, which knows the versions up to `known`, is too old for it. */
async function readCompatibleVersion(connection: Connection, known: number): Promise<number> {
  const version = await readNumber(connection, "schema_version");
  if (version <= known) return version;
  const compatibleFrom = (await readNumber(connection, "compatible_from")) || version;
  if (known >= compatibleFrom) return version;
  throw new StartError(
    `Bridge cannot start: the database has schema version ${version}, which needs a Bridge that knows at least version ${compatibleFrom}, ` +
      `but this Bridge knows only versions up to ${known}. Start a newer Bridge.`,
  );
}

async function readNumber(connection: Connection, name: string): Promise<number> {
  const { rows } = await connection.query("SELECT to_regclass('meta') IS NOT NULL AS exists");
  if (rows[0]?.["exists"] !== true) return 0;
  const found = await connection.query("SELECT value FROM meta WHERE name = $1", [name]);
  return Number(found.rows[0]?.["value"] ?? 0);
}

/** The migrations in order. Throws if one does not state with which versions its schema is compatible. */
function readMigrations(directory: URL): Migration[] {
  const names = readdirSync(directory)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  return names.map((name, index) => {
    if (Number.parseInt(name, 10) !== index + 1) throw new Error(`Migration ${name} is out of order: expected number ${index + 1}`);
    const sql = readFileSync(new URL(name, directory), "utf8");
    const [, compatibleFrom] = /^-- compatible-from: (\d+)$/m.exec(sql) ?? [];
    if (compatibleFrom === undefined) throw new Error(`Migration ${name} has no line "-- compatible-from: <number>"`);
    return { sql, compatibleFrom: Number(compatibleFrom) };
  });
}
