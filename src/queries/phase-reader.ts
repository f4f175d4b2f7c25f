import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { EventLog } from "../events/event-log.ts";
import type { Store } from "../store/store.ts";
import type { TaskProgress, TaskState } from "../task.ts";

/** What a task is doing: its state, and more closely while it runs. */
export type Phase = TaskState | "tool-call" | "waiting-approval";

/** Tells what tasks are doing, to those who ask often: neither requests nor results are read. */
export interface PhaseReader {
  /** Null when the tenant has no such task. `isHeldByQuota`: it is queued, and a limit on the running tasks of its tenant or agent is reached. */
  find(tenant: string, taskId: string): Promise<{ phase: Phase; isHeldByQuota: boolean } | null>;
}

/** Follows the log for who is in the middle of a tool call. A restart ends what ran, so memory is enough. */
export function createPhaseReader({
  store,
  eventLog,
  dispatcher,
}: {
  store: Pick<Store, "findTaskProgress" | "hasPendingApproval">;
  eventLog: Pick<EventLog, "subscribe">;
  dispatcher: Pick<Dispatcher, "isHeldByQuota">;
}): PhaseReader {
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
    async find(tenant, taskId) {
      const task = await store.findTaskProgress(tenant, taskId);
      if (task === null) return null;
      return { phase: await phaseOf(task), isHeldByQuota: task.state === "queued" && dispatcher.isHeldByQuota(task) };
    },
  };
}
