import { Client } from "pg";
import type { TestProject } from "vitest/node";
import { migrate } from "../../../src/store/engines/postgres/migrate.ts";
import { startCluster } from "./cluster.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Port of the PostgreSQL server of this run. */
    postgresPort: number;
  }
}

/** The database that `createDatabase` copies. */
export const TEMPLATE = "migrated";

/**
 * Starts the PostgreSQL server of a test run, with a migrated database to copy. If the run is killed, the reaper of the harness kills the
 * server.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCluster();
  try {
    const admin = new Client(cluster.urlOf("postgres"));
    await admin.connect();
    await admin.query(`CREATE DATABASE ${TEMPLATE}`);
    await admin.end();
    await migrate(cluster.urlOf(TEMPLATE));
  } catch (error) {
    await cluster.close();
    throw error;
  }
  project.provide("postgresPort", cluster.port);
  return () => cluster.close();
}
