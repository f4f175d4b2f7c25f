import { sleep } from "@hak2i/async-kit";
import { StartError } from "../../errors.ts";
import { type Connection, connect, type Row } from "../engines/postgres/connection.ts";
import { readCompatibleVersion, readMigrations } from "../engines/postgres/migrate.ts";
import { explainStartError } from "../engines/postgres/prepare-database.ts";
import { advisoryLocks, serverClock } from "../engines/postgres/statements.ts";
import type { JoinOptions, NewNode, NodeIdentity } from "./interface.ts";

/** The version of the schema for which this code was written. */
const SCHEMA_VERSION = readMigrations().length;
/** How often a start looks whether another process renews its lease. */
const WATCH_MS = 250;

/** A process that may be alive, with the id or the name of the node that joins. */
interface Occupant {
  id: string;
  incarnation: string;
  leaseUntil: number;
}

/**
 * Registers the node. While a process that may be alive has its id or its name, waits until that lease is over. Throws StartError if the
 * lease is renewed meanwhile. `onWait` is called before the first wait.
 */
export async function joinCluster(url: string, identity: NodeIdentity, node: NewNode, { signal, onWait }: JoinOptions): Promise<void> {
  let seen: Occupant | null = null;
  for (;;) {
    const occupant = await tryJoin(url, identity, node);
    if (occupant === null) return;
    if (seen === null) onWait?.();
    else if (occupant.incarnation === seen.incarnation && occupant.leaseUntil > seen.leaseUntil) throw refusal(occupant, identity, node);
    seen = occupant;
    await sleep(WATCH_MS, signal);
  }
}

/** Returns the process that may be alive; null if the node has joined. */
async function tryJoin(url: string, identity: NodeIdentity, node: NewNode): Promise<Occupant | null> {
  let connection: Connection | null = null;
  try {
    connection = await connect({ url });
    await connection.query("BEGIN ISOLATION LEVEL READ COMMITTED");
    await connection.query(`SELECT pg_advisory_xact_lock(${advisoryLocks.join})`);
    // Another node may have upgraded the schema since this one has checked it.
    await readCompatibleVersion(connection, SCHEMA_VERSION);
    // Waits for the last transaction of an earlier process, so that the tasks that it has started are visible afterwards.
    const { rows } = await connection.query(selectOccupants, [identity.id, node.name]);
    const occupant = rows.find((row) => row["is_fresh"] === true && !isPredecessor(row, identity));
    if (occupant !== undefined) return toOccupant(occupant);
    await connection.query(endNamesakes, [identity.id, node.name]);
    await connection.query(upsertNode, toValues(identity, node));
    await connection.query(releaseOrigins, [identity.id]);
    await connection.query("COMMIT");
    return null;
  } catch (error) {
    throw explainStartError(error, url);
  } finally {
    // Also ends a transaction that was not committed.
    connection?.close();
  }
}

const selectOccupants = `SELECT id, incarnation, home, lease_until, lease_until > ${serverClock} AS is_fresh
  FROM node WHERE (id = $1 OR name = $2) AND state <> 'gone' ORDER BY id FOR UPDATE`;

/** The lock of the data directory proves that no other process uses it, so an earlier process in the same directory has ended. */
const isPredecessor = (row: Row, { id, home }: NodeIdentity): boolean => row["id"] === id && row["home"] === home;

const toOccupant = (row: Row): Occupant => ({
  id: String(row["id"]),
  incarnation: String(row["incarnation"]),
  leaseUntil: Number(row["lease_until"]),
});

/** The lease of the other nodes with this name is over. The reaper ends their tasks. */
const endNamesakes = "UPDATE node SET state = 'gone' WHERE id <> $1 AND name = $2 AND state <> 'gone'";

/** The origins of an earlier process, which may have posted callbacks while this one posts none. The next node that looks takes them. */
const releaseOrigins = "DELETE FROM callback_origin WHERE node = $1";

const columns = ["id", "incarnation", "home", "name", "url", "version", "schema_version", "tags", "files", "settings_digest"] as const;
const upsertNode = `INSERT INTO node (${columns.join(", ")}, state, lease_until, started_at)
  VALUES (${columns.map((_, index) => `$${index + 1}`).join(", ")}, 'live', ${serverClock} + $${columns.length + 1}::bigint, ${serverClock})
  ON CONFLICT (id) DO UPDATE SET ${[...columns.slice(1), "state", "lease_until", "started_at"].map((name) => `${name} = excluded.${name}`).join(", ")},
    skew_ms = 0, taken_until = 0`;

const toValues = ({ id, incarnation, home }: NodeIdentity, node: NewNode) => {
  const { name, url, version, tags, files, settingsDigest, leaseMs } = node;
  return [id, incarnation, home, name, url, version, SCHEMA_VERSION, [...tags], files, settingsDigest, leaseMs];
};

function refusal(occupant: Occupant, identity: NodeIdentity, { name }: NewNode): StartError {
  if (occupant.id !== identity.id)
    return new StartError(`Bridge cannot start: another live node has the name ${name}. Set a different BRIDGE_NODE_NAME for this node.`);
  return new StartError(
    "Bridge cannot start: a live node has the same node id, so BRIDGE_DATA_DIR is a copy of its data directory. " +
      "Set an empty directory as BRIDGE_DATA_DIR, or stop the other node.",
  );
}
