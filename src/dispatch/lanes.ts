import type { QueueOwner } from "../errors.ts";
import type { ClaimFilter } from "../store/store.ts";
import type { TaskIdentity, TenantQuota } from "../task.ts";
import { createIndexedHeap, type HeapItem, type IndexedHeap } from "./indexed-heap.ts";

/** The slots of one adapter and the tasks that wait for one. Counted in memory; the store holds the truth. */
export interface Lane {
  readonly provider: string;
  readonly maxConcurrent: number;
  /** Slots taken, from the claim until the runtime is really gone. */
  readonly running: number;
  readonly queued: number;
}

/** The fields of a task that the lanes use. */
export type LaneTask = Pick<TaskIdentity, "tenant" | "agentId" | "provider" | "parentTaskId">;

/** A slot that is reserved for the oldest task that the filter finds. */
export interface Claim {
  readonly filter: ClaimFilter;
}

/**
 * The lanes of all adapters. A free slot goes to the tenant with the fewest running tasks in the lane in proportion to its weight; of those
 * with equally few, tenants take turns in proportion to their weights. Within a tenant children come first, because a running task waits for
 * them, and then the oldest task. Methods that return providers name the lanes in which a task may be able to start now.
 */
export interface Lanes {
  of(provider: string): Lane;
  all(): Iterable<Lane>;
  /** The queue that has no room for one more dispatched task; null when all have. */
  findFullQueue(task: Pick<LaneTask, "tenant" | "agentId">): QueueOwner | null;
  /** Whether a limit on running tasks prevents the start of the task. */
  isHeldByQuota(task: LaneTask): boolean;

  enqueued(task: LaneTask, count?: number): void;
  /** The task has left the queue without a claim. */
  dequeued(task: LaneTask): void;
  /** Reserves a free slot for the tenant whose turn it is; null when no slot is free or no task may start. */
  claim(provider: string): Claim | null;
  /** The claim has started this task. */
  started(claim: Claim, task: LaneTask): Iterable<string>;
  /** The claim found no task: all wait for a resume token or an agent's limit. The share is not tried again before a change. */
  missed(claim: Claim): Iterable<string>;
  /** The slot of the task is free. */
  released(task: LaneTask): Iterable<string>;

  /** From now on only children start. */
  startChildrenOnly(): void;
  /** Reads all quotas again. */
  quotasChanged(): void;
}

/** Limits that the lanes keep. */
export interface LaneLimits {
  maxConcurrent(provider: string): number;
  /** Dispatched tasks that may wait in all lanes. A tenant below its fair share of it may exceed it. */
  queueLimit: number;
  quotaOf(tenant: string): TenantQuota;
}

interface LaneState {
  readonly provider: string;
  readonly maxConcurrent: number;
  running: number;
  queued: number;
  /** Start tag of the last claim: the virtual time of start-time fair queueing. */
  turn: number;
  /** Those of its shares from which a task may start. */
  eligible: IndexedHeap<Share>;
}

interface Tenant {
  readonly name: string;
  quota: TenantQuota;
  /** Dispatched tasks in all lanes; those running include claims. */
  queued: number;
  running: number;
  claiming: number;
  readonly agents: Map<string, { queued: number; running: number }>;
  readonly shares: Map<string, Share>;
}

/** One tenant in one lane. */
interface Share extends HeapItem {
  readonly lane: LaneState;
  readonly tenant: Tenant;
  running: number;
  /** Starts in proportion to the weight, never less than the lane's when it enters the order: no credit for time without a queue. */
  turn: number;
  /** When it entered the order. */
  since: number;
  readonly child: Line;
  readonly dispatched: Line;
}

/** The tasks of one share and kind that wait. */
interface Line {
  queued: number;
  /** Claims under way: each will take one of the queued tasks. */
  claiming: number;
  /** The last claim found nothing, and nothing has changed since. */
  blocked: boolean;
  changes: number;
}

interface OpenClaim extends Claim {
  readonly share: Share;
  readonly line: Line;
  /** By how much it moved the share's turn. */
  readonly step: number;
  /** `changes` of the line when the claim was made. */
  readonly changes: number;
}

/** Creates a lane for each provider and a share for each tenant when they are first needed; shares of idle tenants are forgotten. */
export function createLanes({ maxConcurrent, queueLimit, quotaOf }: LaneLimits): Lanes {
  const lanes = new Map<string, LaneState>();
  const tenants = new Map<string, Tenant>();
  let waiting = 0;
  let entries = 0;
  let childrenOnly = false;

  function laneOf(provider: string): LaneState {
    const known = lanes.get(provider);
    if (known !== undefined) return known;
    const eligible = createIndexedHeap(isNext);
    const lane = { provider, maxConcurrent: maxConcurrent(provider), running: 0, queued: 0, turn: 0, eligible };
    lanes.set(provider, lane);
    return lane;
  }

  function tenantOf(name: string): Tenant {
    const known = tenants.get(name);
    if (known !== undefined) return known;
    const tenant = { name, quota: quotaOf(name), queued: 0, running: 0, claiming: 0, agents: new Map(), shares: new Map() };
    tenants.set(name, tenant);
    return tenant;
  }

  function shareOf(task: LaneTask): Share {
    const tenant = tenantOf(task.tenant);
    const known = tenant.shares.get(task.provider);
    if (known !== undefined) return known;
    const lane = laneOf(task.provider);
    const share = { lane, tenant, running: 0, turn: 0, since: 0, child: newLine(), dispatched: newLine(), heapIndex: -1 };
    tenant.shares.set(task.provider, share);
    return share;
  }

  /** Counts a dispatched task of an agent; agents without tasks are forgotten. */
  function countAgent({ agents }: Tenant, agentId: string, change: { queued?: number; running?: number }): void {
    const agent = agents.get(agentId) ?? { queued: 0, running: 0 };
    agent.queued += change.queued ?? 0;
    agent.running += change.running ?? 0;
    if (agent.queued === 0 && agent.running === 0) agents.delete(agentId);
    else agents.set(agentId, agent);
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

  const isAgentAtLimit = ({ agents, quota }: Tenant, agentId: string): boolean =>
    quota.agentMaxRunning !== null && (agents.get(agentId)?.running ?? 0) >= quota.agentMaxRunning;

  function mayStartDispatched({ quota, running, claiming }: Tenant): boolean {
    if (childrenOnly || (quota.maxRunning !== null && running >= quota.maxRunning)) return false;
    // The agent is unknown until the claim returns, so only one claim at a time can respect the limit of each agent.
    return quota.agentMaxRunning === null || claiming === 0;
  }

  /** Moves the share to its place in the lane's order, or removes it from the order, or deletes it. */
  function place(share: Share): void {
    const { lane, tenant, child, dispatched } = share;
    if (hasNext(child) || (hasNext(dispatched) && mayStartDispatched(tenant))) {
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

  /** Limits on running tasks count over all lanes, so a change in one lane may let a task start in another. */
  function placeAll(tenant: Tenant, provider: string): Iterable<string> {
    const providers = new Set(tenant.shares.keys()).add(provider);
    for (const share of tenant.shares.values()) place(share);
    return providers;
  }

  /** A tenant's fair share of the queue: its part, by weight, among the tenants that have a task in it. */
  function fairShare(name: string, weight: number): number {
    let weights = weight;
    for (const tenant of tenants.values()) if (tenant.name !== name && tenant.queued > tenant.claiming) weights += tenant.quota.weight;
    return (queueLimit * weight) / weights;
  }

  return {
    of: laneOf,
    all: () => lanes.values(),

    findFullQueue({ tenant: name, agentId }) {
      const tenant = tenants.get(name);
      const quota = tenant?.quota ?? quotaOf(name);
      const held = tenant === undefined ? 0 : tenant.queued - tenant.claiming;
      if (isReached(tenant?.agents.get(agentId)?.queued ?? 0, quota.agentQueueLimit)) return "agent";
      if (isReached(held, quota.queueLimit)) return "tenant";
      return waiting >= queueLimit && held >= fairShare(name, quota.weight) ? "bridge" : null;
    },

    isHeldByQuota(task) {
      const tenant = tenants.get(task.tenant);
      if (tenant === undefined || kindOf(task) === "child") return false;
      return isReached(tenant.running, tenant.quota.maxRunning) || isAgentAtLimit(tenant, task.agentId);
    },

    enqueued(task, count = 1) {
      const share = shareOf(task);
      const kind = kindOf(task);
      countQueued(share, task, count);
      if (kind === "child" || !isAgentAtLimit(share.tenant, task.agentId)) unblock(share[kind]);
      place(share);
    },

    dequeued(task) {
      const share = shareOf(task);
      countQueued(share, task, -1);
      place(share);
    },

    claim(provider) {
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
      if (kind === "dispatched" && isLimited(tenant.quota)) placeAll(tenant, provider);
      else place(share);
      const filter = { provider, tenant: tenant.name, kind, exceptAgents: kind === "child" ? [] : agentsAtLimit(tenant) } as const;
      return { filter, share, line, step, changes: line.changes } satisfies OpenClaim;
    },

    started(claim, task) {
      const { share, line } = claim as OpenClaim;
      line.claiming -= 1;
      if (kindOf(task) === "dispatched") {
        waiting += 1;
        share.tenant.claiming -= 1;
        countAgent(share.tenant, task.agentId, { running: 1 });
      }
      countQueued(share, task, -1);
      return placeAll(share.tenant, share.lane.provider);
    },

    missed(claim) {
      const { share, line, step, changes, filter } = claim as OpenClaim;
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
    },

    released(task) {
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
    },

    startChildrenOnly() {
      childrenOnly = true;
      for (const tenant of tenants.values()) for (const share of tenant.shares.values()) place(share);
    },

    quotasChanged() {
      // Many keys change, so the heap is rebuilt.
      for (const tenant of tenants.values()) for (const share of tenant.shares.values()) share.lane.eligible.remove(share);
      for (const tenant of tenants.values()) {
        tenant.quota = quotaOf(tenant.name);
        for (const share of tenant.shares.values()) {
          unblock(share.dispatched);
          place(share);
        }
      }
    },
  };
}

const kindOf = (task: LaneTask): ClaimFilter["kind"] => (task.parentTaskId === null ? "dispatched" : "child");

const newLine = (): Line => ({ queued: 0, claiming: 0, blocked: false, changes: 0 });

const hasNext = ({ queued, claiming, blocked }: Line): boolean => queued > claiming && !blocked;

function unblock(line: Line): void {
  line.blocked = false;
  line.changes += 1;
}

const isReached = (count: number, limit: number | null): boolean => limit !== null && count >= limit;

const isLimited = ({ maxRunning, agentMaxRunning }: TenantQuota): boolean => maxRunning !== null || agentMaxRunning !== null;

function agentsAtLimit({ agents, quota: { agentMaxRunning } }: Tenant): string[] {
  if (agentMaxRunning === null) return [];
  return [...agents].filter(([, { running }]) => running >= agentMaxRunning).map(([agentId]) => agentId);
}

/** Does the left share come before the right one in a lane? */
function isNext(left: Share, right: Share): boolean {
  const leftLoad = left.running / left.tenant.quota.weight;
  const rightLoad = right.running / right.tenant.quota.weight;
  if (leftLoad !== rightLoad) return leftLoad < rightLoad;
  return left.turn === right.turn ? left.since < right.since : left.turn < right.turn;
}
