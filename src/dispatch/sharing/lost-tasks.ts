import type { Logger } from "pino";
import type { ClusterStore } from "../../store/nodes/interface.ts";
import type { InterruptedTasks } from "../end/interrupted-tasks.ts";
import type { TaskQueue } from "../scheduler/task-queue.ts";

interface LostTasksOptions {
  cluster: Pick<ClusterStore, "listOwnRunningTasks">;
  queue: Pick<TaskQueue, "isHeld" | "waitForPendingStarts">;
  endLostTasks: InterruptedTasks["endLostTasks"];
  logger: Logger;
  intervalMs: number;
}

/**
 * Creates the regular search for tasks that are stored as running on this node but have no run, for example because the answer to the
 * commit of their start was lost. They would run forever, so they end or return to the queue.
 */
export function createLostTasks({ cluster, queue, endLostTasks, logger, intervalMs }: LostTasksOptions) {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  /** The tasks without a run that the last search has found. */
  let suspects: ReadonlySet<number> = new Set();

  /** A task that starts or ends during a search can look lost, so only the tasks that two searches find are examined. */
  async function search(): Promise<void> {
    const earlier = suspects;
    suspects = new Set((await cluster.listOwnRunningTasks()).filter((seq) => !queue.isHeld(seq)));
    const remaining = new Set([...suspects].filter((seq) => earlier.has(seq)));
    if (remaining.size === 0) return;
    const count = await endLostTasks(async (running) => {
      // What was read may belong to a start whose outcome this process does not know yet.
      await queue.waitForPendingStarts();
      return running.filter(({ task: { seq } }) => remaining.has(seq) && !queue.isHeld(seq));
    });
    if (count > 0) logger.warn({ tasks: count }, "ended tasks that were stored as running but had no run");
  }

  async function searchAndWait(): Promise<void> {
    try {
      await search();
    } catch (error) {
      if (!isClosed) logger.warn({ err: error }, "failed to look for lost tasks");
    }
    wait();
  }

  function wait(): void {
    if (!isClosed) timer = setTimeout(() => void searchAndWait(), intervalMs);
  }

  return {
    start: wait,
    close(): void {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
