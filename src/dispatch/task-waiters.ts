import type { Store } from "../store/store.ts";
import { isFinal, type TaskProgress } from "../task.ts";

export type TaskWaiters = ReturnType<typeof createTaskWaiters>;

/** Creates the list of clients that wait for the end of a task. It holds nothing for a task without waiting clients. */
export function createTaskWaiters(store: Store) {
  /** By task number. */
  const waiters = new Map<number, Set<() => void>>();

  /**
   * Resolves with the task as it is stored when it has ended or when the signal is aborted. The result is not read, because many clients
   * may wait for the same long one.
   */
  async function wait(task: TaskProgress, signal?: AbortSignal): Promise<TaskProgress> {
    if (isFinal(task.state)) return task;
    const find = async () => (await store.findTaskProgress(task.tenant, task.taskId)) ?? task;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = waiters.get(task.seq) ?? new Set();
    waiters.set(task.seq, waiting.add(resolve));
    signal?.addEventListener("abort", () => resolve(), { once: true });
    if (signal?.aborted === true) resolve();
    try {
      // The task may have ended before this waiter was added.
      const now = await find();
      if (isFinal(now.state)) return now;
      await promise;
      return await find();
    } finally {
      waiting.delete(resolve);
      if (waiting.size === 0) waiters.delete(task.seq);
    }
  }

  /** Resolves the waiters of a task that has ended. */
  function notify(task: Pick<TaskProgress, "seq">): void {
    for (const wake of waiters.get(task.seq) ?? []) wake();
  }

  return { wait, notify };
}
