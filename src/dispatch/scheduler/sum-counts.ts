import type { QueuedCount } from "../../store/tasks/interface.ts";

/** Adds up counts: those of agents by tenant, the tasks that this node may start by provider and tenant, and the others by provider. */
export function sumCounts(counts: readonly QueuedCount[]) {
  const agents = new Map<string, Map<string, number>>();
  const child = new Map<string, Map<string, number>>();
  const dispatched = new Map<string, Map<string, number>>();
  const elsewhere = new Map<string, number>();
  for (const count of counts) {
    addTo(innerMap(count.isChild ? child : dispatched, count.provider), count.tenant, count.startable);
    if (count.isChild) continue;
    addTo(innerMap(agents, count.tenant), count.agentId, count.queued);
    addTo(elsewhere, count.provider, count.queued - count.startable);
  }
  return { agents, child, dispatched, elsewhere };
}

function innerMap(maps: Map<string, Map<string, number>>, key: string): Map<string, number> {
  const known = maps.get(key);
  if (known !== undefined) return known;
  const created = new Map<string, number>();
  maps.set(key, created);
  return created;
}

const addTo = (sums: Map<string, number>, key: string, amount: number): void => void sums.set(key, (sums.get(key) ?? 0) + amount);
