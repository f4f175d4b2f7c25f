import type { TenantQuota } from "../../task.ts";
import { createIndexedHeap } from "./indexed-heap.ts";
import { isNext, type Lane, type Share, type Tenant } from "./lane.ts";
import { createLine } from "./line.ts";

/** Limits on slots and queues. */
export interface SchedulerLimits {
  maxConcurrent(provider: string): number;
  /** Dispatched tasks that may wait in all lanes. A tenant with less than its fair share of the queue may exceed it. */
  queueLimit: number;
  quotaOf(tenant: string): TenantQuota;
  /** The id of this node. */
  ownNode: string;
}

/** Creates the lanes, the tenants and their shares when they are first needed. */
export function createLanes({ maxConcurrent, quotaOf }: Pick<SchedulerLimits, "maxConcurrent" | "quotaOf">) {
  const lanes = new Map<string, Lane>();
  const tenants = new Map<string, Tenant>();

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

  return {
    lanes: lanes as ReadonlyMap<string, Lane>,
    tenants: tenants as ReadonlyMap<string, Tenant>,
    laneOf,
    tenantOf,
    shareOf,
    /** Removes a tenant without shares and agents. */
    forgetIfIdle,
    /** Removes a share that counts nothing. */
    removeShare({ tenant, lane }: Share): void {
      tenant.shares.delete(lane.provider);
      forgetIfIdle(tenant);
    },
    listShares: (): Share[] => [...tenants.values()].flatMap(({ shares }) => [...shares.values()]),
  };
}
