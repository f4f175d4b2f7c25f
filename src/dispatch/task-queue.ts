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

  /** Stores a task. If it is the next one to start and a slot is free, the same write starts it. Returns the task as it was accepted. */
  async function enqueue(task: NewTask): Promise<{ task: Task; inserted: boolean }> {
    const waiting = { ...task, parentTaskId: task.parent?.taskId ?? null };
    scheduler.addQueued(waiting);
    const claim = claimSlot(task.provider);
    // Only the claim of a stored task finds out whether its resume token is in use.
    const starts = claim !== null && task.request.resumeToken === undefined && scheduler.isClaimFor(claim, waiting);
    const inserting = store.insertTaskIfAbsent(task, { starts });
    if (claim !== null) {
      // The caller gets the error of an insert that fails.
      const inserted = (result: { task: Task; inserted: boolean }) => (result.inserted ? result.task : null);
      void holdSlot(claim, starts ? inserting.then(inserted, () => null) : store.startNextTaskIfQueued(claim.filter));
    }
    fillSlots(task.provider);
    let inserted = false;
    try {
      const result = await inserting;
      inserted = result.inserted;
      return inserted ? { inserted, task: { ...result.task, state: "queued", startedAt: null } } : result;
    } finally {
      if (!inserted) scheduler.removeQueued(waiting);
    }
  }

  /** Starts tasks while the adapter has a free slot and a task that may start. */
  function fillSlots(provider: string): void {
    for (let claim = claimSlot(provider); claim !== null; claim = claimSlot(provider))
      void holdSlot(claim, store.startNextTaskIfQueued(claim.filter));
  }

  /** Reserves a slot for the next task; null if none may start, as before the first health check of the adapter. */
  function claimSlot(provider: string): Claim | null {
    return (registry.get(provider)?.health.checkedAt ?? null) === null ? null : scheduler.claimSlot(provider);
  }

  /** Runs the task that is being stored as running, if any, until its slot is free. */
  async function holdSlot(claim: Claim, starting: Promise<Task | null>): Promise<void> {
    const run = runStarted(claim, starting);
    startedRuns.add(run);
    try {
      await run;
    } catch (error) {
      // Such as a closed store. The next start of Bridge recovers the task.
      logger.error({ err: error, provider: claim.filter.provider }, "task run aborted by an unexpected error");
    } finally {
      startedRuns.delete(run);
    }
  }

  async function runStarted(claim: Claim, starting: Promise<Task | null>): Promise<void> {
    const task = await starting;
    if (task === null) return fillAllSlots(scheduler.withdrawClaim(claim));
    fillAllSlots(scheduler.confirmStart(claim, task));
    await runTask(task);
    fillAllSlots(scheduler.releaseSlot(task));
  }

  function fillAllSlots(providers: Iterable<string>): void {
    for (const provider of providers) fillSlots(provider);
  }

  /** Resolves when no task runs. A task that ends may free the slot for the next one, for example a child. */
  async function waitUntilIdle(): Promise<void> {
    while (startedRuns.size > 0) await Promise.allSettled(startedRuns);
  }

  return { enqueue, fillSlots, waitUntilIdle };
}
