import { readdirSync, readFileSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { StartError } from "../../../errors.ts";

const migrationsDir = new URL("../../../../migrations/", import.meta.url);

/** The numbered SQL files, in order; the n-th takes the schema from version n-1 to n. */
function readMigrations(): { name: string; sql: string }[] {
  const names = readdirSync(migrationsDir)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  return names.map((name, index) => {
    if (Number.parseInt(name, 10) !== index + 1) throw new Error(`Migration ${name} is out of order: expected number ${index + 1}`);
    return { name, sql: readFileSync(new URL(name, migrationsDir), "utf8") };
  });
}

/** Returns the newest version of the schema that this code knows. */
export const countMigrations = (): number => readMigrations().length;

/** Brings the schema up to date in one transaction; refuses a schema newer than this code knows. Returns its version. */
export function migrate(database: Database): number {
  const migrations = readMigrations();
  const upgrade = database.transaction(() => {
    const version = Number(database.pragma("user_version", { simple: true }));
    if (version > migrations.length) {
      throw new StartError(
        `The database has schema version ${version}, but this Bridge knows only versions up to ${migrations.length}. ` +
          "Start the Bridge that wrote it, or a newer one.",
      );
    }
    for (const { sql } of migrations.slice(version)) database.exec(sql);
    database.pragma(`user_version = ${migrations.length}`);
  });
  upgrade.immediate();
  return migrations.length;
}
