import type { Run } from "./run-task.ts";
import type { RunningTasks } from "./running-tasks.ts";

export type RunStops = ReturnType<typeof createRunStops>;

/** Creates the stops of all runs: for the shutdown of Bridge, or for an interruption. They also stop the runs that start meanwhile. */
export function createRunStops(running: Pick<RunningTasks, "all">) {
  let isShuttingDown = false;
  /** Why no task may run at the moment; null if tasks may run. */
  let interruption: string | null = null;

  /** Call it with each run as soon as it is registered. */
  function onStarted(run: Run): void {
    if (isShuttingDown) stopForShutdown(run);
    if (interruption !== null) run.stop("bridge_restarted", interruption);
  }

  return {
    onStarted,
    isInterrupted: (): boolean => interruption !== null,
    /** Stops all runs, and starts none until `resume`. */
    interrupt(reason: string): void {
      interruption = reason;
      for (const run of running.all()) run.stop("bridge_restarted", reason);
    },
    resume(): void {
      interruption = null;
    },
    /** Stops all runs, for good. */
    shutDown(): void {
      isShuttingDown = true;
      for (const run of running.all()) stopForShutdown(run);
    },
  };
}

const stopForShutdown = (run: Run): boolean => run.stop("bridge_shutdown", "Bridge was stopped while the task ran.");
