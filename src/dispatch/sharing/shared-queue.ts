import type { ClusterStore, PlacementReads } from "../../store/nodes/interface.ts";
import { isReached, limitsRunning } from "../scheduler/tenant-load.ts";
import { createStartCheck } from "./check-at-start.ts";
import { createKnownPlaces } from "./known-places.ts";
import { createLeaveAdapter } from "./leave-adapter.ts";
import { createLostTasks } from "./lost-tasks.ts";
import { createQueueCounts } from "./queue-counts.ts";
import type { ShareQueue } from "./queue-sharing.ts";
import { createUnrunnableTasks } from "./unrunnable-tasks.ts";

/** How nodes share their queue. */
export interface SharedQueueOptions {
  cluster: PlacementReads & Pick<ClusterStore, "freeTasks" | "listOwnRunningTasks" | "countRunning">;
  /** For how long queued tasks wait for a node that could run them. */
  graceMs: number;
  /** How often a node looks for tasks that are stored as running on it, but have no run. */
  lostTaskSearchMs?: number;
}

const LOST_TASK_SEARCH_MS = 15_000;

/** Shares the queue among the nodes on a PostgreSQL database: each starts tasks while it has free slots, and any accepts them. */
export function createSharedQueue({ cluster, graceMs, lostTaskSearchMs = LOST_TASK_SEARCH_MS }: SharedQueueOptions): ShareQueue {
  return (parts) => {
    const { adapters, queue, quotaOf } = parts;
    const counts = createQueueCounts({ ...parts, fillSlots: queue.fillSlots });
    const lostTasks = createLostTasks({ ...parts, cluster, intervalMs: lostTaskSearchMs });
    const unrunnable = createUnrunnableTasks({ ...parts, cluster, graceMs, leaveAdapter: createLeaveAdapter(parts) });
    return {
      refusesWhileDraining: false,
      findPlace: createKnownPlaces({ ...parts, cluster }).find,
      // The scheduler counts only the running tasks of this node.
      async isHeldByOthers(task) {
        const quota = quotaOf(task.tenant);
        if (task.parentTaskId !== null || !limitsRunning(quota)) return false;
        const running = await cluster.countRunning(task);
        return isReached(running.ofTenant, quota.maxRunning) || isReached(running.ofAgent, quota.agentMaxRunning);
      },
      // While the adapter is offline here, tasks wait for other nodes.
      mayStart: (provider) => adapters.findOnline(provider) !== null,
      findRejection: createStartCheck(parts),
      async start() {
        lostTasks.start();
        counts.start();
      },
      onAdapterOffline: (provider) => void unrunnable.endChildren(provider),
      onNodesRead: unrunnable.check,
      onQueueHint: counts.onHint,
      close() {
        counts.close();
        lostTasks.close();
      },
    };
  };
}
