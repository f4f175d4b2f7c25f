import { BridgeError } from "../../errors.ts";
import { type Connection, classifyFault, type Row, type Statement, type Value } from "./connection.ts";
import { planAsWritten } from "./plan-as-written.ts";

/** Connections of a node that only read. */
const READING_CONNECTIONS = 4;

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
  /** Ends the connections. Reads that have not ended, and later ones, are rejected. */
  close(): void;
}

interface ReaderPoolOptions {
  connect(): Promise<Connection>;
  /** Called when the database is unavailable. */
  onFault(error: unknown): void;
}

/** Creates the pool. It opens connections when it needs them, and replaces those that were lost. */
export function createReaderPool({ connect, onFault }: ReaderPoolOptions): ReaderPool {
  const open = new Set<Connection>();
  const idle: Connection[] = [];
  const waiting: (() => void)[] = [];
  let used = 0;
  let isClosed = false;

  async function acquire(): Promise<Connection> {
    if (used === READING_CONNECTIONS) await new Promise<void>((resolve) => waiting.push(resolve));
    else used += 1;
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
    const connection = await connect();
    open.add(connection);
    if (isClosed) connection.close();
    else await connection.query(readerSettings);
    return connection;
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
    else next();
  }

  async function all(statement: Statement, ...values: readonly Value[]): Promise<readonly Row[]> {
    // No stored text contains U+0000, which PostgreSQL rejects in parameters.
    if (values.some((value) => typeof value === "string" && value.includes("\0"))) return [];
    let connection: Connection | null = null;
    try {
      connection = await acquire();
      return (await connection.query(statement, values)).rows;
    } catch (error) {
      if (isClosed) throw stopping();
      if (classifyFault(error) === "operation") throw error;
      onFault(error);
      throw new BridgeError("storage_unavailable", "Bridge cannot read its database at the moment.", { cause: error });
    } finally {
      if (connection !== null) release(connection);
    }
  }

  return {
    all,
    get: async (statement, ...values) => (await all(statement, ...values))[0],
    close() {
      isClosed = true;
      for (const connection of open) connection.close();
    },
  };
}

const stopping = (): BridgeError => new BridgeError("storage_unavailable", "Bridge is stopping.");
