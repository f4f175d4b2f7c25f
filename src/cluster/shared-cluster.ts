import type { Logger } from "pino";
import type { Metrics } from "../metrics.ts";
import type { ClusterStore } from "../store/nodes/interface.ts";
import type { Cluster, NodeDescription } from "./cluster.ts";
import { createClusterView } from "./cluster-view.ts";
import { createMembership } from "./membership.ts";
import { createNodeDirectory } from "./node-directory.ts";

/** Due callbacks and deliveries that another node has stored wait at most this long if its hint is lost. */
const SEARCH_MS = 5_000;

interface SharedClusterOptions extends Pick<Cluster, "onHint"> {
  /** The id of this node. */
  id: string;
  node: NodeDescription;
  cluster: ClusterStore;
  /** For how long tasks wait for a dead node, after the end of its lease. */
  graceMs: number;
  /** The directory of the files of agents. */
  filesDir: string;
  metrics: Metrics;
  logger: Logger;
}

/** Creates the cluster of the nodes on one PostgreSQL database. */
export function createSharedCluster({ id, node, cluster, graceMs, filesDir, metrics, logger, onHint }: SharedClusterOptions): Cluster {
  const view = createClusterView({ self: { id, ...node }, cluster, graceMs, logger });
  return {
    view,
    searchMs: SEARCH_MS,
    onHint,
    createDirectory: (status) => createNodeDirectory(cluster, view, status),
    async createMembership({ describeAdapters, digestSettings, ...events }) {
      const digest = await digestSettings();
      return createMembership({
        ...{ ...events, cluster, view, filesDir, metrics, logger },
        node: { ...node, settingsDigest: digest.current() },
        report: () => ({ settingsDigest: digest.current(), adapters: describeAdapters() }),
      });
    },
  };
}
