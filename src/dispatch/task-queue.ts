import type { Logger } from "pino";
import type { AdapterRegistry } from "../adapters/adapter-registry.ts";
import type { NewTask, Store } from "../store/store.ts";
import type { Task } from "../task.ts";
import type { Claim, Scheduler } from "./scheduler.ts";

interface TaskQueueOptions {
  store: Store;
  registry: AdapterRegistry;
  scheduler: Scheduler;
  logger: Logger;
  /** Runs a task that the store has marked as running. Resolves when its slot is free. */
  runTask(task: Task): Promise<void>;
}

export type TaskQueue = ReturnType<typeof createTaskQueue>;

/** Creates the queue: it stores tasks, and starts them when their adapter has a free slot. */
export function createTaskQueue({ store, registry, scheduler, logger, runTask }: TaskQueueOptions) {
  /** From the claim of a slot to its release. */
  const startedRuns = new Set<Promise<void>>();

  /** Stores a queued task. If a slot is free, the same commit starts the task. */
  async function enqueue(task: NewTask): Promise<{ task: Task; inserted: boolean }> {
    const waiting = { ...task, parentTaskId: task.parent?.taskId ?? null };
    scheduler.enqueued(waiting);
    const inserting = store.insertTaskIfAbsent(task);
    fillSlots(task.provider);
    let inserted = false;
    try {
      const result = await inserting;
      inserted = result.inserted;
      return result;
    } finally {
      if (!inserted) scheduler.dequeued(waiting);
    }
  }

  /** Starts tasks while the adapter has a free slot and a task that may start. Does nothing before the adapter's first health check. */
  function fillSlots(provider: string): void {
    if ((registry.get(provider)?.health.checkedAt ?? null) === null) return;
    for (let claim = scheduler.claim(provider); claim !== null; claim = scheduler.claim(provider)) {
      // After a failure, such as a closed store, the next start of Bridge recovers the task.
      const run = runNext(claim)
        .catch((error: unknown) => logger.error({ err: error, provider }, "task run aborted by an unexpected error"))
        .finally(() => startedRuns.delete(run));
      startedRuns.add(run);
    }
  }

  async function runNext(claim: Claim): Promise<void> {
    const task = await store.startNextTaskIfQueued(claim.filter);
    if (task === null) return fillAllSlots(scheduler.missed(claim));
    fillAllSlots(scheduler.started(claim, task));
    await runTask(task);
    fillAllSlots(scheduler.released(task));
  }

  function fillAllSlots(providers: Iterable<string>): void {
    for (const provider of providers) fillSlots(provider);
  }

  /** Resolves when no task runs. A task that ends may free the slot for the next one, for example a child. */
  async function waitUntilIdle(): Promise<void> {
    while (startedRuns.size > 0) await Promise.all(startedRuns);
  }

  return { enqueue, fillSlots, waitUntilIdle };
}
