import type { ClaimFilter } from "../../store/tasks/interface.ts";
import type { Share } from "./lane.ts";
import { kindOf, type LaneTask } from "./lane-task.ts";
import { hasNext, type Line } from "./line.ts";
import type { QueuedTasks } from "./queued-tasks.ts";
import { createRunningSlots } from "./running-slots.ts";
import type { Shares } from "./shares.ts";
import { agentsAtLimit, isHeldByLimit, limitsRunning } from "./tenant-load.ts";

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

/** Creates the slots: claims reserve them, start tasks in them or give them back. */
export function createSlots(shares: Shares, { count }: Pick<QueuedTasks, "count">) {
  const { laneOf, place, placeAll, countClaim } = shares;

  function toFilter({ lane: { provider }, tenant }: Share, kind: ClaimFilter["kind"]): ClaimFilter {
    if (kind === "child") return { provider, tenant: tenant.name, kind, exceptAgents: [] };
    const filter = { provider, tenant: tenant.name, kind, exceptAgents: agentsAtLimit(tenant) };
    const { maxRunning, agentMaxRunning } = tenant.quota;
    return limitsRunning(tenant.quota) ? { ...filter, limits: { maxRunning, agentMaxRunning } } : filter;
  }

  return {
    /** Whether a task of any lane waits only for a free slot. */
    isSlotAwaited(): boolean {
      for (const { eligible } of shares.lanes.values()) if (eligible.first() !== undefined) return true;
      return false;
    },
    /** Whether a limit on running tasks prevents the start of the task. */
    isHeldByQuota(task: LaneTask): boolean {
      const tenant = shares.tenants.get(task.tenant);
      return tenant !== undefined && kindOf(task) === "dispatched" && isHeldByLimit(tenant, task.agentId);
    },
    /** Reserves a free slot for the tenant whose turn it is; null if no slot is free or no task may start. */
    claimSlot(provider: string): Claim | null {
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
        countClaim(tenant, 1);
        tenant.running += 1;
      }
      if (kind === "dispatched" && limitsRunning(tenant.quota)) placeAll(tenant, provider);
      else place(share);
      return { filter: toFilter(share, kind), share, line, step, changes: line.changes };
    },
    /** Whether the claim can start only this task, which has just entered the queue: other claims will take all others that wait. */
    isClaimFor({ filter, line }: Claim, task: LaneTask): boolean {
      if (filter.tenant !== task.tenant || filter.kind !== kindOf(task)) return false;
      return line.queued.count === line.claiming && !filter.exceptAgents.includes(task.agentId);
    },
    /** Confirms that the claim has started this task: a queued one, or one that was stored as running. */
    confirmStart({ share, line }: Claim, task: LaneTask, { isArrival } = { isArrival: false }): Iterable<string> {
      line.claiming -= 1;
      if (kindOf(task) === "dispatched") {
        countClaim(share.tenant, -1);
        shares.changeRunning(share.tenant, task.agentId, 1);
      }
      count(share, task, isArrival ? "retract" : "remove");
      return placeAll(share.tenant, share.lane.provider);
    },
    /**
     * Withdraws a claim that started no task: all wait for a session in use or for a limit, or other nodes have started them. The line
     * waits for a change.
     */
    withdrawClaim({ share, line, step, changes, filter }: Claim, { blocks } = { blocks: true }): Iterable<string> {
      const { lane, tenant } = share;
      lane.running -= 1;
      share.running -= 1;
      share.turn -= step;
      line.claiming -= 1;
      if (filter.kind === "dispatched") {
        countClaim(tenant, -1);
        tenant.running -= 1;
      }
      if (blocks) line.blocked = line.changes === changes;
      return placeAll(tenant, lane.provider);
    },
    ...createRunningSlots(shares),
  };
}
