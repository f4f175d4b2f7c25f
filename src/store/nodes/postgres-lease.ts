import { withTimeout } from "@hak2i/async-kit";
import { type Connection, DatabaseUnavailableError, type Result, type Statement, type Value } from "../engines/postgres/connection.ts";
import { serverClock, toColumns, toStatement } from "../engines/postgres/statements.ts";
import type { ClusterStore, NodeAdapter, NodeIdentity, NodeReport } from "./interface.ts";

/** A write that takes longer has failed. */
const LIMIT_MS = 3_000;
/** The same for a renewal, as a part of the lease, so that several attempts fit into a short lease. */
const RENEWAL_LIMIT = 1 / 4;

interface LeaseWritesOptions {
  connect(): Promise<Connection>;
  node: NodeIdentity;
}

/** The writes of a node to its own row. They use a separate connection, so that no slow batch or read delays them. */
export function createLeaseWrites({ connect, node: { id, incarnation } }: LeaseWritesOptions) {
  let connection: Promise<Connection> | null = null;
  let isClosed = false;

  async function run(statement: Statement, values: readonly Value[], limitMs = LIMIT_MS): Promise<Result> {
    connection ??= connect();
    const opening = connection;
    const running = opening.then((opened) => opened.query(statement, values));
    try {
      return await withTimeout(running, limitMs, () => {
        throw new DatabaseUnavailableError("PostgreSQL did not answer in time.");
      });
    } catch (error) {
      running.catch(() => {});
      discard(opening);
      throw error;
    }
  }

  /** The next write opens a new connection. */
  function discard(opening: Promise<Connection> | null): void {
    if (connection === opening) connection = null;
    opening?.then((opened) => opened.close()).catch(() => {});
  }

  return {
    async renewLease({ leaseMs, skewMs, settingsDigest, adapters }: NodeReport) {
      const values = [
        id,
        incarnation,
        leaseMs,
        Math.round(skewMs),
        settingsDigest,
        ...toColumns(adapterColumns, adapters.map(toAdapterRow)),
      ];
      const { rows } = await run(renew, values, Math.min(LIMIT_MS, leaseMs * RENEWAL_LIMIT));
      return rows[0] === undefined ? null : Number(rows[0]["now"]);
    },
    async startDraining() {
      await run(drain, [id, incarnation]);
    },
    /** Marks the node as gone. */
    async leave() {
      await run(leave, [id, incarnation]);
    },
    close() {
      if (!isClosed) discard(connection);
      isClosed = true;
    },
  } satisfies Partial<ClusterStore> & { close(): void };
}

const own = "id = $1 AND incarnation = $2";
const adapterColumns = ["provider", "health", "capabilities", "running", "max_running", "checked_at"] as const;
const changing = adapterColumns.slice(1);

/** Adapters whose values are unchanged are not written. */
const renew = toStatement(
  `WITH renewed AS (
     UPDATE node SET lease_until = ${serverClock} + $3::bigint, skew_ms = $4::bigint, settings_digest = $5::text WHERE ${own} AND state <> 'gone' RETURNING id),
   removed AS (DELETE FROM node_adapter a USING renewed WHERE a.node = renewed.id AND a.provider <> ALL ($6::text[])),
   stored AS (
     INSERT INTO node_adapter (node, ${adapterColumns.join(", ")})
     SELECT renewed.id, given.* FROM renewed, unnest($6::text[], $7::text[], $8::text[], $9::integer[], $10::integer[], $11::bigint[]) AS given
     ON CONFLICT (node, provider) DO UPDATE SET ${changing.map((name) => `${name} = excluded.${name}`).join(", ")}
     WHERE (${changing.map((name) => `node_adapter.${name}`).join(", ")}) IS DISTINCT FROM (${changing.map((name) => `excluded.${name}`).join(", ")}))
   SELECT ${serverClock} AS now FROM renewed`,
);
const drain = toStatement(`UPDATE node SET state = 'draining' WHERE ${own} AND state = 'live'`);
const leave = toStatement(
  `UPDATE node SET state = 'gone', lease_until = least(lease_until, ${serverClock}) WHERE ${own} AND state <> 'gone'`,
);

const toAdapterRow = ({ provider, health, capabilities, running, maxConcurrent, checkedAt }: NodeAdapter) => ({
  provider,
  health,
  capabilities: capabilities === null ? null : JSON.stringify(capabilities),
  running,
  max_running: maxConcurrent,
  checked_at: checkedAt,
});
