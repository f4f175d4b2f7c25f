import type { Logger } from "pino";
import type { Store } from "../../store/store.ts";
import type { Task } from "../../task.ts";
import { createHeldSlots, type Slot } from "./held-slots.ts";
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
  /** Runs a task that the store has marked as running. Resolves when it needs no slot any more. */
  runTask(task: Task, slot: Slot): Promise<void>;
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
  const { hold, admitWaiting } = createHeldSlots({ scheduler, mayStart, onFreed: fillAllSlots });

  /** Starts tasks while the adapter has a free slot and a task that may start. Tasks that run already come first. */
  function fillSlots(provider: string): void {
    admitWaiting(provider);
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
    const slot = hold(task);
    try {
      await runTask(task, slot);
    } finally {
      held.delete(task);
      slot.release();
    }
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
