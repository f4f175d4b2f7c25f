import { Client, DatabaseError, types } from "pg";

/**
 * Time limits of a session. A client that freezes inside a transaction holds its locks until `idle_in_transaction_session_timeout`. Others
 * wait longer than that for a lock, and a statement may take longer than its wait for a lock.
 */
const IDLE_IN_TRANSACTION_MS = 5_000;

const LOCK_MS = 10_000;

const STATEMENT_MS = 30_000;

/** When Bridge gives up a connection that no longer answers. */
const ANSWER_MS = 35_000;

const CONNECT_MS = 5_000;

const KEEP_ALIVE_AFTER_MS = 10_000;

/** Why a pooler in another mode than that of sessions cannot be used. */
export const SHARED_SESSIONS =
  "A pooler moves the connection between sessions of PostgreSQL. Set pool_mode = session in PgBouncer, or connect to the server itself.";

/** A value that a statement receives. Arrays become arrays of PostgreSQL. */
export type Value = string | number | null | readonly (string | number | null)[];

/** A row as PostgreSQL returns it. `bigint` columns are numbers. */
export type Row = Record<string, string | number | boolean | null>;

/** A statement that stays prepared on its connection, under a name that is unique to its text. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/**
 * The result of a statement. `command` is the tag that the server returns, without counts: `COMMIT`, `INSERT`. A text of several statements
 * has the rows of all of them and the tag of the last one.
 */
export interface Result {
  readonly command: string;
  readonly rows: readonly Row[];
}

/** How a connection is opened. */
export interface ConnectionOptions {
  url: string;
  /** Milliseconds without an answer after which the connection counts as lost. */
  answerMs?: number;
  /** Called with each notification of a channel that this session listens to. */
  onNotification?(notification: Notification): void;
  /** Called once when the connection is lost or closed. */
  onLost?(): void;
}

/** A notification, and the id of the server process whose session has sent it. */
export interface Notification {
  readonly processId: number;
  readonly payload: string;
}

/** One session of PostgreSQL. Statements are sent at once and run in order, even if their caller does not wait between them. */
export interface Connection {
  /** Whether the server or the network has ended the connection. */
  readonly isLost: boolean;
  query(statement: Statement | string, values?: readonly Value[]): Promise<Result>;
  /**
   * Sends the statements of `send` in one packet sequence, without waiting for answers in between. Throws the first error in the order of
   * the statements, after all of them have an answer.
   */
  together<T extends readonly unknown[]>(send: () => { [K in keyof T]: Promise<T[K]> }): Promise<T>;
  /** Ends the session. Does not wait for statements that still run: they fail. */
  close(): void;
}

/** PostgreSQL cannot be reached, or the connection was lost before the server answered, so that the effect of a statement is unknown. */
export class DatabaseUnavailableError extends Error {
  override readonly name = "DatabaseUnavailableError";
}

/** Opens a session on a server that accepts writes. */
export async function connect({ url, answerMs = ANSWER_MS, onNotification, onLost }: ConnectionOptions): Promise<Connection> {
  const client = new Client({
    connectionString: url,
    application_name: "bridge",
    pipeline: true,
    types: { getTypeParser },
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: answerMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    lock_timeout: LOCK_MS,
    statement_timeout: STATEMENT_MS,
  });
  const { stream } = client.connection;
  let isLost = false;
  let unanswered = 0;
  const lose = (): void => {
    if (isLost) return;
    isLost = true;
    onLost?.();
  };
  if (onNotification !== undefined) client.on("notification", ({ processId, payload = "" }) => onNotification({ processId, payload }));
  client.on("error", lose);
  client.on("end", lose);

  async function query(statement: Statement | string, values: readonly Value[] = []): Promise<Result> {
    const config = typeof statement === "string" ? { text: statement } : statement;
    unanswered += 1;
    try {
      return toResult(await client.query(values.length === 0 ? config : { ...config, values: [...values] }));
    } catch (error) {
      if (error instanceof DatabaseError) throw foreignSessionCodes.test(error.code ?? "") ? leaveSession(error) : error;
      if (isTimeout(error)) lose();
      throw isLost ? new DatabaseUnavailableError("The connection to PostgreSQL was lost.", { cause: error }) : error;
    } finally {
      unanswered -= 1;
    }
  }

  /** The next user of the connection opens another one, so that Bridge recovers as soon as the pooler is configured correctly. */
  function leaveSession(error: DatabaseError): DatabaseError {
    error.hint = SHARED_SESSIONS;
    close();
    return error;
  }

  function close(): void {
    lose();
    if (unanswered > 0) stream.destroy();
    else client.end(() => {});
  }

  try {
    await client.connect();
    const { rows } = await query(prepareSession);
    if (rows[0]?.["replica"] === true) throw new DatabaseUnavailableError("The PostgreSQL server is a replica, which accepts no writes.");
  } catch (error) {
    stream.destroy();
    if (error instanceof DatabaseError || error instanceof DatabaseUnavailableError) throw error;
    throw new DatabaseUnavailableError("PostgreSQL cannot be reached.", { cause: error });
  }
  return {
    get isLost() {
      return isLost;
    },
    query,
    async together<T extends readonly unknown[]>(send: () => { [K in keyof T]: Promise<T[K]> }) {
      stream.cork();
      const sent = send();
      stream.uncork();
      const settled = await Promise.allSettled(sent as readonly Promise<unknown>[]);
      const failed = settled.find((one) => one.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      return settled.map((one) => (one as PromiseFulfilledResult<unknown>).value) as unknown as T;
    },
    close,
  };
}

/** A commit is acknowledged only after it is on the disk, whatever the default of the server is. Stricter values stay. */
const prepareSession = `SELECT pg_is_in_recovery() AS replica,
  CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END`;

const toResult = (result: Result | readonly Result[]): Result =>
  "command" in result ? result : { command: result.at(-1)?.command ?? "", rows: result.flatMap(({ rows }) => rows) };

const isTimeout = (error: unknown): boolean => error instanceof Error && error.message === "Query read timeout";

/** `bigint` columns contain times and counters, which are far below 2^53. */
function getTypeParser(type: number, format?: "text" | "binary"): (value: string) => unknown {
  return type === types.builtins.INT8 ? Number : types.getTypeParser(type, format as "text");
}

/**
 * What a failed statement means. `unavailable`: the database does not answer or accepts no writes, so that writes
 * wait or are rejected. `contention`: another transaction was in the way, so that the operations of a batch run again
 * one by one. `operation`: the operation itself is at fault.
 */
export type FaultKind = "unavailable" | "contention" | "operation";

/** Connection exceptions, insufficient resources, shutdown, input/output errors, and a server that became read-only. */
const unavailableCodes = /^(08|53|57P0|58|25006$)/;

/** A prepared statement is missing or exists already: a pooler has moved the connection to the session of another client. */
const foreignSessionCodes = /^(26000|42P05)$/;

/** Serialization failure, deadlock, lock timeout, and statement timeout. */
const contentionCodes = /^(40001|40P01|55P03|57014)$/;

const UNIQUE_VIOLATION = "23505";

/** Classifies an error of `connect` or of a statement. */
export function classifyFault(error: unknown): FaultKind {
  if (error instanceof DatabaseUnavailableError) return "unavailable";
  if (!(error instanceof DatabaseError)) return "operation";
  const { code = "" } = error;
  if (unavailableCodes.test(code) || foreignSessionCodes.test(code) || endsSession(error)) return "unavailable";
  // Two transactions started tasks with one resume token: the second one finds the first one when it runs again.
  if (error.code === UNIQUE_VIOLATION && error.constraint === "task_session") return "contention";
  return contentionCodes.test(error.code ?? "") ? "contention" : "operation";
}

/** Whether the server ends the session with this error, so that the statements after it get no answer. */
export function endsSession(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false;
  return /^(57P0|25P03|25P04)/.test(error.code ?? "") || error.severity === "FATAL" || error.severity === "PANIC";
}

/**
 * Settings of a session with which PostgreSQL plans each statement once, as it is written: joins in their order, as nested loops over
 * indexes. Every statement of Bridge reads a few rows along an index. Without statistics, for example in a new database, PostgreSQL would
 * prefer to read and sort whole tables, and would keep that plan while the tables grow.
 */
export const planAsWritten: string = [
  ...["seqscan", "bitmapscan", "sort", "incremental_sort", "hashjoin", "mergejoin", "material"].map((kind) => `SET enable_${kind} = off`),
  "SET join_collapse_limit = 1",
  "SET plan_cache_mode = force_generic_plan",
  // The cost of a disabled kind of plan would start the compiler.
  "SET jit = off",
].join("; ");

/** Names a database without user and password. */
export function describeDatabase(url: string): string {
  const { host, pathname } = new URL(url);
  return `${decodeURIComponent(pathname.slice(1))} on ${host}`;
}

/** Reads the schema in which new tables are created, which contains those of Bridge. */
export async function readSchema(connection: Connection): Promise<string> {
  const { rows } = await connection.query("SELECT current_schema() AS schema");
  return String(rows[0]?.["schema"]);
}

/** Reads a value of the table `meta`; null if it or the table does not exist. */
export async function readMeta(connection: Connection, name: string): Promise<string | null> {
  const { rows: tables } = await connection.query("SELECT to_regclass('meta') IS NOT NULL AS exists");
  if (tables[0]?.["exists"] !== true) return null;
  const { rows } = await connection.query("SELECT value FROM meta WHERE name = $1", [name]);
  return rows[0] === undefined ? null : String(rows[0]["value"]);
}
