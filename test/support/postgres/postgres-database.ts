import type { AtEnd, DatabaseSubject } from "../database-subject-types.ts";
import { createDatabase } from "./create-database.ts";
import { openNode } from "./open-node.ts";

const END_LIMIT_MS = 10_000;

const subjects = new Map<string, Promise<DatabaseSubject>>();

/** The database of a data directory on the server of this run. The first call creates it. */
export function postgresDatabaseOf(dataDir: string, atEnd: AtEnd): Promise<DatabaseSubject> {
  const known = subjects.get(dataDir);
  if (known !== undefined) return known;
  const created = createSubject((act) => atEnd(act));
  subjects.set(dataDir, created);
  atEnd(() => void subjects.delete(dataDir));
  return created;
}

async function createSubject(atEnd: AtEnd): Promise<DatabaseSubject> {
  const { name, port, urlAt, query, queryServer } = await createDatabase({ atEnd });
  const url = urlAt(port);
  /** A session keeps the settings with which it began, so all sessions begin again. Resolves when they have ended, or after 10 s each. */
  const endSessions = () =>
    queryServer(`SELECT pg_terminate_backend(pid, ${END_LIMIT_MS}) FROM pg_stat_activity WHERE datname = $1`, [name]);
  return {
    // Bridge does not start on PostgreSQL without a decision about the sandbox.
    settings: { BRIDGE_DATABASE_URL: url, BRIDGE_SANDBOX: "off" },
    openStore: async ({ clock } = {}) => (await openNode({ url, node: "node-1", clock })).store,
    query: (sql) => query(sql),
    async stopWrites() {
      await queryServer(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
      await endSessions();
      return async () => {
        await queryServer(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
        await endSessions();
      };
    },
  };
}
