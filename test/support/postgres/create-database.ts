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
  const queryServer = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
    (await (await openServer(port)).query<Row>(text, [...values])).rows;
  await queryServer(`CREATE DATABASE ${name} TEMPLATE ${isEmpty ? "template0" : TEMPLATE} ${await findCopyOption(port)}`);
  atEnd(async () => void (await queryServer(`DROP DATABASE ${name} WITH (FORCE)`)));
  return { name, port, urlAt: (at) => urlOf(at, name), query: (text, values) => queryOnce(port, name, text, values), queryServer };
}

/** The open connections of this process, by the port of their server. */
const servers = new Map<number, Promise<Client>>();

/** Returns a connection that all tests of this process share, because opening one takes as long as copying a database. */
function openServer(port: number): Promise<Client> {
  const found = servers.get(port);
  if (found !== undefined) return found;
  const client = new Client(urlOf(port, "postgres"));
  const opening = client.connect().then(() => client);
  // A test may stop the server, and start it again on the same port.
  const forget = (): void => {
    if (servers.get(port) === opening) servers.delete(port);
  };
  client.on("error", forget).on("end", forget);
  opening.catch(forget);
  servers.set(port, opening);
  return opening;
}

/** Returns the option that copies a database by file, which takes a third of the time. PostgreSQL 14 has no other way. */
async function findCopyOption(port: number): Promise<string> {
  const [found] = (
    await (await openServer(port)).query<{ isNew: boolean }>(`SELECT current_setting('server_version_num')::int >= 150000 AS "isNew"`)
  ).rows;
  return found?.isNew === true ? "STRATEGY file_copy" : "";
}

const urlOf = (port: number, name: string): string => `postgres://bridge@127.0.0.1:${port}/${name}`;

/** Uses a new connection, so that no connection to the database remains when it is removed. */
async function queryOnce<Row extends object>(port: number, name: string, text: string, values: readonly unknown[] = []): Promise<Row[]> {
  const client = new Client(urlOf(port, name));
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
