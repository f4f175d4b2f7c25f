import { BridgeError } from "../errors.ts";
import type { ClusterNode, ClusterStore, NodeAdapter } from "../store/nodes/interface.ts";
import type { ClusterView } from "./cluster-view.ts";

/** A node as operators see it. Times are ms since the epoch. */
export interface ListedNode extends Pick<ClusterNode, "name" | "url" | "version" | "tags" | "files" | "state" | "startedAt" | "skewMs"> {
  /** Null with SQLite. */
  leaseUntil: number | null;
  /** Number of agents that live on it; null with SQLite. */
  agents: number | null;
  adapters: readonly NodeAdapter[];
  /** Whether settings that should be equal on all nodes differ from those of this node. */
  settingsDiffer: boolean;
}

/** Lists and manages the nodes that share a database. */
export interface NodeDirectory {
  /** Sorted by name. */
  list(): readonly ListedNode[];
  /** Asks a node to drain and to exit. Throws BridgeError: not_found, invalid_state. */
  drain(name: string): Promise<void>;
  /** Forgets a dead node. Throws BridgeError: not_found, invalid_state. */
  forget(name: string): Promise<void>;
}

/** Creates the directory of the nodes on PostgreSQL. */
export function createNodeDirectory(
  cluster: Pick<ClusterStore, "requestDrain" | "forgetNode">,
  { self, nodes, refresh }: ClusterView,
  { describeAdapters }: { describeAdapters(): NodeAdapter[] },
): NodeDirectory {
  const createNotFound = (name: string) => new BridgeError("not_found", `There is no node with the name ${name}.`);

  return {
    list() {
      const ownDigest = nodes().find(({ id }) => id === self.id)?.settingsDigest;
      return nodes().map(({ id, state, isAlive, settingsDigest, adapters, ...node }) => ({
        ...node,
        state: isAlive ? state : "gone",
        // Those of this node are up to date.
        adapters: id === self.id ? describeAdapters() : adapters,
        settingsDiffer: settingsDigest !== ownDigest,
      }));
    },
    async drain(name) {
      const outcome = await cluster.requestDrain(name);
      if (outcome === "absent") throw createNotFound(name);
      if (outcome === "gone") throw new BridgeError("invalid_state", `The node ${name} is not running.`);
      await refresh();
    },
    async forget(name) {
      const outcome = await cluster.forgetNode(name);
      if (outcome === "absent") throw createNotFound(name);
      if (outcome === "alive")
        throw new BridgeError(
          "invalid_state",
          `The node ${name} is alive, or its tasks have not been ended yet. Drain it first, or try again later.`,
        );
      await refresh();
    },
  };
}

/** The names of the live nodes whose settings differ from those of this node. */
export const listDifferingNodes = (directory: Pick<NodeDirectory, "list">): string[] =>
  directory.list().flatMap(({ name, state, settingsDiffer }) => (settingsDiffer && state !== "gone" ? [name] : []));
