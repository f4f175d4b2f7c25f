import { createTurns } from "@hak2i/async-kit";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { Store } from "../store/store.ts";
import type { ListedAgent } from "../store/tasks/interface.ts";

/** An agent, and the name of the node on which it lives; null if it lives on no particular node, or the node was forgotten. */
export interface PlacedAgent extends Omit<ListedAgent, "node"> {
  node: string | null;
}

export type AgentList = ReturnType<typeof createAgentList>;

/** Creates the list of the agents that have tasks. */
export function createAgentList(store: Pick<Store, "listAgentsByName">, { nameOfNode }: Pick<Dispatcher, "nameOfNode">) {
  // Serializes the requests of one tenant, because each of them counts the tasks of the tenant.
  const turns = createTurns();

  return {
    /**
     * Returns one page of agents, ordered by `agentId`. `next` is the `after` of the following page, null at the end. Does not read after
     * the signal has aborted.
     */
    page(
      tenant: string,
      { after, limit }: { after: string; limit: number },
      signal?: AbortSignal,
    ): Promise<{ agents: PlacedAgent[]; next: string | null }> {
      const read = async () => {
        // Reads one more than requested, to see whether another page follows.
        const found = await store.listAgentsByName(tenant, { after, limit: limit + 1 });
        const agents = found.slice(0, limit).map((agent) => ({ ...agent, node: nameOfNode(agent.node) }));
        return { agents, next: found.length > limit ? (agents.at(-1)?.agentId ?? null) : null };
      };
      return turns.take(tenant, read, signal);
    },
  };
}
