import type { QueueOwner } from "../../errors.ts";
import type { LaneTask } from "./lane-task.ts";
import type { SchedulerLimits } from "./lanes.ts";
import type { Shares } from "./shares.ts";
import { findFullOwnQueue, waitingOf } from "./tenant-load.ts";

/** Creates the check whether a queue has room for one more dispatched task. Returns a full queue; null if all have room. */
export function createQueueLimits(shares: Shares, { queueLimit, quotaOf }: Pick<SchedulerLimits, "queueLimit" | "quotaOf">) {
  /** Returns the tenant's share of the queue, by weight, among the tenants that have a task in it. */
  function fairShare(name: string, weight: number): number {
    let weights = weight;
    for (const tenant of shares.tenants.values()) if (tenant.name !== name && waitingOf(tenant) > 0) weights += tenant.quota.weight;
    return (queueLimit * weight) / weights;
  }

  return ({ tenant: name, agentId }: Pick<LaneTask, "tenant" | "agentId">): QueueOwner | null => {
    const tenant = shares.tenants.get(name);
    const quota = tenant?.quota ?? quotaOf(name);
    const own = findFullOwnQueue(tenant, quota, agentId);
    if (own !== null || shares.waiting() < queueLimit) return own;
    return (tenant === undefined ? 0 : waitingOf(tenant)) >= fairShare(name, quota.weight) ? "bridge" : null;
  };
}
