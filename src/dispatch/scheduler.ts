import type { QueueOwner } from "../errors.ts";
import type { ClaimFilter } from "../store/store.ts";
import type { TaskIdentity, TenantQuota } from "../task.ts";
import { createIndexedHeap, type HeapItem, type IndexedHeap } from "./indexed-heap.ts";
import {
  agentsAtLimit,
  countAgent,
  findFullOwnQueue,
  isAgentAtLimit,
  isHeldByLimit,
  limitsRunning,
  mayStartAnother,
  type TenantLoad,
  waitingOf,
} from "./tenant-load.ts";

/** The fields of a task that the lanes use. */
export type LaneTask = Pick<TaskIdentity, "tenant" | "agentId" | "provider" | "parentTaskId">;

/** Limits on slots and queues. */
export interface SchedulerLimits {
  maxConcurrent(provider: string): number;
  /** Dispatched tasks that may wait in all lanes. A tenant with less than its fair share of the queue may exceed it. */
  queueLimit: number;
  quotaOf(tenant: string): TenantQuota;
}

/** A slot that is reserved for the oldest task that the filter finds. */
export interface Claim {
  readonly filter: ClaimFilter;
  readonly share: Share;
  readonly line: Line;
  /** By how much the claim moved the share's turn. */
  readonly step: number;
  /** `changes` of the line when the claim was made. */
  readonly changes: number;
}

/** The slots of one adapter and the tasks that wait for one. */
interface Lane {
  readonly provider: string;
  readonly maxConcurrent: number;
  /** Occupied slots, each from the claim until the runtime has ended. */
  running: number;
  queued: number;
  /** Start tag of the last claim: the virtual time of start-time fair queueing. */
  turn: number;
  /** The shares from which a task may start. */
  eligible: IndexedHeap<Share>;
}

interface Tenant extends TenantLoad {
  /** By provider. */
  readonly shares: Map<string, Share>;
}

/** One tenant in one lane. */
interface Share extends HeapItem {
  readonly lane: Lane;
  readonly tenant: Tenant;
  running: number;
  /**
   * Grows with each start, inversely to the weight. When the share enters the order, its turn is raised to the lane's turn, because time
   * without a queue earns no credit.
   */
  turn: number;
  /** When it entered the order, as a serial number. */
  since: number;
  readonly child: Line;
  readonly dispatched: Line;
}

/** The waiting tasks of one share and kind. */
interface Line {
  queued: number;
  /** Claims in progress. Each will take one of the queued tasks. */
  claiming: number;
  /** The last claim found no task, and nothing has changed since. */
  blocked: boolean;
  changes: number;
}

export type Scheduler = ReturnType<typeof createScheduler>;

/**
 * Creates the lanes of all adapters: counts in memory that decide which tenant gets a free slot; the store picks the task. The slot goes to
 * the tenant with the fewest running tasks in the lane in proportion to its weight. Tenants with equally few take turns in proportion to
 * their weights. Within a tenant, children come first, because a running task waits for them, and then the oldest task. Methods that return
 * providers name the lanes in which a task may be able to start now. Lanes and shares are created when they are first needed; shares of
 * idle tenants are removed.
 */
export function createScheduler({ maxConcurrent, queueLimit, quotaOf }: SchedulerLimits) {
  const lanes = new Map<string, Lane>();
  const tenants = new Map<string, Tenant>();
  /** Dispatched tasks that no claim will take. */
  let waiting = 0;
  let entries = 0;
  let childrenOnly = false;

  // --- the queue ------------------------------------------------------------------------------------------------------

  /** Finds a queue that has no room for one more dispatched task; null if all have room. */
  function findFullQueue({ tenant: name, agentId }: Pick<LaneTask, "tenant" | "agentId">): QueueOwner | null {
    const tenant = tenants.get(name);
    const quota = tenant?.quota ?? quotaOf(name);
    const own = findFullOwnQueue(tenant, quota, agentId);
    if (own !== null || waiting < queueLimit) return own;
    return (tenant === undefined ? 0 : waitingOf(tenant)) >= fairShare(name, quota.weight) ? "bridge" : null;
  }

  /** Returns the tenant's share of the queue, by weight, among the tenants that have a task in it. */
  function fairShare(name: string, weight: number): number {
    let weights = weight;
    for (const tenant of tenants.values()) if (tenant.name !== name && waitingOf(tenant) > 0) weights += tenant.quota.weight;
    return (queueLimit * weight) / weights;
  }

  /** Whether a limit on running tasks prevents the start of the task. */
  function isHeldByQuota(task: LaneTask): boolean {
    const tenant = tenants.get(task.tenant);
    return tenant !== undefined && kindOf(task) === "dispatched" && isHeldByLimit(tenant, task.agentId);
  }

  function addQueued(task: LaneTask, count = 1): void {
    const share = shareOf(task);
    const kind = kindOf(task);
    countQueued(share, task, count);
    if (kind === "child" || !isAgentAtLimit(share.tenant, task.agentId)) unblock(share[kind]);
    place(share);
  }

  /** Removes a task that has left the queue without a claim. */
  function removeQueued(task: LaneTask): void {
    const share = shareOf(task);
    countQueued(share, task, -1);
    place(share);
  }

  function countQueued(share: Share, task: LaneTask, count: number): void {
    const kind = kindOf(task);
    share[kind].queued += count;
    share.lane.queued += count;
    if (kind === "child") return;
    waiting += count;
    share.tenant.queued += count;
    countAgent(share.tenant, task.agentId, { queued: count });
  }

  // --- the slots ------------------------------------------------------------------------------------------------------

  /** Reserves a free slot for the tenant whose turn it is; null if no slot is free or no task may start. */
  function claimSlot(provider: string): Claim | null {
    const lane = laneOf(provider);
    const share = lane.running < lane.maxConcurrent ? lane.eligible.first() : undefined;
    if (share === undefined) return null;
    const { tenant } = share;
    const kind = hasNext(share.child) ? "child" : "dispatched";
    const line = share[kind];
    const step = 1 / tenant.quota.weight;
    lane.turn = Math.max(lane.turn, share.turn);
    share.turn = lane.turn + step;
    lane.running += 1;
    share.running += 1;
    line.claiming += 1;
    if (kind === "dispatched") {
      waiting -= 1;
      tenant.running += 1;
      tenant.claiming += 1;
    }
    if (kind === "dispatched" && limitsRunning(tenant.quota)) placeAll(tenant, provider);
    else place(share);
    const filter = { provider, tenant: tenant.name, kind, exceptAgents: kind === "child" ? [] : agentsAtLimit(tenant) } as const;
    return { filter, share, line, step, changes: line.changes };
  }

  /** Whether the claim can start only this task, which has just entered the queue: other claims will take all others that wait. */
  function isClaimFor({ filter, line }: Claim, task: LaneTask): boolean {
    if (filter.tenant !== task.tenant || filter.kind !== kindOf(task)) return false;
    return line.queued === line.claiming && !filter.exceptAgents.includes(task.agentId);
  }

  /** Confirms that the claim has started this task. */
  function confirmStart({ share, line }: Claim, task: LaneTask): Iterable<string> {
    line.claiming -= 1;
    if (kindOf(task) === "dispatched") {
      waiting += 1;
      share.tenant.claiming -= 1;
      countAgent(share.tenant, task.agentId, { running: 1 });
    }
    countQueued(share, task, -1);
    return placeAll(share.tenant, share.lane.provider);
  }

  /** Withdraws a claim that started no task: all wait for a session in use or for an agent's limit. The line waits for a change. */
  function withdrawClaim({ share, line, step, changes, filter }: Claim): Iterable<string> {
    const { lane, tenant } = share;
    lane.running -= 1;
    share.running -= 1;
    share.turn -= step;
    line.claiming -= 1;
    if (filter.kind === "dispatched") {
      waiting += 1;
      tenant.running -= 1;
      tenant.claiming -= 1;
    }
    line.blocked = line.changes === changes;
    return placeAll(tenant, lane.provider);
  }

  /** Releases the slot of a task. */
  function releaseSlot(task: LaneTask): Iterable<string> {
    const share = shareOf(task);
    const { lane, tenant } = share;
    lane.running -= 1;
    share.running -= 1;
    unblock(share.child);
    unblock(share.dispatched);
    if (kindOf(task) === "dispatched") {
      tenant.running -= 1;
      countAgent(tenant, task.agentId, { running: -1 });
      if (tenant.quota.agentMaxRunning !== null) for (const other of tenant.shares.values()) unblock(other.dispatched);
    }
    return placeAll(tenant, lane.provider);
  }

  // --- limits that change ---------------------------------------------------------------------------------------------

  /** Starts only children from now on. */
  function startChildrenOnly(): void {
    childrenOnly = true;
    for (const tenant of tenants.values()) for (const share of tenant.shares.values()) place(share);
  }

  /** Reads all quotas again. */
  function reloadQuotas(): void {
    // A heap allows only one key to change at a time, so all shares are removed first.
    for (const tenant of tenants.values()) for (const share of tenant.shares.values()) share.lane.eligible.remove(share);
    for (const tenant of tenants.values()) {
      tenant.quota = quotaOf(tenant.name);
      for (const share of tenant.shares.values()) {
        unblock(share.dispatched);
        place(share);
      }
    }
  }

  // --- the order of shares --------------------------------------------------------------------------------------------

  /** Limits on running tasks count over all lanes, so a change in one lane may let a task start in another. */
  function placeAll(tenant: Tenant, provider: string): Iterable<string> {
    const providers = new Set(tenant.shares.keys()).add(provider);
    for (const share of tenant.shares.values()) place(share);
    return providers;
  }

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
    if (share.running > 0 || child.queued > 0 || dispatched.queued > 0) return;
    tenant.shares.delete(lane.provider);
    if (tenant.shares.size === 0) tenants.delete(tenant.name);
  }

  // --- creation on first use ------------------------------------------------------------------------------------------

  function shareOf(task: LaneTask): Share {
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
    const lane = { provider, maxConcurrent: maxConcurrent(provider), running: 0, queued: 0, turn: 0, eligible };
    lanes.set(provider, lane);
    return lane;
  }

  return {
    getLane: (provider: string): Readonly<Lane> => laneOf(provider),
    listLanes: (): Iterable<Readonly<Lane>> => lanes.values(),
    findFullQueue,
    isHeldByQuota,
    addQueued,
    removeQueued,
    claimSlot,
    isClaimFor,
    confirmStart,
    withdrawClaim,
    releaseSlot,
    startChildrenOnly,
    reloadQuotas,
  };
}

const kindOf = (task: LaneTask): ClaimFilter["kind"] => (task.parentTaskId === null ? "dispatched" : "child");

const createLine = (): Line => ({ queued: 0, claiming: 0, blocked: false, changes: 0 });

const hasNext = ({ queued, claiming, blocked }: Line): boolean => queued > claiming && !blocked;

function unblock(line: Line): void {
  line.blocked = false;
  line.changes += 1;
}

/** Whether the left share comes before the right one in a lane. */
function isNext(left: Share, right: Share): boolean {
  const leftLoad = left.running / left.tenant.quota.weight;
  const rightLoad = right.running / right.tenant.quota.weight;
  if (leftLoad !== rightLoad) return leftLoad < rightLoad;
  return left.turn === right.turn ? left.since < right.since : left.turn < right.turn;
}
