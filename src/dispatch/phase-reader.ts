import type { EventLog } from "../events/event-log.ts";
import type { Store } from "../store/store.ts";
import type { TaskState } from "../task.ts";

/** What a task is doing: its state, and more closely while it runs. */
export type Phase = TaskState | "tool-call" | "waiting-approval";

/** Tells what tasks are doing, to those who ask often: neither requests nor results are read. */
export interface PhaseReader {
  /** Null when the tenant has no such task. */
  find(tenant: string, taskId: string): Promise<Phase | null>;
}

/** Follows the log for who is in the middle of a tool call. A restart ends what ran, so memory is enough. */
export function createPhaseReader({
  store,
  eventLog,
}: {
  store: Pick<Store, "findListedTask" | "hasPendingApproval">;
  eventLog: Pick<EventLog, "subscribe">;
}): PhaseReader {
  const inToolCall = new Set<number>();
  eventLog.subscribe((events) => {
    for (const { type, task } of events) {
      if (type === "tool.invoked") inToolCall.add(task.seq);
      else if (type === "tool.completed" || type === "execution.completed" || type === "execution.failed") inToolCall.delete(task.seq);
    }
  });
  return {
    async find(tenant, taskId) {
      const task = await store.findListedTask(tenant, taskId);
      if (task === null) return null;
      if (task.state !== "running") return task.state;
      if (await store.hasPendingApproval(task.seq)) return "waiting-approval";
      return inToolCall.has(task.seq) ? "tool-call" : "running";
    },
  };
}
