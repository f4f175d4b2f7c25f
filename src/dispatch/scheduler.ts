import type { QueueOwner } from "../errors.ts";
import type { ClaimFilter, QueuedCount } from "../store/records.ts";
import type { TaskIdentity, TenantQuota } from "../task.ts";
import { createIndexedHeap } from "./indexed-heap.ts";
import { createLine, hasNext, isInUse, isNext, type Lane, type Line, type Share, type Tenant, unblock } from "./lane.ts";
import { addStored, changeTally, correctTally, type TallyChange } from "./queue-tally.ts";
import { sumCounts } from "./sum-counts.ts";
import {
  agentsAtLimit,
  changeAgent,
  findFullOwnQueue,
  isAgentAtLimit,
  isHeldByLimit,
  limitsRunning,
  mayStartAnother,
  waitingOf,
} from "./tenant-load.ts";

/** The fields of a task that the lanes use. `node` is the only node that may start it; absent or null if any may. */
export interface LaneTask extends Pick<TaskIdentity, "tenant" | "agentId" | "provider" | "parentTaskId"> {
  node?: string | null;
}

/** Limits on slots and queues. */
export interface SchedulerLimits {
  maxConcurrent(provider: string): number;
  /** Dispatched tasks that may wait in all lanes. A tenant with less than its fair share of the queue may exceed it. */
  queueLimit: number;
  quotaOf(tenant: string): TenantQuota;
  /** The id of this node; absent if no other node shares the queue. */
  ownNode?: string | undefined;
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

export type Scheduler = ReturnType<typeof createScheduler>;

/**
 * Creates the lanes of all adapters: counts in memory that decide which tenant gets a free slot; the store picks the task. The slot goes to
 * the tenant with the fewest running tasks in the lane in proportion to its weight. Tenants with equally few take turns in proportion to
 * their weights. Within a tenant, children come first, because a running task waits for them, and then the oldest task. Methods that return
 * providers name the lanes in which a task may be able to start now. Lanes and shares are created when they are first needed; shares of
 * idle tenants are removed.
 *
 * If several nodes share the queue, each decides for its own slots. A line counts the tasks that this node may start, and the counts of
 * tenants and agents, which limit queues, are those of all nodes. Both are corrected by what is read from the store.
 */
export function createScheduler({ maxConcurrent, queueLimit, quotaOf, ownNode }: SchedulerLimits) {
  const lanes = new Map<string, Lane>();
  const tenants = new Map<string, Tenant>();
  /** Dispatched tasks that no claim will take. */
  let waiting = 0;
  let entries = 0;
  let childrenOnly = false;
  /** Number of readings of the store that have begun. */
  let reading = 0;

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

  /** Whether a task of any lane waits only for a free slot. */
  function isSlotAwaited(): boolean {
    for (const { eligible } of lanes.values()) if (eligible.first() !== undefined) return true;
    return false;
  }

  /** Whether a limit on running tasks prevents the start of the task. */
  function isHeldByQuota(task: LaneTask): boolean {
    const tenant = tenants.get(task.tenant);
    return tenant !== undefined && kindOf(task) === "dispatched" && isHeldByLimit(tenant, task.agentId);
  }

  /** Whether only other nodes may start the task. */
  const isElsewhere = ({ node = null }: Pick<LaneTask, "node">): boolean => ownNode !== undefined && node !== null && node !== ownNode;

  /** Adds tasks that are stored as queued. */
  function addQueued(task: LaneTask, count = 1): void {
    if (isElsewhere(task)) {
      addElsewhere(task, count);
      return;
    }
    const share = shareOf(task);
    const kind = kindOf(task);
    addStored(share[kind].queued, count, reading);
    share.lane.startable += count;
    addToAgent(share.tenant, task, count);
    if (kind === "child" || !isAgentAtLimit(share.tenant, task.agentId)) unblock(share[kind]);
    place(share);
  }

  /** Adds tasks that only other nodes may start. Other nodes count their children. */
  function addElsewhere(task: LaneTask, count = 1): void {
    if (kindOf(task) === "child") return;
    laneOf(task.provider).elsewhere += count;
    addToAgent(tenantOf(task.tenant), task, count);
  }

  function addToAgent(tenant: Tenant, task: LaneTask, count: number): void {
    if (kindOf(task) === "child") return;
    waiting += changeAgent(tenant, task.agentId, ({ queued }) => {
      addStored(queued, count, reading);
      return count;
    });
  }

  /** Adds a task that is about to be stored. Call `settleArrival` when it was, or `confirmStart` if it was stored as running. */
  function addArriving(task: LaneTask): void {
    const share = shareOf(task);
    const kind = kindOf(task);
    countQueued(share, task, "arrive");
    if (kind === "child" || !isAgentAtLimit(share.tenant, task.agentId)) unblock(share[kind]);
    place(share);
  }

  /** Reports how a task was stored: as queued for this node, as queued for another node, or not at all. */
  function settleArrival(task: LaneTask, outcome: "here" | "elsewhere" | "absent"): void {
    const share = shareOf(task);
    share.lane.startable += changeTally(share[kindOf(task)].queued, outcome === "here" ? "store" : "retract", reading);
    changeAgentQueue(share.tenant, task, outcome === "absent" ? "retract" : "store");
    if (outcome === "elsewhere") share.lane.elsewhere += 1;
    place(share);
  }

  /** Removes a task that has left the queue without a claim. */
  function removeQueued(task: LaneTask): void {
    if (isElsewhere(task)) removeElsewhere(task);
    else {
      const share = shareOf(task);
      countQueued(share, task, "remove");
      place(share);
    }
  }

  function removeElsewhere(task: LaneTask): void {
    if (kindOf(task) === "child") return;
    const lane = laneOf(task.provider);
    lane.elsewhere = Math.max(0, lane.elsewhere - 1);
    const tenant = tenantOf(task.tenant);
    changeAgentQueue(tenant, task, "remove");
    forgetIfIdle(tenant);
  }

  function countQueued(share: Share, task: LaneTask, change: TallyChange): void {
    share.lane.startable += changeTally(share[kindOf(task)].queued, change, reading);
    changeAgentQueue(share.tenant, task, change);
  }

  function changeAgentQueue(tenant: Tenant, task: LaneTask, change: TallyChange): void {
    if (kindOf(task) === "child") return;
    waiting += changeAgent(tenant, task.agentId, ({ queued }) => changeTally(queued, change, reading));
  }

  // --- the queue of all nodes -----------------------------------------------------------------------------------------

  /** Call it before the store is read for `applyCounts`. */
  function beginReading(): void {
    reading += 1;
  }

  /** Corrects the counts by what was read from the store. Returns the providers whose tasks may be able to start now. */
  function applyCounts(counts: readonly QueuedCount[]): Iterable<string> {
    const read = sumCounts(counts);
    for (const { tenant, startable, provider } of counts) if (startable > 0) shareOf({ tenant, provider });
    for (const { tenant } of counts) tenantOf(tenant);
    for (const tenant of [...tenants.values()]) {
      const agents = read.agents.get(tenant.name);
      for (const agentId of new Set([...tenant.agents.keys(), ...(agents?.keys() ?? [])]))
        correctAgent(tenant, agentId, agents?.get(agentId) ?? 0);
      for (const share of [...tenant.shares.values()]) {
        correctLine(share, "child", read.child.get(share.lane.provider)?.get(tenant.name) ?? 0);
        correctLine(share, "dispatched", read.dispatched.get(share.lane.provider)?.get(tenant.name) ?? 0);
        place(share);
      }
      forgetIfIdle(tenant);
    }
    for (const { provider } of counts) laneOf(provider);
    for (const lane of lanes.values()) lane.elsewhere = read.elsewhere.get(lane.provider) ?? 0;
    return [...lanes.keys()];
  }

  function correctAgent(tenant: Tenant, agentId: string, read: number): void {
    const { claiming } = tenant;
    waiting += changeAgent(tenant, agentId, ({ queued }) => correctTally(queued, { reading, read, claiming }));
  }

  /**
   * A line may be blocked because a task of another node uses a session, because the tenant has reached a limit over all nodes, or because
   * another node had locked the only task for a moment.
   */
  function correctLine(share: Share, kind: ClaimFilter["kind"], read: number): void {
    const line = share[kind];
    share.lane.startable += correctTally(line.queued, { reading, read, claiming: line.claiming });
    if (read > 0) unblock(line);
  }

  /** Reports the end of a task of another node. If limits on running tasks hold over all nodes, another task may start now. */
  function noteEnd(name: string): Iterable<string> {
    const tenant = tenants.get(name);
    if (tenant === undefined || !limitsRunning(tenant.quota)) return [];
    for (const share of tenant.shares.values()) {
      unblock(share.dispatched);
      place(share);
    }
    return [...tenant.shares.keys()];
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
    return { filter: toFilter(share, kind), share, line, step, changes: line.changes };
  }

  function toFilter({ lane: { provider }, tenant }: Share, kind: ClaimFilter["kind"]): ClaimFilter {
    if (kind === "child") return { provider, tenant: tenant.name, kind, exceptAgents: [] };
    const filter = { provider, tenant: tenant.name, kind, exceptAgents: agentsAtLimit(tenant) };
    const { maxRunning, agentMaxRunning } = tenant.quota;
    return ownNode !== undefined && limitsRunning(tenant.quota) ? { ...filter, limits: { maxRunning, agentMaxRunning } } : filter;
  }

  /** Whether the claim can start only this task, which has just entered the queue: other claims will take all others that wait. */
  function isClaimFor({ filter, line }: Claim, task: LaneTask): boolean {
    if (filter.tenant !== task.tenant || filter.kind !== kindOf(task)) return false;
    return line.queued.count === line.claiming && !filter.exceptAgents.includes(task.agentId);
  }

  /** Confirms that the claim has started this task: a queued one, or one that was stored as running. */
  function confirmStart({ share, line }: Claim, task: LaneTask, { isArrival } = { isArrival: false }): Iterable<string> {
    line.claiming -= 1;
    if (kindOf(task) === "dispatched") {
      waiting += 1;
      share.tenant.claiming -= 1;
      changeRunning(share.tenant, task.agentId, 1);
    }
    countQueued(share, task, isArrival ? "retract" : "remove");
    return placeAll(share.tenant, share.lane.provider);
  }

  /**
   * Withdraws a claim that started no task: all wait for a session in use or for a limit, or other nodes have started them. The line
   * waits for a change.
   */
  function withdrawClaim({ share, line, step, changes, filter }: Claim, { blocks } = { blocks: true }): Iterable<string> {
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
    if (blocks) line.blocked = line.changes === changes;
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
      changeRunning(tenant, task.agentId, -1);
      if (tenant.quota.agentMaxRunning !== null) for (const other of tenant.shares.values()) unblock(other.dispatched);
    }
    return placeAll(tenant, lane.provider);
  }

  function changeRunning(tenant: Tenant, agentId: string, change: number): void {
    changeAgent(tenant, agentId, (agent) => {
      agent.running += change;
      return 0;
    });
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
    if (share.running > 0 || isInUse(child) || isInUse(dispatched)) return;
    tenant.shares.delete(lane.provider);
    forgetIfIdle(tenant);
  }

  function forgetIfIdle(tenant: Tenant): void {
    if (tenant.shares.size === 0 && tenant.agents.size === 0) tenants.delete(tenant.name);
  }

  // --- creation on first use ------------------------------------------------------------------------------------------

  function shareOf(task: Pick<LaneTask, "tenant" | "provider">): Share {
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
    getLane: (provider: string): Readonly<Lane> => laneOf(provider),
    listLanes: (): Iterable<Readonly<Lane>> => lanes.values(),
    findFullQueue,
    isSlotAwaited,
    isHeldByQuota,
    isElsewhere,
    addQueued,
    addElsewhere,
    addArriving,
    settleArrival,
    removeQueued,
    beginReading,
    applyCounts,
    noteEnd,
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
