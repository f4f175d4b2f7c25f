import { BridgeError } from "../../../errors.ts";
import {
  type Connection,
  classifyFault,
  DatabaseUnavailableError,
  planAsWritten,
  type Row,
  type Statement,
  type Value,
} from "./connection.ts";

/** Connections of a node that only read. */
const READING_CONNECTIONS = 4;

/** A read that takes this long may have lost its connection without notice, as after the loss of power of the server's machine. */
const SUSPICIOUS_MS = 5_000;

/** A plan that was made for small tables must not stay in use while they grow, so each call is planned anew. */
export const readerSettings: string = `${planAsWritten}; SET plan_cache_mode = force_custom_plan`;

/** Reads rows. Rejects with `storage_unavailable` while the database is unavailable. */
export interface Reader {
  all(statement: Statement, ...values: readonly Value[]): Promise<readonly Row[]>;
  /** The first row. */
  get(statement: Statement, ...values: readonly Value[]): Promise<Row | undefined>;
}

/** The reading connections of a node. */
export interface ReaderPool extends Reader {
  /** Whether the database has answered the last connection. While it is false, the pool connects again once a second. */
  readonly isAnswering: boolean;
  /** Ends the connections. Reads that have not ended, and later ones, are rejected. */
  close(): void;
}

interface ReaderPoolOptions {
  connect(): Promise<Connection>;
  /** Called when the database is unavailable. */
  onFault(error: unknown): void;
  /** Default: `SUSPICIOUS_MS`. */
  suspiciousMs?: number;
}

/**
 * Creates the pool. It opens connections when it needs them, and replaces those that were lost. When the database cannot be reached, all
 * waiting reads fail together, so that each does not wait for its own time limit.
 */
export function createReaderPool({ connect, onFault, suspiciousMs = SUSPICIOUS_MS }: ReaderPoolOptions): ReaderPool {
  const open = new Set<Connection>();
  const idle: Connection[] = [];
  const waiting: PromiseWithResolvers<void>[] = [];
  const probe = createDatabaseProbe({ connect, onSilent: failReads });
  let used = 0;
  let isClosed = false;

  async function acquire(): Promise<Connection> {
    if (used < READING_CONNECTIONS) used += 1;
    else {
      const place = Promise.withResolvers<void>();
      waiting.push(place);
      await place.promise;
    }
    try {
      return await takeIdle();
    } catch (error) {
      passOn();
      throw error;
    }
  }

  async function takeIdle(): Promise<Connection> {
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      if (!connection.isLost) return connection;
      open.delete(connection);
    }
    if (isClosed) throw stopping();
    const connection = await probe.open();
    open.add(connection);
    try {
      if (isClosed) connection.close();
      else await connection.query(readerSettings);
      return connection;
    } catch (error) {
      open.delete(connection);
      connection.close();
      throw error;
    }
  }

  /** Fails the reads that wait, and those whose connections have lost the server without notice. */
  function failReads(error: unknown): void {
    for (const place of waiting.splice(0)) place.reject(error);
    for (const connection of open) connection.close();
  }

  function release(connection: Connection): void {
    if (connection.isLost) open.delete(connection);
    else idle.push(connection);
    passOn();
  }

  /** Passes the place of a read to the next one. */
  function passOn(): void {
    const next = waiting.shift();
    if (next === undefined) used -= 1;
    else next.resolve();
  }

  async function all(statement: Statement, ...values: readonly Value[]): Promise<readonly Row[]> {
    // No stored text contains U+0000, which PostgreSQL rejects in parameters.
    if (values.some((value) => typeof value === "string" && value.includes("\0"))) return [];
    let connection: Connection | null = null;
    const suspicion = setTimeout(() => void probe.test(), suspiciousMs);
    try {
      connection = await acquire();
      return (await connection.query(statement, values)).rows;
    } catch (error) {
      if (isClosed) throw stopping();
      if (classifyFault(error) === "operation") throw error;
      onFault(error);
      throw new BridgeError("storage_unavailable", "Bridge cannot read its database at the moment.", { cause: error });
    } finally {
      clearTimeout(suspicion);
      if (connection !== null) release(connection);
    }
  }

  return {
    get isAnswering() {
      return probe.isAnswering;
    },
    all,
    get: async (statement, ...values) => (await all(statement, ...values))[0],
    close() {
      isClosed = true;
      probe.close();
      for (const connection of open) connection.close();
    },
  };
}

const stopping = (): BridgeError => new BridgeError("storage_unavailable", "Bridge is stopping.");

/** Time between two tests whether the database answers again. */
const TEST_AGAIN_MS = 1_000;

interface ProbeOptions {
  connect(): Promise<Connection>;
  /** Called when the database cannot be reached. */
  onSilent(error: unknown): void;
}

/** Creates the knowledge whether the database answers, from the connections to it. While it does not, it is tested once a second. */
function createDatabaseProbe({ connect, onSilent }: ProbeOptions) {
  let isAnswering = true;
  let isTesting = false;
  let isClosed = false;
  let nextTest: NodeJS.Timeout | undefined;

  async function open(): Promise<Connection> {
    try {
      const connection = await connect();
      isAnswering = true;
      return connection;
    } catch (error) {
      // A server that rejects the connection answers, so reads on other connections continue.
      if (error instanceof DatabaseUnavailableError) {
        isAnswering = false;
        onSilent(error);
        testLater();
      }
      throw error;
    }
  }

  async function test(): Promise<void> {
    if (isTesting || isClosed) return;
    isTesting = true;
    try {
      (await open()).close();
    } catch {
      // `onSilent` has reported it.
    } finally {
      isTesting = false;
      // A server that starts rejects connections for some time.
      if (!isAnswering) testLater();
    }
  }

  function testLater(): void {
    clearTimeout(nextTest);
    if (!isClosed) nextTest = setTimeout(() => void test(), TEST_AGAIN_MS).unref();
  }

  return {
    get isAnswering() {
      return isAnswering;
    },
    /** Opens a connection. */
    open,
    /** Tests with another connection whether the database answers. Never rejects. */
    test,
    close(): void {
      isClosed = true;
      clearTimeout(nextTest);
    },
  };
}
