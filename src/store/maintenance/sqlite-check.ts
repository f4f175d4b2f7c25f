import type { Database } from "better-sqlite3";
import { NoDatabaseError } from "../../errors.ts";
import { openReadOnly } from "../engines/sqlite/database-file.ts";
import { isDamage } from "../engines/sqlite/faults.ts";
import { countMigrations } from "../engines/sqlite/migrate.ts";
import { countsSql, type DatabaseCounts, toCounts } from "./backup-file.ts";
import { type DatabaseReport, describeBroken, invariants } from "./invariants.ts";

/** Maximum faults that SQLite reports. */
const MAX_FAULTS = 20;

/** Checks a database file without changing it, also while Bridge runs. Throws StartError if it cannot be read. */
export function checkDatabase(file: string): DatabaseReport {
  const database = openReadOnly(file);
  try {
    // One transaction sees the state of one moment, while Bridge goes on writing. It is not committed, because SQLite cannot commit a
    // transaction that has read a damaged page.
    database.exec("BEGIN");
    return inspect(database, file);
  } finally {
    database.close();
  }
}

function inspect(database: Database, file: string): DatabaseReport {
  const schemaVersion = Number(database.pragma("user_version", { simple: true }));
  const knownSchemaVersion = countMigrations();
  const faults = findFaults(database);
  if (faults.length === 0 && schemaVersion === 0) {
    if (!hasTables(database)) throw new NoDatabaseError(`The database ${file} contains no tables of Bridge. Start Bridge.`);
    if (!isOfBridge(database))
      throw new NoDatabaseError(`The database ${file} contains tables of another program, and none of Bridge. Check BRIDGE_DATABASE_URL.`);
    faults.push("the file contains tables but no schema version (PRAGMA user_version is 0), so it is not a complete database of Bridge");
  }
  // The tables of a damaged file may not be readable, and older schemas lack some.
  if (faults.length === 0 && schemaVersion === knownSchemaVersion) faults.push(...findBrokenRules(database));
  if (schemaVersion > knownSchemaVersion)
    faults.push(`the schema has version ${schemaVersion}, and this Bridge knows only versions up to ${knownSchemaVersion}`);
  return {
    engine: "sqlite",
    database: file,
    schemaVersion,
    knownSchemaVersion,
    epoch: readIfPossible(() => readEpoch(database)),
    counts: readIfPossible(() => readCounts(database)),
    faults,
  };
}

/** Reads every page, and compares the indexes with their tables, which takes longer than the check of a start. */
export function findFaults(database: Database): string[] {
  try {
    const found = checkIntegrity(database, `${MAX_FAULTS}`);
    if (found.length > 0) return nameTrees(database, found);
    const orphans = database.pragma("foreign_key_check") as { table: string; parent: string }[];
    return [...new Set(orphans.map(({ table, parent }) => `rows of the table ${table} refer to missing rows of ${parent}`))];
  } catch (error) {
    if (!isDamage(error)) throw error;
    // The error names no table. One fault is enough, because restore and backup report only the first.
    const tables = readIfPossible(() => findDamagedTables(database)) ?? [];
    const { message } = error as Error;
    return tables.length === 0 ? [message] : tables.map((table) => `${message}: the table ${table} or one of its indexes`);
  }
}

function checkIntegrity(database: Database, scope: string): string[] {
  return (database.pragma(`integrity_check(${scope})`) as { integrity_check: string }[])
    .map((row) => row.integrity_check.replaceAll(/\s+/g, " "))
    .filter((text) => text !== "ok");
}

function findDamagedTables(database: Database): string[] {
  const tables = database.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0").pluck().all();
  return tables.filter((table) => {
    try {
      return checkIntegrity(database, `'${table.replaceAll("'", "''")}'`).length > 0;
    } catch (error) {
      if (isDamage(error)) return true;
      throw error;
    }
  });
}

/** Adds the name of the table or index to each fault that names only the number of its tree, such as `Tree 7 page 9`. */
function nameTrees(database: Database, faults: readonly string[]): string[] {
  const trees = readIfPossible(() =>
    database.prepare<[], { rootpage: number; type: string; name: string }>("SELECT rootpage, type, name FROM sqlite_schema").all(),
  );
  const names = new Map(trees?.map(({ rootpage, type, name }) => [String(rootpage), `${type} ${name}`]));
  return faults.map((fault) =>
    fault.replaceAll(/\bTree (\d+)/g, (tree, root: string) => (names.has(root) ? `${tree} (${names.get(root)})` : tree)),
  );
}

const isOfBridge = (database: Database): boolean =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE name IN ('task', 'event') LIMIT 1").get() !== undefined;

/** Whether the file contains any table. */
export const hasTables = (database: Database): boolean => database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== undefined;

function findBrokenRules(database: Database): string[] {
  const broken = invariants.flatMap((invariant) => {
    const rows = database.prepare(invariant.sql).all() as Record<string, unknown>[];
    return rows.length === 0 ? [] : [describeBroken(invariant, rows)];
  });
  const { last, counted } = database
    .prepare("SELECT coalesce(max(number), 0) AS last, (SELECT value FROM counter WHERE name = 'event') AS counted FROM event")
    .get() as { last: number; counted: number };
  return last <= counted ? broken : [...broken, `the event ${last} has a number above the counter of events, which is ${counted}`];
}

/** Returns the epoch of the event ids; null if no Bridge has used the database yet. */
export function readEpoch(database: Database): string | null {
  const row = database.prepare("SELECT value FROM meta WHERE name = 'epoch'").get() as { value: string } | undefined;
  return row?.value ?? null;
}

/** Counts the rows of the tables. */
export const readCounts = (database: Database): DatabaseCounts => toCounts(database.prepare(countsSql).get() as Record<string, unknown>);

/** Returns null if SQLite cannot read the tables. */
function readIfPossible<T>(act: () => T): T | null {
  try {
    return act();
  } catch {
    return null;
  }
}
