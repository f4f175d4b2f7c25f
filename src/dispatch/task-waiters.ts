import type { Store } from "../store/store.ts";
import { isFinal, type TaskProgress } from "../task.ts";

/** Brings the end of a task to everyone who waits for it. */
export interface TaskEnds {
  announce(task: Pick<TaskProgress, "seq">): void;
  /** The task, without its result, as it stands when it has ended or when the signal is aborted. */
  wait(task: TaskProgress, signal?: AbortSignal): Promise<TaskProgress>;
}

/** Keeps nothing for a task without waiting clients, and reads no result, because many clients may wait for the same long one. */
export function createTaskEnds(store: Pick<Store, "findTaskProgress">): TaskEnds {
  const waiters = new Map<number, Set<() => void>>();

  return {
    announce(task) {
      for (const wake of waiters.get(task.seq) ?? []) wake();
    },
    async wait(task, signal) {
      if (isFinal(task.state)) return task;
      const find = async () => (await store.findTaskProgress(task.tenant, task.taskId)) ?? task;
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiting = waiters.get(task.seq) ?? new Set();
      waiters.set(task.seq, waiting.add(resolve));
      signal?.addEventListener("abort", () => resolve(), { once: true });
      if (signal?.aborted === true) resolve();
      try {
        // It may have ended before anybody listened.
        const now = await find();
        if (isFinal(now.state)) return now;
        await promise;
        return await find();
      } finally {
        waiting.delete(resolve);
        if (waiting.size === 0) waiters.delete(task.seq);
      }
    },
  };
}
