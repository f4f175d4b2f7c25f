import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import { vi } from "vitest";
import { openStore } from "../../src/store/open-sqlite.ts";
import type { DatabaseSubject } from "./database-subject-types.ts";

/** The SQLite file in a data directory, which is removed together with the directory. */
export function sqliteDatabaseOf(dataDir: string): DatabaseSubject {
  const file = path.join(dataDir, "bridge.db");
  return {
    settings: {},
    openStore: async ({ clock } = {}) => openStore({ file, ...(clock && { clock }) }),
    async query<Row extends object>(sql: string) {
      const database = new SqliteDatabase(file);
      try {
        const statement = database.prepare(sql);
        if (statement.reader) return statement.all() as Row[];
        statement.run();
        return [];
      } finally {
        database.close();
      }
    },
    /** Holds the write lock, which has the same effect on the store as a full disk. */
    async stopWrites() {
      const blocker = new SqliteDatabase(file, { timeout: 0 });
      await vi.waitFor(() => blocker.exec("BEGIN IMMEDIATE"));
      return async () => void blocker.close();
    },
  };
}
