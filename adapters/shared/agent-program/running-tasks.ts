import type { ExecutionAdapter, ExecutionEventListener, ExecutionResult } from "#contract";

/** The tasks of an adapter while they run, and whoever listens to them: what is the same in every adapter. */
export interface RunningTasks extends Required<Pick<ExecutionAdapter, "cancel" | "onEvent" | "offEvent">> {
  /** Tells every listener. */
  emit: ExecutionEventListener;
  /** Runs a task under its id; its controller is aborted when the task is to stop. */
  run(taskId: string, task: (controller: AbortController) => Promise<ExecutionResult>): Promise<ExecutionResult>;
  /** Stops all of them, and resolves when they are gone. */
  stopAll(): Promise<void>;
}

/** Keeps account of running tasks. */
export function createRunningTasks(): RunningTasks {
  const listeners = new Set<ExecutionEventListener>();
  const running = new Map<string, { controller: AbortController; done: Promise<unknown> }>();
  return {
    emit(event) {
      for (const listener of listeners) listener(event);
    },
    async run(taskId, task) {
      const controller = new AbortController();
      const done = task(controller);
      running.set(taskId, { controller, done });
      try {
        return await done;
      } finally {
        running.delete(taskId);
      }
    },
    async stopAll() {
      for (const { controller } of running.values()) controller.abort();
      await Promise.allSettled([...running.values()].map(({ done }) => done));
    },
    async cancel(taskHandle) {
      const task = running.get(taskHandle);
      task?.controller.abort();
      return task !== undefined;
    },
    onEvent: (listener) => void listeners.add(listener),
    offEvent: (listener) => void listeners.delete(listener),
  };
}
