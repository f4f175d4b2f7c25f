import type { AdapterEvent, ExecutionEventListener, ExecutionResult } from "#contract";

/** Tracks the running tasks and the event listeners of an adapter. */
export function createRunningTasks() {
  const listeners = new Set<ExecutionEventListener>();
  const running = new Map<string, { controller: AbortController; done: Promise<unknown> }>();
  return {
    /** Passes an event to all listeners. */
    emit(event: AdapterEvent): void {
      for (const listener of listeners) listener(event);
    },
    /** Runs a task. `cancel` and `stopAll` abort its controller. */
    async run(taskId: string, task: (controller: AbortController) => Promise<ExecutionResult>): Promise<ExecutionResult> {
      const controller = new AbortController();
      const done = task(controller);
      running.set(taskId, { controller, done });
      try {
        return await done;
      } finally {
        // After an interruption, the task may run again already.
        if (running.get(taskId)?.controller === controller) running.delete(taskId);
      }
    },
    /** Stops all tasks. Resolves when they have ended. */
    async stopAll(): Promise<void> {
      for (const { controller } of running.values()) controller.abort();
      await Promise.allSettled([...running.values()].map(({ done }) => done));
    },
    async cancel(taskHandle: string): Promise<boolean> {
      const task = running.get(taskHandle);
      task?.controller.abort();
      return task !== undefined;
    },
    onEvent: (listener: ExecutionEventListener): void => void listeners.add(listener),
    offEvent: (listener: ExecutionEventListener): void => void listeners.delete(listener),
  };
}
