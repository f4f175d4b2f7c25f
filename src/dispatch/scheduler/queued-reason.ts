import type { AvailableAdapters } from "../../registry/available-adapters.ts";
import type { ClusterStore } from "../../store/nodes/interface.ts";
import type { QueuedNeeds } from "../../store/tasks/interface.ts";
import type { TaskProgress, TenantQuota } from "../../task.ts";
import type { Scheduler } from "./scheduler.ts";
import { isReached, limitsRunning } from "./tenant-load.ts";

/** What a queued task waits for. */
export const queuedReasons = ["slot", "session", "quota", "node", "tag"] as const;
export type QueuedReason = (typeof queuedReasons)[number];

interface QueuedReasonOptions {
  adapters: Pick<AvailableAdapters, "findRunner">;
  scheduler: Pick<Scheduler, "isHeldByQuota">;
  /** Null with SQLite, where all tasks run on this node. */
  cluster: Pick<ClusterStore, "countRunning"> | null;
  quotaOf(tenant: string): TenantQuota;
}

/** Creates the functions that find out what queued tasks wait for. */
export function createQueuedReasons({ adapters, scheduler, cluster, quotaOf }: QueuedReasonOptions) {
  /** Whether a limit on the running tasks of its tenant or agent, which holds over all nodes, prevents the start of a queued task. */
  async function isHeldByQuota(task: TaskProgress): Promise<boolean> {
    if (scheduler.isHeldByQuota(task)) return true;
    const quota = quotaOf(task.tenant);
    // The scheduler counts only the tasks of this node.
    if (cluster === null || task.parentTaskId !== null || !limitsRunning(quota)) return false;
    const running = await cluster.countRunning(task);
    return isReached(running.ofTenant, quota.maxRunning) || isReached(running.ofAgent, quota.agentMaxRunning);
  }

  return {
    isHeldByQuota,
    /** Finds out what a queued task waits for. */
    async findQueuedReason(task: TaskProgress, { node, needs, isSessionInUse }: QueuedNeeds): Promise<QueuedReason> {
      if (await isHeldByQuota(task)) return "quota";
      const { runner, obstacle } = adapters.findRunner({ provider: task.provider, needs, place: node });
      if (obstacle?.kind === "tag") return "tag";
      if (runner?.isAlive !== true) return "node";
      return isSessionInUse ? "session" : "slot";
    },
  };
}
