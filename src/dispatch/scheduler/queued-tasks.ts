import type { Share, Tenant } from "./lane.ts";
import { kindOf, type LaneTask } from "./lane-task.ts";
import type { SchedulerLimits } from "./lanes.ts";
import { unblock } from "./line.ts";
import { addStored, changeTally, type TallyChange } from "./queue-tally.ts";
import type { Shares } from "./shares.ts";
import { isAgentAtLimit } from "./tenant-load.ts";

export type QueuedTasks = ReturnType<typeof createQueuedTasks>;

/** Creates the counts of the tasks that enter and leave the queue. `readings.begun` counts the readings of the store that have begun. */
export function createQueuedTasks(shares: Shares, { ownNode }: Pick<SchedulerLimits, "ownNode">, readings: { readonly begun: number }) {
  const { shareOf, laneOf, tenantOf, place } = shares;

  /** Whether only other nodes may start the task. */
  const isElsewhere = ({ node = null }: Pick<LaneTask, "node">): boolean => node !== null && node !== ownNode;

  /** Adds tasks that are stored as queued. */
  function addQueued(task: LaneTask, count = 1): void {
    if (isElsewhere(task)) {
      addElsewhere(task, count);
      return;
    }
    const share = shareOf(task);
    addStored(share[kindOf(task)].queued, count, readings.begun);
    share.lane.startable += count;
    addToAgent(share.tenant, task, count);
    enter(share, task);
  }

  /** Adds tasks that only other nodes may start. Other nodes count their children. */
  function addElsewhere(task: LaneTask, count = 1): void {
    if (kindOf(task) === "child") return;
    laneOf(task.provider).elsewhere += count;
    addToAgent(tenantOf(task.tenant), task, count);
  }

  /** Adds a task that is about to be stored. Call `endArrival` when it was, or `confirmStart` if it was stored as running. */
  function addArriving(task: LaneTask): void {
    const share = shareOf(task);
    count(share, task, "arrive");
    enter(share, task);
  }

  function enter(share: Share, task: LaneTask): void {
    const kind = kindOf(task);
    if (kind === "child" || !isAgentAtLimit(share.tenant, task.agentId)) unblock(share[kind]);
    place(share);
  }

  /** Reports how a task was stored: as queued for this node, as queued for another node, or not at all. */
  function endArrival(task: LaneTask, outcome: "here" | "elsewhere" | "absent"): void {
    const share = shareOf(task);
    share.lane.startable += changeTally(share[kindOf(task)].queued, outcome === "here" ? "store" : "retract", readings.begun);
    changeAgentQueue(share.tenant, task, outcome === "absent" ? "retract" : "store");
    if (outcome === "elsewhere") share.lane.elsewhere += 1;
    place(share);
  }

  /** Removes a task that has left the queue without a claim. */
  function removeQueued(task: LaneTask): void {
    if (isElsewhere(task)) removeElsewhere(task);
    else {
      const share = shareOf(task);
      count(share, task, "remove");
      place(share);
    }
  }

  function removeElsewhere(task: LaneTask): void {
    if (kindOf(task) === "child") return;
    const lane = laneOf(task.provider);
    lane.elsewhere = Math.max(0, lane.elsewhere - 1);
    const tenant = tenantOf(task.tenant);
    changeAgentQueue(tenant, task, "remove");
    shares.forgetIfIdle(tenant);
  }

  /** Counts a change by one task in its line and for its agent. */
  function count(share: Share, task: LaneTask, change: TallyChange): void {
    share.lane.startable += changeTally(share[kindOf(task)].queued, change, readings.begun);
    changeAgentQueue(share.tenant, task, change);
  }

  function addToAgent(tenant: Tenant, task: LaneTask, count: number): void {
    if (kindOf(task) === "child") return;
    shares.changeAgentOf(tenant, task.agentId, ({ queued }) => {
      addStored(queued, count, readings.begun);
      return count;
    });
  }

  function changeAgentQueue(tenant: Tenant, task: LaneTask, change: TallyChange): void {
    if (kindOf(task) === "child") return;
    shares.changeAgentOf(tenant, task.agentId, ({ queued }) => changeTally(queued, change, readings.begun));
  }

  return { isElsewhere, addQueued, addElsewhere, addArriving, endArrival, removeQueued, count };
}
