import { kindOf, type LaneTask } from "./lane-task.ts";
import { unblock } from "./line.ts";
import type { Shares } from "./shares.ts";

/** Creates the slots of running tasks: a task leaves its slot when it ends, or enters one of another adapter. */
export function createRunningSlots(shares: Shares) {
  const { shareOf, laneOf, place, placeAll } = shares;

  return {
    /** Frees the slot of a task. The task itself still runs, and counts for its tenant and its agent. */
    leaveSlot(task: LaneTask): Iterable<string> {
      const share = shareOf(task);
      const { lane, tenant } = share;
      lane.running -= 1;
      share.running -= 1;
      unblock(share.child);
      unblock(share.dispatched);
      return placeAll(tenant, lane.provider);
    },
    /** Occupies a slot for a task that runs but has none. Returns false if no slot is free. */
    enterSlot(task: LaneTask): boolean {
      const lane = laneOf(task.provider);
      if (lane.running >= lane.maxConcurrent) return false;
      const share = shareOf(task);
      lane.running += 1;
      share.running += 1;
      place(share);
      return true;
    },
    /** Counts the end of a task that has no slot any more. Tasks of the same adapter may have waited for its session. */
    endRun(task: LaneTask): Iterable<string> {
      const { lane, tenant, child, dispatched } = shareOf(task);
      unblock(child);
      unblock(dispatched);
      if (kindOf(task) === "dispatched") {
        tenant.running -= 1;
        shares.changeRunning(tenant, task.agentId, -1);
        if (tenant.quota.agentMaxRunning !== null) for (const other of tenant.shares.values()) unblock(other.dispatched);
      }
      return placeAll(tenant, lane.provider);
    },
  };
}
