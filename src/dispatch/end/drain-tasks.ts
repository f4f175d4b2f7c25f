import { withTimeout } from "@hak2i/async-kit";
import type { RunStops } from "../run/run-stops.ts";
import type { RunningTasks } from "../run/running-tasks.ts";
import type { TreeEnds } from "../run/tree-ends.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { TaskQueue } from "../scheduler/task-queue.ts";

interface DrainOptions {
  scheduler: Pick<Scheduler, "startChildrenOnly">;
  queue: Pick<TaskQueue, "waitUntilIdle" | "waitUntilStarted">;
  running: Pick<RunningTasks, "all">;
  stops: Pick<RunStops, "shutDown">;
  trees: Pick<TreeEnds, "whenReleased">;
  drainSeconds: number;
  /** Maximum time that the stopped runs may take to end and to store their ends, and then their work trees to be removed. */
  endMs: number;
}

/** Creates the drain of the tasks before Bridge shuts down. */
export function createDrain({ scheduler, queue, running, stops, trees, drainSeconds, endMs }: DrainOptions) {
  let isDraining = false;

  async function stopAll(): Promise<void> {
    stops.shutDown();
    await queue.waitUntilStarted();
    // A run whose end cannot be stored must not end the wait for the others.
    await Promise.allSettled(running.all().map((run) => run.ended));
  }

  return {
    isDraining: (): boolean => isDraining,
    /** Gives running tasks `drainSeconds` to end, and then stops them. Only children start from now on. */
    async drain(): Promise<void> {
      isDraining = true;
      scheduler.startChildrenOnly();
      await withTimeout(queue.waitUntilIdle(), drainSeconds * 1000, () => {});
      // If the disk accepts no writes, the tasks stay stored as running, and the next start ends them.
      await withTimeout(stopAll(), endMs, () => {});
      // The next start removes the trees that are left.
      await withTimeout(trees.whenReleased(), endMs, () => {});
    },
  };
}
