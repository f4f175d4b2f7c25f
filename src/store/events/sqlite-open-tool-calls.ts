import type { TaskIdentity } from "../../task.ts";
import type { StoredEvent } from "./interface.ts";

/**
 * Creates the set of tasks in a tool call. One process runs all tasks, and a restart ends them or starts them again, so memory suffices.
 * The newest tool event of a task can precede any number of other events, so a query would need a separate index.
 */
export function createOpenToolCalls() {
  /** Numbers of the tasks. */
  const open = new Set<number>();
  return {
    /** Updates the set with newly published events. */
    follow(events: readonly StoredEvent[]): void {
      for (const { type, task } of events) {
        if (type === "tool.invoked") open.add(task.seq);
        else if (type === "tool.completed" || type === "execution.completed" || type === "execution.failed") open.delete(task.seq);
      }
    },
    has: (taskSeq: number): boolean => open.has(taskSeq),
    /** Call it after the commit that returns a task to the queue. */
    forget: ({ seq }: Pick<TaskIdentity, "seq">): void => void open.delete(seq),
  };
}
