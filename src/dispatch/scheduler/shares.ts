import type { TenantQuota } from "../../task.ts";
import { createIndexedHeap } from "./indexed-heap.ts";
import { isNext, type Lane, type Share, type Tenant } from "./lane.ts";
import { createLine, hasNext, isInUse, unblock } from "./line.ts";
import { type AgentLoad, changeAgent, mayStartAnother } from "./tenant-load.ts";

/** Limits on slots and queues. */
export interface SchedulerLimits {
  maxConcurrent(provider: string): number;
  /** Dispatched tasks that may wait in all lanes. A tenant with less than its fair share of the queue may exceed it. */
  queueLimit: number;
  quotaOf(tenant: string): TenantQuota;
  /** The id of this node. */
  ownNode: string;
}

export type Shares = ReturnType<typeof createShares>;

/**
 * Creates the shares of all tenants in all lanes, and the order in which they get free slots. Lanes and shares are created when they are
 * first needed; shares of idle tenants are removed. Call `place` after each change of a share's counts.
 */
export function createShares({ maxConcurrent, quotaOf }: Pick<SchedulerLimits, "maxConcurrent" | "quotaOf">) {
  const lanes = new Map<string, Lane>();
  const tenants = new Map<string, Tenant>();
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
    tenant.shares.delete(lane.provider);
    forgetIfIdle(tenant);
  }

  /** Limits on running tasks count over all lanes, so a change in one lane may let a task start in another. Returns those lanes. */
  function placeAll(tenant: Tenant, provider: string): Iterable<string> {
    const providers = new Set(tenant.shares.keys()).add(provider);
    for (const share of tenant.shares.values()) place(share);
    return providers;
  }

  function forgetIfIdle(tenant: Tenant): void {
    if (tenant.shares.size === 0 && tenant.agents.size === 0) tenants.delete(tenant.name);
  }

  function shareOf(task: { tenant: string; provider: string }): Share {
    const tenant = tenantOf(task.tenant);
    const known = tenant.shares.get(task.provider);
    if (known !== undefined) return known;
    const lane = laneOf(task.provider);
    const share = { lane, tenant, running: 0, turn: 0, since: 0, child: createLine(), dispatched: createLine(), heapIndex: -1 };
    tenant.shares.set(task.provider, share);
    return share;
  }

  function tenantOf(name: string): Tenant {
    const known = tenants.get(name);
    if (known !== undefined) return known;
    const tenant = { name, quota: quotaOf(name), queued: 0, running: 0, claiming: 0, agents: new Map(), shares: new Map() };
    tenants.set(name, tenant);
    return tenant;
  }

  function laneOf(provider: string): Lane {
    const known = lanes.get(provider);
    if (known !== undefined) return known;
    const eligible = createIndexedHeap(isNext);
    const lane: Lane = {
      ...{ provider, maxConcurrent: maxConcurrent(provider), running: 0, startable: 0, elsewhere: 0, turn: 0, eligible },
      get queued() {
        return lane.startable + lane.elsewhere;
      },
    };
    lanes.set(provider, lane);
    return lane;
  }

  /** Changes the counts of an agent. `change` returns by how much the number of its queued tasks has changed. */
  function changeAgentOf(tenant: Tenant, agentId: string, change: (agent: AgentLoad) => number): void {
    waiting += changeAgent(tenant, agentId, change);
  }

  /** Counts the claims that take a dispatched task of the tenant: one more, or one less. */
  function countClaim(tenant: Tenant, change: 1 | -1): void {
    waiting -= change;
    tenant.claiming += change;
  }

  function listShares(): Share[] {
    return [...tenants.values()].flatMap(({ shares }) => [...shares.values()]);
  }

  return {
    lanes: lanes as ReadonlyMap<string, Lane>,
    tenants: tenants as ReadonlyMap<string, Tenant>,
    /** Dispatched tasks in all lanes that no claim will take. */
    waiting: (): number => waiting,
    laneOf,
    tenantOf,
    shareOf,
    place,
    placeAll,
    forgetIfIdle,
    changeAgentOf,
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
      for (const tenant of tenants.values()) tenant.quota = quotaOf(tenant.name);
      for (const share of shares) {
        unblock(share.dispatched);
        place(share);
      }
    },
  };
}
