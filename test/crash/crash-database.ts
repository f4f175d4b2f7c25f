import { Client } from "pg";
import { type PostgresCluster, startCluster } from "../support/postgres/cluster.ts";
import { createSabotage, forgetReservations, type SqliteSabotage } from "./sabotage.ts";
import { readPostgresSpending, readSqliteSpending, type StoredSpending } from "./stored-spending.ts";
import { readPostgresState, readStoredState, type StoredState } from "./stored-state.ts";

/** Ways to disable durability and the settlement of reservations, by engine. */
export const sabotages = { sqlite: ["wal", "copy", "budgets"], postgres: ["async", "copy", "budgets"] } as const;
export type Engine = keyof typeof sabotages;
export type Sabotage = (typeof sabotages)[Engine][number];

/** What happens to the database while Bridge runs: the server crashes and starts again, or it ends all sessions. */
export const databaseFaults = ["crash", "sessions"] as const;
export type DatabaseFault = (typeof databaseFaults)[number];

/** The database of a crash test. */
export interface CrashDatabase {
  /** Settings of Bridge. */
  environment: Readonly<Record<string, string>>;
  faults: readonly DatabaseFault[];
  strike(fault: DatabaseFault): Promise<void>;
  /** Called after each kill, while Bridge is not running. Loses commits if the run is sabotaged. */
  onKilled(): Promise<void>;
  readState(): Promise<StoredState>;
  readSpending(): Promise<StoredSpending>;
  close(): Promise<void>;
}

/** The SQLite file of a Bridge. */
export function openSqliteDatabase(databaseFile: string, sabotage?: SqliteSabotage): CrashDatabase {
  const damage = sabotage === undefined ? () => {} : createSabotage(sabotage, databaseFile);
  return {
    environment: {},
    faults: [],
    async strike() {},
    async onKilled() {
      damage();
    },
    readState: async () => readStoredState(databaseFile),
    readSpending: async () => readSqliteSpending(databaseFile),
    async close() {},
  };
}

/**
 * A crash of this server loses all commits that do not wait for the disk, which Bridge's do although this is not the default. The
 * background writer and autovacuum are off, because they write the log to the disk before they write a page.
 */
const forgetfulServer = {
  synchronous_commit: "off",
  wal_writer_delay: "10s",
  wal_writer_flush_after: "1GB",
  bgwriter_lru_maxpages: "0",
  autovacuum: "off",
};
const [NAME, OLDER] = ["crash_test", "crash_test_older"];

/** An empty database on a separate PostgreSQL server. */
export async function openPostgresDatabase(sabotage?: (typeof sabotages)["postgres"][number]): Promise<CrashDatabase> {
  const server = await startCluster(forgetfulServer);
  const url = server.urlOf(NAME);
  try {
    await run(server, `CREATE DATABASE ${NAME}`);
    if (sabotage === "async") await keepAsynchronous(server);
  } catch (error) {
    await server.close();
    throw error;
  }
  let kills = 0;
  return {
    environment: { BRIDGE_DATABASE_URL: url, BRIDGE_SANDBOX: "off" },
    faults: databaseFaults,
    async strike(fault) {
      if (fault === "crash") await server.crashAndRestart();
      else await endSessions(server);
    },
    async onKilled() {
      kills += 1;
      if (sabotage === "async") await server.crashAndRestart();
      if (sabotage === "budgets") await run(server, forgetReservations, NAME);
      if (sabotage === "copy") await copyDatabase(server, kills % 2 === 1 ? [NAME, OLDER] : [OLDER, NAME]);
    },
    readState: () => readPostgresState(url),
    readSpending: () => readPostgresSpending(url),
    close: () => server.close(),
  };
}

/** Hides from Bridge the function with which it makes its commits wait for the disk. */
async function keepAsynchronous(server: PostgresCluster): Promise<void> {
  await run(server, `ALTER DATABASE ${NAME} SET search_path = public, pg_catalog`);
  const setOthers = "SELECT CASE WHEN $1 = 'synchronous_commit' THEN $2 ELSE pg_catalog.set_config($1, $2, $3) END";
  await run(server, `CREATE FUNCTION public.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS $f$ ${setOthers} $f$`, NAME);
}

async function copyDatabase(server: PostgresCluster, [from, to]: readonly [string, string]): Promise<void> {
  await endSessions(server);
  await run(server, `DROP DATABASE IF EXISTS ${to}`);
  await run(server, `CREATE DATABASE ${to} TEMPLATE ${from}`);
}

const endSessions = (server: PostgresCluster): Promise<void> =>
  run(server, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${NAME}'`);

async function run(server: PostgresCluster, sql: string, database = "postgres"): Promise<void> {
  const client = new Client(server.urlOf(database));
  await client.connect();
  await client.query(sql);
  await client.end();
}
