import type { AdapterCapabilities } from "#contract";
import type { Connection, Row } from "../engines/postgres/connection.ts";
import type { Reader, ReaderPool } from "../engines/postgres/reader-pool.ts";
import { serverClock, toStatement } from "../engines/postgres/statements.ts";
import type { ClusterNode, ClusterStore, FilesMode, NodeAdapter, NodeIdentity } from "./interface.ts";
import { createDeadNodeWrites } from "./postgres-dead-nodes.ts";
import { joinCluster } from "./postgres-join.ts";
import { createLeaseWrites } from "./postgres-lease.ts";
import { createPlacementReads, createPlaceWrites } from "./postgres-places.ts";

interface PostgresClusterOptions {
  url: string;
  node: NodeIdentity;
  connect(): Promise<Connection>;
  reader: ReaderPool;
  /** Reports a change of the nodes to the others. */
  onChange(): void;
}

/** The nodes on a PostgreSQL database. */
export function createPostgresCluster({ url, node, connect, reader, onChange }: PostgresClusterOptions): ClusterStore & { close(): void } {
  const lease = createLeaseWrites({ connect, node });
  const deadNodes = createDeadNodeWrites(reader, node.id);
  let isNew = false;
  const announce = async <Result>(change: Promise<Result>): Promise<Result> => {
    const result = await change;
    onChange();
    return result;
  };

  async function forgetUnusedNodes(): Promise<number> {
    const count = await deadNodes.forgetUnusedNodes();
    if (count > 0) onChange();
    return count;
  }

  async function leave(): Promise<void> {
    await lease.leave();
    await deadNodes.releaseNode(node.id);
  }

  return {
    ...createNodeReads(reader),
    ...createPlacementReads(reader),
    ...createRunningReads(reader, node),
    ...createPlaceWrites(reader),
    ...deadNodes,
    ...lease,
    async join(description, options = {}) {
      await joinCluster(url, node, description, options);
      isNew = true;
    },
    async renewLease(report) {
      const now = await lease.renewLease(report);
      // The first renewal stores the adapters, without which the others would not use this node.
      if (isNew) onChange();
      isNew = false;
      return now;
    },
    isAnswering: () => reader.isAnswering,
    startDraining: () => announce(lease.startDraining()),
    requestDrain: (name) => announce(createDrainRequests(reader).requestDrain(name)),
    releaseNode: (id) => announce(deadNodes.releaseNode(id)),
    forgetNode: (name) => announce(deadNodes.forgetNode(name)),
    forgetUnusedNodes,
    leave: () => announce(leave()),
  };
}

/** Reads the registered nodes. */
function createNodeReads(reader: Reader) {
  return {
    listNodes: async () => (await reader.all(selectNodes)).map(toNode),
  } satisfies Partial<ClusterStore>;
}

const selectNodes = toStatement(
  `SELECT id, incarnation, name, url, version, to_json(tags)::text AS tags, files, state, lease_until, state <> 'gone' AND lease_until > ${serverClock} AS is_alive,
     ${serverClock} - lease_until AS overdue_ms, started_at, settings_digest, skew_ms, (SELECT count(*) FROM place p WHERE p.node = n.id) AS agents,
     (SELECT json_agg(json_build_object('provider', a.provider, 'health', a.health, 'capabilities', a.capabilities, 'running', a.running,
        'maxConcurrent', a.max_running, 'checkedAt', a.checked_at) ORDER BY a.provider)::text FROM node_adapter a WHERE a.node = n.id) AS adapters
   FROM node n ORDER BY name, id`,
);

const toNode = (row: Row): ClusterNode => ({
  id: String(row["id"]),
  incarnation: String(row["incarnation"]),
  name: String(row["name"]),
  url: row["url"] as string | null,
  version: String(row["version"]),
  tags: JSON.parse(String(row["tags"])) as string[],
  files: row["files"] as FilesMode,
  settingsDigest: String(row["settings_digest"]),
  state: row["state"] as ClusterNode["state"],
  leaseUntil: Number(row["lease_until"]),
  isAlive: row["is_alive"] === true,
  overdueMs: Number(row["overdue_ms"]),
  startedAt: Number(row["started_at"]),
  skewMs: Number(row["skew_ms"]),
  adapters: (JSON.parse(String(row["adapters"] ?? "[]")) as StoredAdapter[]).map(toAdapter),
  agents: Number(row["agents"]),
});

/** An adapter as the statement returns it: its capabilities are JSON text. */
type StoredAdapter = Omit<NodeAdapter, "capabilities"> & { capabilities: string | null };

const toAdapter = ({ capabilities, ...adapter }: StoredAdapter): NodeAdapter => ({
  ...adapter,
  capabilities: capabilities === null ? null : (JSON.parse(capabilities) as AdapterCapabilities),
});

/** Reads which tasks run, as far as the database knows. */
export function createRunningReads(reader: Reader, { id, incarnation }: Pick<NodeIdentity, "id" | "incarnation">) {
  const pendingCounts = new Map<string, ReturnType<typeof count>>();

  async function count(tenant: string, agentId: string) {
    const row = await reader.get(countOfTenant, tenant, agentId);
    return { ofTenant: Number(row?.["of_tenant"]), ofAgent: Number(row?.["of_agent"]) };
  }

  return {
    listOwnRunningTasks: async () => (await reader.all(selectRunning, id, incarnation)).map(({ seq }) => Number(seq)),
    /** A list asks this of many tasks of the same agent at once. */
    countRunning({ tenant, agentId }) {
      const key = JSON.stringify([tenant, agentId]);
      const counted = pendingCounts.get(key) ?? count(tenant, agentId).finally(() => pendingCounts.delete(key));
      pendingCounts.set(key, counted);
      return counted;
    },
  } satisfies Partial<ClusterStore>;
}

/** A process that was replaced does not see the tasks of the new process. */
const selectRunning = toStatement(
  `SELECT seq FROM task WHERE state = 'running' AND node = $1
     AND EXISTS (SELECT 1 FROM node n WHERE n.id = $1 AND n.incarnation = $2 AND n.state <> 'gone')`,
);

/** Every running task has a node, which makes PostgreSQL read the index of running tasks instead of all tasks of the tenant. */
const countOfTenant = toStatement(
  `WITH running AS MATERIALIZED (SELECT tenant, agent_id, parent_seq FROM task WHERE state = 'running' AND node >= '')
   SELECT count(*) AS of_tenant, count(*) FILTER (WHERE agent_id = $2) AS of_agent FROM running WHERE parent_seq IS NULL AND tenant = $1`,
);

/** The request that another node drains. It is one statement, which a reading connection runs. */
function createDrainRequests(reader: Reader) {
  return {
    async requestDrain(name) {
      if ((await reader.get(requestDrain, name)) !== undefined) return "requested";
      return (await reader.get(findNode, name)) === undefined ? "absent" : "gone";
    },
  } satisfies Partial<ClusterStore>;
}

const requestDrain = toStatement(
  `UPDATE node SET state = 'draining' WHERE name = $1 AND state <> 'gone' AND lease_until > ${serverClock} RETURNING id`,
);

const findNode = toStatement("SELECT 1 AS found FROM node WHERE name = $1");
