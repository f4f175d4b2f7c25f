import { readdirSync, readFileSync } from "node:fs";

/** A numbered SQL file. The n-th takes the schema from version n-1 to n. */
export interface Migration {
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
export const migrationsDir = new URL("../../../../migrations/postgres/", import.meta.url);

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
