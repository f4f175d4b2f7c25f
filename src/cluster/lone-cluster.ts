import { BridgeError } from "../errors.ts";
import type { Cluster, NodeDescription, NodeStatus } from "./cluster.ts";
import type { ClusterView, OwnNode } from "./cluster-view.ts";
import type { NodeDirectory } from "./node-directory.ts";

interface LoneClusterOptions {
  node: NodeDescription;
  /** Throws `storage_unavailable` if the database accepts no writes. */
  checkWritable(): Promise<void>;
}

/** Creates the cluster of a Bridge that is alone on its database, as with SQLite. It needs no reads, no timers and no identity. */
export function createLoneCluster({ node, checkWritable }: LoneClusterOptions): Cluster {
  return {
    view: createLoneView({ id: "", ...node }),
    searchMs: Number.POSITIVE_INFINITY,
    onHint() {},
    createDirectory: (status) => createLoneDirectory(node, status),
    createMembership: async () => ({
      async join() {},
      async drain() {},
      async leave() {},
      checkInTouch: checkWritable,
    }),
  };
}

/** Creates the view of a node that has no others. */
export const createLoneView = (self: OwnNode): ClusterView => ({
  self,
  nodes: () => [],
  isGivenUp: () => false,
  onRead() {},
  async refresh() {},
  async close() {},
});

function createLoneDirectory(
  { name, url, version, tags, files }: NodeDescription,
  { describeAdapters, isDraining }: NodeStatus,
): NodeDirectory {
  const startedAt = Date.now();
  const refuse = async (): Promise<void> => {
    throw new BridgeError("invalid_state", "This Bridge uses SQLite, so it is its only node. Stop it with SIGTERM.");
  };
  return {
    list: () => [
      {
        ...{ name, url, version, tags, files, startedAt },
        state: isDraining() ? "draining" : "live",
        skewMs: 0,
        leaseUntil: null,
        agents: null,
        adapters: describeAdapters(),
        settingsDiffer: false,
      },
    ],
    drain: refuse,
    forget: refuse,
  };
}
