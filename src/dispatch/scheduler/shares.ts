import type { Share, Tenant } from "./lane.ts";
import { createLanes, type SchedulerLimits } from "./lanes.ts";
import { hasNext, isInUse, unblock } from "./line.ts";
import { type AgentLoad, changeAgent, mayStartAnother } from "./tenant-load.ts";

export type Shares = ReturnType<typeof createShares>;

/**
 * Creates the order in which the shares of all tenants get free slots, and removes shares of idle tenants. Call `place` after each change
 * of a share's counts.
 */
export function createShares(limits: Pick<SchedulerLimits, "maxConcurrent" | "quotaOf">) {
  const { removeShare, listShares, ...created } = createLanes(limits);
  /** Dispatched tasks that no claim will take. */
  let waiting = 0;
  let entries = 0;
  let childrenOnly = false;

  /** Moves the share to its place in the lane's order, removes it from the order, or deletes it. */
  function place(share: Share): void {
    const { lane, tenant, child, dispatched } = share;
    if (hasNext(child) || (hasNext(dispatched) && !childrenOnly && mayStartAnother(tenant))) {
      if (share.heapIndex === -1) {
        share.turn = Math.max(share.turn, lane.turn);
        entries += 1;
        share.since = entries;
      }
      lane.eligible.put(share);
      return;
    }
    lane.eligible.remove(share);
    if (share.running > 0 || isInUse(child) || isInUse(dispatched)) return;
    removeShare(share);
  }

  /** Limits on running tasks count over all lanes, so a change in one lane may let a task start in another. Returns those lanes. */
  function placeAll(tenant: Tenant, provider: string): Iterable<string> {
    const providers = new Set(tenant.shares.keys()).add(provider);
    for (const share of tenant.shares.values()) place(share);
    return providers;
  }

  /** Changes the counts of an agent. `change` returns by how much the number of its queued tasks has changed. */
  function changeAgentOf(tenant: Tenant, agentId: string, change: (agent: AgentLoad) => number): void {
    waiting += changeAgent(tenant, agentId, change);
  }

  /** Counts a task of an agent that starts or ends. */
  function changeRunning(tenant: Tenant, agentId: string, change: 1 | -1): void {
    changeAgentOf(tenant, agentId, (agent) => {
      agent.running += change;
      return 0;
    });
  }

  /** Counts the claims that take a dispatched task of the tenant: one more, or one less. */
  function countClaim(tenant: Tenant, change: 1 | -1): void {
    waiting -= change;
    tenant.claiming += change;
  }

  return {
    ...created,
    listShares,
    /** Dispatched tasks in all lanes that no claim will take. */
    waiting: (): number => waiting,
    place,
    placeAll,
    changeAgentOf,
    changeRunning,
    countClaim,
    /** Starts only children from now on. */
    startChildrenOnly(): void {
      childrenOnly = true;
      for (const share of listShares()) place(share);
    },
    /** Reads all quotas again. */
    reloadQuotas(): void {
      const shares = listShares();
      // A heap allows only one key to change at a time, so all shares are removed first.
      for (const share of shares) share.lane.eligible.remove(share);
      for (const tenant of created.tenants.values()) tenant.quota = limits.quotaOf(tenant.name);
      for (const share of shares) {
        unblock(share.dispatched);
        place(share);
      }
    },
  };
}
