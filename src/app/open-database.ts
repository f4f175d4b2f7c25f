import type { Config } from "../config/config.ts";
import type { DatabaseOptions, OpenedDatabase } from "./opened-database.ts";

/** Opens the configured database. Loads only the code that it needs, because engines take memory. */
export async function openDatabase(config: Config, options: DatabaseOptions): Promise<OpenedDatabase> {
  const { databaseUrl } = config;
  if (databaseUrl === null) return (await import("./open-sqlite.ts")).openSqlite(config, options);
  return (await import("./open-postgres.ts")).openPostgres({ ...config, databaseUrl }, options);
}
