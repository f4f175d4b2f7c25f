import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { inject, onTestFinished } from "vitest";
import type { AtEnd } from "../database-subject-types.ts";
import { TEMPLATE } from "./global-setup.ts";

/** A database that exists until the test ends. */
export interface TestDatabase {
  name: string;
  /** The port of its server. */
  port: number;
  /** The URL of the database, for example through a proxy at another port. */
  urlAt(port: number): string;
  /** Runs a statement, and returns its rows. */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Runs a statement in another database of the server. */
  queryServer<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

interface DatabaseOptions {
  /** Whether the database has no tables yet. */
  isEmpty?: boolean;
  /** The port of another server than that of this run. */
  port?: number;
  /** Registers the removal; default: at the end of the test. */
  atEnd?: AtEnd;
}

/** Creates a database, migrated or empty. */
export async function createDatabase(options: DatabaseOptions = {}): Promise<TestDatabase> {
  const { isEmpty = false, port = inject("postgresPort"), atEnd = onTestFinished } = options;
  const name = `test_${randomBytes(6).toString("hex")}`;
  const queryServer: TestDatabase["queryServer"] = (text, values) => queryOnce(port, "postgres", text, values);
  await queryServer(`CREATE DATABASE ${name} TEMPLATE ${isEmpty ? "template0" : TEMPLATE}`);
  atEnd(async () => void (await queryServer(`DROP DATABASE ${name} WITH (FORCE)`)));
  return { name, port, urlAt: (at) => urlOf(at, name), query: (text, values) => queryOnce(port, name, text, values), queryServer };
}

const urlOf = (port: number, name: string): string => `postgres://bridge@127.0.0.1:${port}/${name}`;

/** Uses a new connection, so that no connection remains when the server stops. */
async function queryOnce<Row extends object>(port: number, name: string, text: string, values: readonly unknown[] = []): Promise<Row[]> {
  const client = new Client(urlOf(port, name));
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
