import type { NewNode, NodeIdentity } from "../../../src/store/nodes/interface.ts";
import { openPostgresStore, type PostgresStoreOptions } from "../../../src/store/open-postgres.ts";
import type { TestDatabase } from "./create-database.ts";

/** The identity of a node in tests that start it once. */
const toIdentity = (id: string): NodeIdentity => ({ id, incarnation: `${id}-1`, home: `/${id}` });

/** A node as it registers itself. */
export const describeNode = (name: string, fields: Partial<NewNode> = {}): NewNode => ({
  name,
  url: null,
  version: "0",
  tags: [],
  files: "local",
  settingsDigest: "",
  leaseMs: 60_000,
  ...fields,
});

/** Opens the store of a node that has joined the cluster, so that it starts tasks. */
export async function openNode({ node, ...options }: Omit<PostgresStoreOptions, "node"> & { node: string }) {
  const opened = await openPostgresStore({ ...options, node: toIdentity(node) });
  await opened.cluster.join(describeNode(node));
  return opened;
}

/** Registers nodes with the incarnation `1`, without a process that renews their lease. */
export async function insertNodes(database: Pick<TestDatabase, "query">, ids: readonly string[]): Promise<void> {
  await database.query(
    `INSERT INTO node (id, incarnation, home, name, version, schema_version, files, state, lease_until, started_at, settings_digest)
     SELECT id, '1', '', id, '0', 1, 'local', 'live', 9000000000000, 0, '' FROM unnest($1::text[]) AS id`,
    [ids],
  );
}
