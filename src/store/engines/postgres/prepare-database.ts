import { DatabaseError } from "pg";
import { StartError } from "../../../errors.ts";
import { type Connection, connect, DatabaseUnavailableError, SHARED_SESSIONS } from "./connection.ts";
import { migrate } from "./migrate.ts";

const MIN_VERSION = 14;

/** Brings the schema of a database up to date, or refuses one that is not. Throws StartError if the database cannot be used. */
export async function prepareDatabase(url: string, migrates: boolean): Promise<void> {
  try {
    await checkServer(url);
    await migrate(url, { isAllowed: migrates });
  } catch (error) {
    throw explainStartError(error, url);
  }
}

/** Brings the schema of a database up to date. Returns its version. Throws StartError if the database cannot be used. */
export async function migrateDatabase(url: string): Promise<number> {
  try {
    await checkServer(url);
    return await migrate(url);
  } catch (error) {
    throw explainStartError(error, url);
  }
}

async function checkServer(url: string): Promise<void> {
  const connection = await connect({ url });
  try {
    const { rows } = await connection.query("SELECT current_setting('server_version_num')::int AS version");
    checkVersion(Number(rows[0]?.["version"]));
    const other = await connect({ url });
    try {
      if (await shareSessions(connection, other)) throw new StartError(`Bridge cannot start: ${SHARED_SESSIONS}`);
    } finally {
      other.close();
    }
  } finally {
    connection.close();
  }
}

/** Whether a pooler uses one session of the server for both connections. */
export async function shareSessions(first: Connection, second: Connection): Promise<boolean> {
  const before = await readProcess(first);
  await second.query("BEGIN");
  const [other, after] = [await readProcess(second), await readProcess(first)];
  await second.query("ROLLBACK");
  return other === before || after !== before;
}

/** The server process of the session. */
const readProcess = async (connection: Connection): Promise<unknown> =>
  (await connection.query("SELECT pg_backend_pid() AS process")).rows[0]?.["process"];

/** Throws StartError if PostgreSQL is too old; `version` is its `server_version_num`, for example 150004. */
export function checkVersion(version: number): void {
  const major = Math.floor(version / 10_000);
  if (major >= MIN_VERSION) return;
  throw new StartError(
    `Bridge cannot start: the server of BRIDGE_DATABASE_URL runs PostgreSQL ${major}, but Bridge needs version ${MIN_VERSION} or newer. Upgrade the server.`,
  );
}

/** Returns the error with which Bridge does not start. Never contains the password. */
export function explainStartError(error: unknown, url: string): unknown {
  const { host, username, pathname } = new URL(url);
  const [user, database] = [username, pathname.slice(1)].map(decodeURIComponent);
  const fail = (text: string): StartError => new StartError(`Bridge cannot start: ${text}`, { cause: error });
  if (error instanceof DatabaseUnavailableError) {
    const reason = error.cause instanceof Error ? describeCause(error.cause) : error.message;
    return fail(
      `the PostgreSQL server ${host} of BRIDGE_DATABASE_URL cannot be used: ${reason.replace(/\.?$/, ".")} Check the address and the server.`,
    );
  }
  if (!(error instanceof DatabaseError)) return error;
  if (error.code === "28P01" || error.code === "28000")
    return fail(
      `the PostgreSQL server ${host} rejects the user ${user}: ${error.message}. Check the user and the password in BRIDGE_DATABASE_URL.`,
    );
  if (error.code === "3D000")
    return fail(
      `the PostgreSQL server ${host} has no database ${database}. Create it (createdb ${database}), or correct BRIDGE_DATABASE_URL.`,
    );
  if (error.code === "42501")
    return fail(
      `the user ${user} has no permission to create tables in the database ${database} of ${host}: ${error.message}. Make the user its owner.`,
    );
  return fail(`the database of BRIDGE_DATABASE_URL on ${host} cannot be used: ${error.message}.`);
}

/** A connection attempt to several addresses fails with one error for each. */
const describeCause = (cause: Error): string =>
  cause instanceof AggregateError ? cause.errors.map((error: Error) => error.message).join("; ") : cause.message;
