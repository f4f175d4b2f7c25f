import type { Lane } from "./lane.ts";
import type { SchedulerLimits } from "./lanes.ts";
import { createQueueLimits } from "./queue-limits.ts";
import { createQueuedTasks } from "./queued-tasks.ts";
import { createShares } from "./shares.ts";
import { createSlots } from "./slots.ts";
import { createStoredCounts } from "./stored-counts.ts";

export type Scheduler = ReturnType<typeof createScheduler>;

/**
 * Creates the lanes of all adapters: counts in memory that decide which tenant gets a free slot; the store picks the task. The slot goes to
 * the tenant with the fewest running tasks in the lane in proportion to its weight. Tenants with equally few take turns in proportion to
 * their weights. Within a tenant, children come first, because a running task waits for them, and then the oldest task. Methods that return
 * providers name the lanes in which a task may be able to start now. docs/scheduler.md draws the counts and what changes them.
 *
 * If several nodes share the queue, each decides for its own slots. A line counts the tasks that this node may start, and the counts of
 * tenants and agents, which limit queues, are those of all nodes. Both are corrected by what is read from the store.
 */
export function createScheduler(limits: SchedulerLimits) {
  const shares = createShares(limits);
  const readings = { begun: 0 };
  const { count, ...queuedTasks } = createQueuedTasks(shares, limits, readings);
  return {
    getLane: (provider: string): Readonly<Lane> => shares.laneOf(provider),
    listLanes: (): Iterable<Readonly<Lane>> => shares.lanes.values(),
    /** Finds a queue that has no room for one more dispatched task; null if all have room. */
    findFullQueue: createQueueLimits(shares, limits),
    ...queuedTasks,
    ...createStoredCounts(shares, readings),
    ...createSlots(shares, { count }),
    startChildrenOnly: shares.startChildrenOnly,
    reloadQuotas: shares.reloadQuotas,
  };
}
