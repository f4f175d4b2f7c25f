import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { Store } from "../store/store.ts";
import type { TaskProgress, TaskState } from "../task.ts";

/** The state of a task, with more detail while it runs. */
export type Phase = TaskState | "tool-call" | "waiting-approval";

export type PhaseReader = ReturnType<typeof createPhaseReader>;

interface PhaseReaderOptions {
  store: Pick<Store, "findTaskProgress" | "hasPendingApproval" | "isInToolCall">;
  dispatcher: Pick<Dispatcher, "isHeldByQuota">;
}

/** Creates a reader of phases for frequent polling: it reads neither requests nor results. */
export function createPhaseReader({ store, dispatcher }: PhaseReaderOptions) {
  async function phaseOf({ state, seq }: TaskProgress): Promise<Phase> {
    if (state !== "running") return state;
    if (await store.hasPendingApproval(seq)) return "waiting-approval";
    return (await store.isInToolCall(seq)) ? "tool-call" : "running";
  }

  return {
    /**
     * Null if the tenant has no such task. `isHeldByQuota`: it is queued, and a limit on the running tasks of its tenant or agent is
     * reached.
     */
    async find(tenant: string, taskId: string): Promise<{ phase: Phase; isHeldByQuota: boolean } | null> {
      const task = await store.findTaskProgress(tenant, taskId);
      if (task === null) return null;
      return { phase: await phaseOf(task), isHeldByQuota: task.state === "queued" && (await dispatcher.isHeldByQuota(task)) };
    },
  };
}
