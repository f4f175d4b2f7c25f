import type { Logger } from "pino";
import type { Store } from "../../store/store.ts";
import type { Task } from "../../task.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Claim } from "./slots.ts";
import { createStartedTasks } from "./started-tasks.ts";

/** What runs tasks in slots. */
export interface SlotRunOptions {
  store: Pick<Store, "startNextTaskIfQueued">;
  scheduler: Scheduler;
  logger: Logger;
  /** Whether tasks of the adapter may start on this node. */
  mayStart(provider: string): boolean;
  /** Runs a task that the store has marked as running. Resolves when its slot is free. */
  runTask(task: Task): Promise<void>;
}

/** A write that stores a task as running. */
export interface Arrival {
  /** Whether it has stored the task as queued instead, because this node may not start it at the moment. */
  isRefused: boolean;
}

/** Creates the runs of tasks in slots, from the claim of a slot to its release. A released slot starts the next task. */
export function createSlotRuns({ store, scheduler, logger, mayStart, runTask }: SlotRunOptions) {
  /** From the claim of a slot to its release. */
  const startedRuns = new Set<Promise<void>>();
  const { pending, held, isHeld, waitForPendingStarts, waitUntilStarted } = createStartedTasks();

  /** Starts tasks while the adapter has a free slot and a task that may start. */
  function fillSlots(provider: string): void {
    for (let claim = claimSlot(provider); claim !== null; claim = claimSlot(provider))
      void holdSlot(claim, store.startNextTaskIfQueued(claim.filter));
  }

  /** Reserves a slot for the next task; null if none may start. */
  function claimSlot(provider: string): Claim | null {
    return mayStart(provider) ? scheduler.claimSlot(provider) : null;
  }

  /** Runs the task that is being stored as running, if any, until its slot is free. */
  async function holdSlot(claim: Claim, starting: Promise<Task | null>, arrival: Arrival | null = null): Promise<void> {
    const run = runStarted(claim, starting, arrival);
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

  async function runStarted(claim: Claim, starting: Promise<Task | null>, arrival: Arrival | null = null): Promise<void> {
    pending.add(starting);
    let task: Task | null;
    try {
      task = await starting;
    } catch (error) {
      scheduler.withdrawClaim(claim);
      throw error;
    } finally {
      pending.delete(starting);
    }
    if (task === null) return fillAllSlots(scheduler.withdrawClaim(claim, { blocks: arrival?.isRefused !== true }));
    held.add(task);
    fillAllSlots(scheduler.confirmStart(claim, task, { isArrival: arrival !== null }));
    try {
      await runTask(task);
    } catch (error) {
      scheduler.releaseSlot(task);
      throw error;
    } finally {
      held.delete(task);
    }
    fillAllSlots(scheduler.releaseSlot(task));
  }

  function fillAllSlots(providers: Iterable<string>): void {
    for (const provider of providers) fillSlots(provider);
  }

  /** Resolves when no task runs. A task that ends may free the slot for the next one, for example a child. */
  async function waitUntilIdle(): Promise<void> {
    while (startedRuns.size > 0) await Promise.allSettled(startedRuns);
  }

  return { claimSlot, holdSlot, fillSlots, waitUntilIdle, waitUntilStarted, isHeld, waitForPendingStarts };
}
