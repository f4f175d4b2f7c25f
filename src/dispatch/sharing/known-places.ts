import type { ClusterView } from "../../cluster/cluster-view.ts";
import type { PlacementReads } from "../../store/nodes/interface.ts";

/** Maximum agents whose place is kept in memory. */
const MAX_KNOWN = 10_000;

interface KnownPlacesOptions {
  cluster: Pick<PlacementReads, "findPlace">;
  view: Pick<ClusterView, "nodes">;
}

/**
 * Creates the reading of places, which remembers them: most dispatches are for agents that have a place already, and a place does not move
 * while its node is alive. It remembers the incarnation of the node, because a node that has been dead may have lost its agents.
 */
export function createKnownPlaces({ cluster, view }: KnownPlacesOptions) {
  /** Incarnations by agent, the oldest entry first. */
  const known = new Map<string, string>();

  return {
    /** The id of the node on which an agent lives; null if it has not started a task yet, or if this node knows no other one. */
    async find(tenant: string, agentId: string): Promise<string | null> {
      const nodes = view.nodes();
      // A new agent has no place, and without other nodes there is only one.
      if (nodes.length < 2) return null;
      // No tenant contains a line break.
      const key = `${tenant}\n${agentId}`;
      const incarnation = known.get(key);
      const home = incarnation === undefined ? undefined : nodes.find((node) => node.isAlive && node.incarnation === incarnation);
      if (home !== undefined) return home.id;
      const place = await cluster.findPlace(tenant, agentId);
      known.delete(key);
      // As it was before the read: the place may have been freed since.
      const node = nodes.find(({ id }) => id === place);
      if (node !== undefined) known.set(key, node.incarnation);
      const [oldest] = known.keys();
      if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
      return place;
    },
  };
}
