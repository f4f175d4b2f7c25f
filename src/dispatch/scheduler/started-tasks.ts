import type { Task } from "../../task.ts";

/** Creates the record of the tasks that this process starts and runs. */
export function createStartedTasks() {
  /** Writes in progress that store a task as running. */
  const pending = new Set<Promise<Task | null>>();
  /** From the end of this write until the slot of the task is free. A task that runs again can be in it twice. */
  const held = new Set<Task>();
  return {
    pending,
    held,
    /** Whether this process runs the task with this number. */
    isHeld: (seq: number): boolean => [...held].some((task) => task.seq === seq),
    /** Resolves when the outcomes of the writes that are in progress now are known. */
    waitForPendingStarts: async (): Promise<void> => void (await Promise.allSettled(pending)),
    /** Resolves when no task is being stored as running. By then, `runTask` was called for each task that was stored as running. */
    async waitUntilStarted(): Promise<void> {
      while (pending.size > 0) await Promise.allSettled(pending);
    },
  };
}
