import { randomBytes } from "node:crypto";
import { StartError } from "../../errors.ts";
import { advisoryLocks } from "../engines/postgres/advisory-locks.ts";
import { connect } from "../engines/postgres/connection.ts";
import { explainStartError } from "../engines/postgres/prepare-database.ts";
import { serverClock } from "../engines/postgres/server-clock.ts";

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
