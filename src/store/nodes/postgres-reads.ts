import type { AdapterCapabilities } from "#contract";
import type { Row } from "../engines/postgres/connection.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { serverClock } from "../engines/postgres/server-clock.ts";
import { toStatement } from "../engines/postgres/to-statement.ts";
import type { ClusterNode, ClusterStore, FilesMode, NodeAdapter } from "./interface.ts";

/** Reads the registered nodes. */
export function createNodeReads(reader: Reader) {
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
