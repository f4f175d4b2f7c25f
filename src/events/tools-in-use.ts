import type { EventLog } from "./event-log.ts";

/** Which tasks are in the middle of a tool call, by what their stories said last of tools. */
export interface ToolsInUse {
  has(taskSeq: number): boolean;
}

/** Listens to the log, and keeps nothing of a task that has ended. A restart ends what ran, so memory is enough. */
export function createToolsInUse(eventLog: Pick<EventLog, "subscribe">): ToolsInUse {
  const tasks = new Set<number>();
  eventLog.subscribe((events) => {
    for (const { type, task } of events) {
      if (type === "tool.invoked") tasks.add(task.seq);
      else if (type === "tool.completed" || type === "execution.completed" || type === "execution.failed") tasks.delete(task.seq);
    }
  });
  return { has: (taskSeq) => tasks.has(taskSeq) };
}
