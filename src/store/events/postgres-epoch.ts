import { randomBytes } from "node:crypto";
import { StartError } from "../../errors.ts";
import { type Connection, type ConnectionOptions, connect, DatabaseUnavailableError, type Row } from "../engines/postgres/connection.ts";
import { explainStartError } from "../engines/postgres/prepare-database.ts";
import { advisoryLocks, serverClock } from "../engines/postgres/statements.ts";
import { lastEventNumber } from "./postgres.ts";

/** The epoch of the event log of a database, which names the log in event ids. */
export interface LogEpoch {
  /** The epoch that the last connection has found. */
  current(): string;
  /** Connects to the database, and notices first whether it has a new epoch. Then it closes the connections that were opened before. */
  connect(options: ConnectionOptions): Promise<Connection>;
}

/**
 * Creates the epoch of a node. A server that was a replica, or that was restored to a point in time, has a new timeline and may lack the
 * last commits, so that it assigns their event numbers again. The first node that finds the new timeline starts a new epoch, before any
 * node writes. `onChange` is called with the number of the last event that the new epoch shares with the previous one.
 */
export function createLogEpoch(onChange: (lastShared: number) => void): LogEpoch {
  let latest: FoundEpoch | null = null;
  const open = new Set<Connection>();

  async function check(connection: Connection): Promise<void> {
    const found = await readEpoch(connection);
    if (latest !== null && found.timeline < latest.timeline)
      throw new DatabaseUnavailableError("The PostgreSQL server has been replaced by another one.");
    const isNew = latest !== null && found.epoch !== latest.epoch;
    latest = found;
    if (isNew) {
      // They lead to the earlier server, which may still run.
      for (const earlier of open) earlier.close();
      onChange(found.start);
    }
    open.add(connection);
  }

  return {
    current() {
      if (latest === null) throw new Error("The epoch is known after the first connection.");
      return latest.epoch;
    },
    async connect(options) {
      // Undefined if the connection is lost before it is open.
      let opened: Connection | undefined;
      const onLost = (): void => {
        if (opened !== undefined) open.delete(opened);
        options.onLost?.();
      };
      const connection = await connect({ ...options, onLost });
      opened = connection;
      try {
        await check(connection);
        return connection;
      } catch (error) {
        connection.close();
        throw error;
      }
    },
  };
}

interface FoundEpoch {
  /** In hexadecimal digits; a later timeline is greater. Empty if the server does not report it. */
  timeline: string;
  epoch: string;
  /** The number of the last event that is older than the epoch. */
  start: number;
}

async function readEpoch(connection: Connection): Promise<FoundEpoch> {
  const timeline = await readTimeline(connection);
  const found = await readRow(connection);
  if (found["epoch"] === null || timeline !== found["timeline"]) await renew(connection, timeline);
  return toFound(timeline, await readRow(connection));
}

/** Reads the timeline of the server; empty if the server does not report it. */
async function readTimeline(connection: Connection): Promise<string> {
  try {
    return String((await connection.query(selectTimeline)).rows[0]?.["timeline"]);
  } catch (error) {
    if (isNotOffered(error)) return "";
    throw error;
  }
}

/** Services that replicate the storage instead of the log, such as Amazon Aurora, may not have these functions. They lose no commit. */
const isNotOffered = (error: unknown): boolean =>
  error instanceof Error && "code" in error && ["0A000", "42501", "42883"].includes(String(error.code));

const readRow = async (connection: Connection): Promise<Row> => (await connection.query(selectEpoch)).rows[0] as Row;

const toFound = (timeline: string, row: Row): FoundEpoch => ({
  timeline,
  epoch: String(row["epoch"]),
  start: Number(row["start"] ?? 0),
});

/** The name of a file of the write-ahead log begins with the timeline of the server. */
const selectTimeline = "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS timeline";

const metaValue = (name: string): string => `(SELECT value FROM meta WHERE name = '${name}')`;

const selectEpoch = `SELECT ${metaValue("timeline")} AS timeline, ${metaValue("epoch")} AS epoch, ${metaValue("epoch_start")} AS start`;

/** Stores the timeline and, if there was another one before, a new epoch. Of several nodes, the first one does it. */
async function renew(connection: Connection, timeline: string): Promise<void> {
  await connection.query("BEGIN ISOLATION LEVEL READ COMMITTED");
  // No event gets a number before the commit.
  await connection.query(`SELECT pg_advisory_xact_lock(${advisoryLocks.eventNumbers})`);
  const { timeline: known, epoch } = await readRow(connection);
  if (epoch === null || (known !== null && known !== timeline)) {
    const { rows } = await connection.query(`SELECT ${lastEventNumber} AS start`);
    await connection.query(upsertMeta, ["epoch", randomBytes(5).toString("hex")]);
    await connection.query(upsertMeta, ["epoch_start", String(rows[0]?.["start"])]);
  }
  await connection.query(upsertMeta, ["timeline", timeline]);
  await connection.query("COMMIT");
}

const upsertMeta = "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/**
 * Starts a new epoch of event ids, for a database that was restored from a backup. Returns the epoch. Throws StartError if a node is
 * alive, because it would continue to use the old epoch.
 */
export async function renewEpoch(url: string): Promise<string> {
  try {
    return await storeEpoch(url);
  } catch (error) {
    throw explainStartError(error, url);
  }
}

async function storeEpoch(url: string): Promise<string> {
  const connection = await connect({ url });
  try {
    await connection.query("BEGIN ISOLATION LEVEL READ COMMITTED");
    // No node joins before the commit.
    await connection.query(`SELECT pg_advisory_xact_lock(${advisoryLocks.join})`);
    const { rows } = await connection.query(selectLiving);
    if (rows.length > 0) throw refusal(rows.map((row) => `${row["name"]} (${row["seconds"]} s)`));
    const epoch = randomBytes(5).toString("hex");
    await connection.query(upsertEpoch, [epoch]);
    await connection.query(endNodes);
    await connection.query("COMMIT");
    return epoch;
  } finally {
    // Also ends a transaction that was not committed.
    connection.close();
  }
}

/** Selects the nodes that may be alive, with the remaining seconds of their leases. */
export const selectLiving = `SELECT name, ceil((lease_until - ${serverClock}) / 1000.0)::int AS seconds FROM node
  WHERE state <> 'gone' AND lease_until > ${serverClock} ORDER BY name`;

/** Stores an epoch. */
export const upsertEpoch = "INSERT INTO meta (name, value) VALUES ('epoch', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/** A process whose lease is over can be frozen. When it continues, it exits, because its node was declared dead. */
export const endNodes = "UPDATE node SET state = 'gone' WHERE state <> 'gone'";

const refusal = (nodes: readonly string[]): StartError =>
  new StartError(
    "The epoch cannot be renewed while nodes are running. Stop them. If they do not run, wait until their leases are over: " +
      `${nodes.join(", ")}.`,
  );
