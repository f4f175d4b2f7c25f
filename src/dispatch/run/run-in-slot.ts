import type { ExecutionAdapter, ExecutionResult } from "#contract";
import { toExemplar } from "../../metrics.ts";
import { buildFinish } from "../../results/build-finish.ts";
import { failedResult } from "../../results/failed-result.ts";
import type { Task } from "../../task.ts";
import type { Slot } from "../scheduler/held-slots.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import { mayHaveRunBefore, readEarlierRuns, withEarlierRuns } from "./earlier-runs.ts";
import { type Run, type RunOptions, runTask } from "./run-task.ts";
import type { RunningTasks } from "./running-tasks.ts";
import type { SpendingGuards } from "./spending-guards.ts";

interface RunInSlotOptions extends Omit<RunOptions, "isChildToolOpen" | "findParentTree" | "onSpent" | "whenCounted"> {
  scheduler: Pick<Scheduler, "addQueued">;
  running: RunningTasks;
  /** Publishes the end of a task that the store has finished. */
  recordEnd(ended: Task | null): Promise<void>;
  /** Why a task cannot run on this adapter although it was accepted; null if it can. */
  findRejection(task: Task, adapter: ExecutionAdapter): ExecutionResult | null;
  guards: Pick<SpendingGuards, "onStarted" | "onSpent" | "whenCounted">;
  /** Called with each run as soon as it is registered. */
  onStarted(run: Run): void;
}

/** Creates the function that runs a task that was stored as running, until its slot is free. */
export function createRunInSlot(options: RunInSlotOptions) {
  const { store, adapters, scheduler, running, guards, recordEnd, metrics, trees } = options;

  return async (task: Task, slot: Slot): Promise<void> => {
    const { provider } = task;
    async function end(failure: ExecutionResult): Promise<void> {
      const earlier = mayHaveRunBefore(task) ? await readEarlierRuns(store, task) : null;
      const result = await trees.end(task, earlier === null ? failure : withEarlierRuns(failure, earlier));
      const hasChildren = earlier?.hasChildren === true;
      await recordEnd(await store.finishTaskIfRunning(task, { ...buildFinish(task, result), hasChildren }));
      void trees.release(task);
    }
    const adapter = adapters.findOnline(provider);
    // A task with fallbacks finds out itself where it can run.
    if (task.request.fallbacks === undefined) {
      if (adapter === null) return end(failedResult("adapter_offline", adapters.describeOffline(provider)));
      const rejection = options.findRejection(task, adapter);
      if (rejection !== null) return end(rejection);
    }
    const { onSpent, whenCounted } = guards;
    const family = { isChildToolOpen: running.isChildToolOpen, findParentTree: running.findParentTree };
    const run = runTask(task, slot, { ...options, ...family, onSpent, whenCounted });
    running.add(run);
    guards.onStarted(run);
    options.onStarted(run);
    metrics.executionsInFlight.inc({ provider });
    // The system clock may have been set back while the task waited.
    const waitedMs = Math.max(0, (task.startedAt ?? task.createdAt) - task.createdAt);
    metrics.queueWait.observe({ labels: { provider }, value: waitedMs / 1000, exemplarLabels: toExemplar(task.traceparent) });
    const ended = await run.ended;
    if (ended === null) scheduler.addQueued(task);
    await recordEnd(ended);
    await run.runtimeEnded;
    if (ended !== null) void trees.release(task);
    running.remove(run);
    metrics.executionsInFlight.dec({ provider });
  };
}
