import type { ExecutionAdapter, ExecutionResult } from "#contract";
import { BridgeError } from "../../errors.ts";
import { toExemplar } from "../../metrics.ts";
import type { AvailableAdapters } from "../../registry/available-adapters.ts";
import { buildFinish } from "../../results/build-finish.ts";
import { failedResult } from "../../results/failed-result.ts";
import type { Task } from "../../task.ts";
import { toRejectedResult } from "../admission/describe-rejection.ts";
import { validateAtStart } from "../admission/validate-dispatch.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import { type Run, type RunOptions, runTask } from "./run-task.ts";
import type { RunningTasks } from "./running-tasks.ts";

interface RunInSlotOptions extends Omit<RunOptions, "isChildToolOpen"> {
  adapters: Pick<AvailableAdapters, "findOnline" | "describeOffline">;
  scheduler: Pick<Scheduler, "addQueued">;
  running: RunningTasks;
  /** Publishes the end of a task that the store has finished. */
  settle(ended: Task | null): Promise<void>;
  mcpCommands: readonly string[];
  /** Whether another node may have accepted the task, which could not check everything. */
  checksAtStart: boolean;
  /** Called with each run as soon as it is registered. */
  onStarted(run: Run): void;
}

/** Creates the function that runs a task that was stored as running, until its slot is free. */
export function createRunInSlot(options: RunInSlotOptions) {
  const { store, adapters, scheduler, running, settle, metrics } = options;

  /** Null if the task can run. */
  function findRejection(task: Task, adapter: ExecutionAdapter): ExecutionResult | null {
    const { provider, tenant, agentId, request } = task;
    try {
      const workspace = options.workspaces.workspaceOf(tenant, agentId);
      validateAtStart(request, { adapter, provider, mcpCommands: options.mcpCommands, workspace });
      return null;
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      return toRejectedResult(error);
    }
  }

  return async (task: Task): Promise<void> => {
    const { provider } = task;
    const end = async (result: ExecutionResult) => settle(await store.finishTaskIfRunning(task, buildFinish(task, result)));
    const adapter = adapters.findOnline(provider);
    if (adapter === null) return end(failedResult("adapter_offline", adapters.describeOffline(provider)));
    const rejection = options.checksAtStart ? findRejection(task, adapter) : null;
    if (rejection !== null) return end(rejection);
    const run = runTask(task, adapter, { ...options, isChildToolOpen: running.isChildToolOpen });
    running.add(run);
    options.onStarted(run);
    metrics.executionsInFlight.inc({ provider });
    // The system clock may have been set back while the task waited.
    const waitedMs = Math.max(0, (task.startedAt ?? task.createdAt) - task.createdAt);
    metrics.queueWait.observe({ labels: { provider }, value: waitedMs / 1000, exemplarLabels: toExemplar(task.traceparent) });
    const ended = await run.ended;
    if (ended === null) scheduler.addQueued(task);
    await settle(ended);
    await run.runtimeEnded;
    running.remove(run);
    metrics.executionsInFlight.dec({ provider });
  };
}
