import { onTestFinished } from "vitest";
import type { Store } from "../../src/store/store.ts";
import type { AtEnd, DatabaseSubject } from "./database-subject-types.ts";

/** The engine of the Bridges and stores that tests start: SQLite, or with `BRIDGE_TEST_DATABASE=postgres` PostgreSQL. */
export const engine: "sqlite" | "postgres" = process.env["BRIDGE_TEST_DATABASE"] === "postgres" ? "postgres" : "sqlite";

/**
 * Returns the database of a data directory: always the same one, so that a Bridge that starts again finds its data. `atEnd` removes it;
 * callers outside of a test pass their own.
 */
export async function databaseOf(dataDir: string, atEnd: AtEnd = onTestFinished): Promise<DatabaseSubject> {
  if (engine === "sqlite") return (await import("./sqlite-database.ts")).sqliteDatabaseOf(dataDir);
  return (await import("./postgres/postgres-database.ts")).postgresDatabaseOf(dataDir, atEnd);
}

/** Opens the store of a directory, by default of a new one. The caller closes the store. */
export async function openTestStore(dataDir: string, options?: Parameters<DatabaseSubject["openStore"]>[0]): Promise<Store> {
  return (await databaseOf(dataDir)).openStore(options);
}
