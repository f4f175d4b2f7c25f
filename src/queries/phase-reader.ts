import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { EventLog } from "../events/event-log.ts";
import type { Store } from "../store/store.ts";
import type { TaskProgress, TaskState } from "../task.ts";

/** The state of a task, with more detail while it runs. */
export type Phase = TaskState | "tool-call" | "waiting-approval";

export type PhaseReader = ReturnType<typeof createPhaseReader>;

interface PhaseReaderOptions {
  store: Store;
  eventLog: EventLog;
  dispatcher: Pick<Dispatcher, "isHeldByQuota">;
}

/** Creates a reader of phases for frequent polling: it reads neither requests nor results. */
export function createPhaseReader({ store, eventLog, dispatcher }: PhaseReaderOptions) {
  /** Numbers of the tasks in a tool call. They need not survive a restart, because a restart ends running tasks. */
  const inToolCall = new Set<number>();
  eventLog.subscribe((events) => {
    for (const { type, task } of events) {
      if (type === "tool.invoked") inToolCall.add(task.seq);
      else if (type === "tool.completed" || type === "execution.completed" || type === "execution.failed") inToolCall.delete(task.seq);
    }
  });

  async function phaseOf({ state, seq }: TaskProgress): Promise<Phase> {
    if (state !== "running") return state;
    if (await store.hasPendingApproval(seq)) return "waiting-approval";
    return inToolCall.has(seq) ? "tool-call" : "running";
  }

  return {
    /**
     * Null if the tenant has no such task. `isHeldByQuota`: it is queued, and a limit on the running tasks of its tenant or agent is
     * reached.
     */
    async find(tenant: string, taskId: string): Promise<{ phase: Phase; isHeldByQuota: boolean } | null> {
      const task = await store.findTaskProgress(tenant, taskId);
      if (task === null) return null;
      return { phase: await phaseOf(task), isHeldByQuota: task.state === "queued" && dispatcher.isHeldByQuota(task) };
    },
  };
}
