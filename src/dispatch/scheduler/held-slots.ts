import type { LaneTask } from "./lane-task.ts";
import type { Scheduler } from "./scheduler.ts";

/** The slot of a running task. */
export interface Slot {
  /**
   * Frees the slot, and resolves when the task has a slot of this adapter. Rejects if the signal is aborted before; then the task has no
   * slot.
   */
  move(provider: string, signal: AbortSignal): Promise<void>;
}

/** The slot of a run. The run frees it when it ends. */
interface HeldSlot extends Slot {
  /** Frees the slot and counts the end of the task. Call it once. */
  release(): void;
}

interface HeldSlotsOptions {
  scheduler: Pick<Scheduler, "leaveSlot" | "enterSlot" | "endRun">;
  /** Whether tasks of the adapter may start on this node. */
  mayStart(provider: string): boolean;
  /** Called with the adapters that may start a task now. */
  onFreed(providers: Iterable<string>): void;
}

/** Creates the slots of running tasks. A task can move to a slot of another adapter, before tasks that have not started. */
export function createHeldSlots({ scheduler, mayStart, onFreed }: HeldSlotsOptions) {
  /** Running tasks that wait for a slot of an adapter, oldest first, with what they do when they get it. */
  const waiting = new Map<string, Map<LaneTask, () => void>>();

  /** Gives free slots to the running tasks that wait for one. */
  function admitWaiting(provider: string): void {
    const queue = waiting.get(provider);
    if (queue === undefined) return;
    for (const [task, enter] of queue) {
      if (!mayStart(provider) || !scheduler.enterSlot(task)) return;
      queue.delete(task);
      enter();
    }
    waiting.delete(provider);
  }

  function waitForSlot(task: LaneTask, signal: AbortSignal): Promise<void> {
    const { provider } = task;
    const entered = Promise.withResolvers<void>();
    const queue = waiting.get(provider) ?? new Map<LaneTask, () => void>();
    waiting.set(provider, queue);
    const onAbort = (): void => {
      if (queue.delete(task)) entered.reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    queue.set(task, () => {
      signal.removeEventListener("abort", onAbort);
      entered.resolve();
    });
    admitWaiting(provider);
    return entered.promise;
  }

  /** Takes over the slot in which a task was started. */
  function hold(task: LaneTask): HeldSlot {
    let current: LaneTask | null = task;

    function leave(): Iterable<string> {
      const left = current;
      current = null;
      return left === null ? [] : scheduler.leaveSlot(left);
    }

    return {
      async move(provider, signal) {
        signal.throwIfAborted();
        onFreed(leave());
        const next = { ...task, provider };
        await waitForSlot(next, signal);
        current = next;
      },
      release() {
        // Report the freed slot and the ended run together. Otherwise the tenant seems to run one task too many, and loses its turn.
        onFreed(new Set([...leave(), ...scheduler.endRun(task)]));
      },
    };
  }

  return { hold, admitWaiting };
}
