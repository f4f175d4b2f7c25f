import type { Budgets } from "../../budgets/budgets.ts";
import type { AvailableAdapters } from "../../registry/available-adapters.ts";
import type { QueuedNeeds } from "../../store/tasks/interface.ts";
import type { TaskProgress } from "../../task.ts";
import type { Scheduler } from "./scheduler.ts";

/** What a queued task waits for. */
export const queuedReasons = ["slot", "session", "quota", "budget", "node", "tag", "cooldown"] as const;
export type QueuedReason = (typeof queuedReasons)[number];

interface QueuedReasonOptions {
  adapters: Pick<AvailableAdapters, "findRunner">;
  scheduler: Pick<Scheduler, "isHeldByQuota">;
  /** Whether tasks that run on other nodes fill a limit on running tasks, so that a queued task cannot start. */
  isHeldByOthers(task: TaskProgress): Promise<boolean>;
  budgets: Pick<Budgets, "listHolding">;
}

/** Creates the functions that find out what queued tasks wait for. */
export function createQueuedReasons({ adapters, scheduler, isHeldByOthers, budgets }: QueuedReasonOptions) {
  /** Whether a limit on the running tasks of its tenant or agent, which holds over all nodes, prevents the start of a queued task. */
  const isHeldByQuota = async (task: TaskProgress): Promise<boolean> => scheduler.isHeldByQuota(task) || (await isHeldByOthers(task));

  return {
    isHeldByQuota,
    /** The budgets without room for a queued task that waits for one. */
    listHoldingBudgets: ({ budgets: asks }: QueuedNeeds): Promise<string[]> => budgets.listHolding(asks),
    /** Finds out what a queued task waits for. */
    async findQueuedReason(task: TaskProgress, queued: QueuedNeeds): Promise<QueuedReason> {
      const { node, needs, isSessionInUse, isPostponed, budgets: asks } = queued;
      if (isPostponed) return "cooldown";
      if (await isHeldByQuota(task)) return "quota";
      // Children wait for no budget.
      if (task.parentTaskId === null && (await budgets.listHolding(asks)).length > 0) return "budget";
      const { runner, obstacle } = adapters.findRunner({ provider: task.provider, needs, place: node });
      if (obstacle?.kind === "tag") return "tag";
      if (runner?.isAlive !== true) return "node";
      return isSessionInUse ? "session" : "slot";
    },
  };
}
