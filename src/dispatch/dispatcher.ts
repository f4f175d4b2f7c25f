import { withTimeout } from "@hak2i/async-kit";
import type { Logger } from "pino";
import type { ExecutionResult } from "#contract";
import type { AdapterRegistry } from "../adapters/adapter-registry.ts";
import type { Approvals } from "../approvals/approvals.ts";
import type { EventLog } from "../events/event-log.ts";
import type { Metrics } from "../metrics.ts";
import type { DestinationGuard } from "../network/destination-guard.ts";
import type { SchemaChecker } from "../requests/schema-checker.ts";
import { buildFinish } from "../results/build-finish.ts";
import { failedResult } from "../results/failed-result.ts";
import type { Store } from "../store/store.ts";
import type { Task, TaskProgress, TenantQuota } from "../task.ts";
import type { Workspaces } from "../workspaces/workspace-directories.ts";
import { createAdmission, describeOfflineAdapter } from "./admission.ts";
import { createTaskCancellation } from "./cancel-task.ts";
import { createTaskDeletion } from "./delete-task.ts";
import { createRunChildTask } from "./run-child-task.ts";
import { runTask } from "./run-task.ts";
import { createRunningTasks } from "./running-tasks.ts";
import { createScheduler } from "./scheduler.ts";
import { createTaskQueue } from "./task-queue.ts";
import { createTaskWaiters } from "./task-waiters.ts";

/** The parts that the dispatcher uses, and its settings. */
export interface DispatcherOptions {
  store: Store;
  eventLog: EventLog;
  approvals: Approvals;
  registry: AdapterRegistry;
  workspaces: Workspaces;
  guard: DestinationGuard;
  schemas: SchemaChecker;
  metrics: Metrics;
  logger: Logger;
  maxConcurrent(provider: string): number;
  queueLimit: number;
  quotaOf(tenant: string): TenantQuota;
  idleSeconds: number;
  drainSeconds: number;
  mcpCommands: readonly string[];
  /** Adapters that are part of Bridge, loaded or not. Error messages name them. */
  catalogProviders?: readonly string[];
  /** Maximum time that a stopped runtime may take to end. Longer than SIGTERM, 5 s, SIGKILL and the sweep take together. */
  stopGraceMs?: number;
  /** Maximum time to store the ends of stopped tasks while Bridge shuts down. */
  lastWritesMs?: number;
}

/** How busy an adapter is. */
export interface Load {
  running: number;
  queued: number;
  maxConcurrent: number;
}

export type Dispatcher = ReturnType<typeof createDispatcher>;

const STOP_GRACE_MS = 15_000;
const LAST_WRITES_MS = 3_000;

/**
 * Creates the dispatcher, which admits tasks, queues them, runs them within the limits of their adapter, and settles each of them exactly
 * once.
 */
export function createDispatcher(options: DispatcherOptions) {
  const { store, registry, metrics, logger, stopGraceMs = STOP_GRACE_MS, lastWritesMs = LAST_WRITES_MS } = options;
  const runOptions = { ...options, stopGraceMs };
  let draining = false;
  const scheduler = createScheduler(options);
  const waiters = createTaskWaiters(store);
  const running = createRunningTasks(options);
  const { cancel, endQueued, settle } = createTaskCancellation({ ...options, scheduler, waiters, running });
  const { enqueue, fillSlots, waitUntilIdle } = createTaskQueue({ store, registry, scheduler, logger, runTask: runToRelease });
  const admission = createAdmission({ ...options, scheduler, enqueue, isDraining: () => draining });
  const runChild = createRunChildTask({ store, running, admission, waiters, enqueue });
  const deleteTask = createTaskDeletion({ store, unreleased: running.unreleased, logger });

  /** Runs a task until its slot is free. */
  async function runToRelease(task: Task): Promise<void> {
    const entry = registry.get(task.provider);
    if (entry === undefined || entry.adapter === null || entry.health.status === "offline") {
      await settle(await store.finishTaskIfRunning(task, buildFinish(task, offlineResult(task.provider))));
      return;
    }
    const run = runTask(task, entry.adapter, runOptions);
    running.add(run);
    metrics.executionsInFlight.inc({ provider: task.provider });
    const ended = await run.ended;
    if (ended === null) scheduler.addQueued(task);
    await settle(ended);
    await run.runtimeEnded;
    running.remove(run);
    metrics.executionsInFlight.dec({ provider: task.provider });
  }

  async function endAllQueued(provider: string): Promise<void> {
    for (let task = await store.findQueuedTask(provider); task !== null; task = await store.findQueuedTask(provider)) {
      await endQueued(task, offlineResult(provider));
    }
  }

  function offlineResult(provider: string): ExecutionResult {
    return failedResult("adapter_offline", describeOfflineAdapter(provider, registry.get(provider) !== undefined));
  }

  /** Ends or requeues the tasks that a crash interrupted. Call it once, before the registry starts and before the first dispatch. */
  async function recover(): Promise<void> {
    for (const task of await store.listInterruptedTasks()) {
      const result = failedResult("bridge_restarted", "Bridge was restarted while the task ran.");
      if (task.state === "queued") await settle(await store.finishTaskIfQueued(task, buildFinish(task, result)));
      else if (task.parentSeq !== null || task.request.onInterrupt === "fail" || !(await store.requeueTaskIfRunning(task)))
        await settle(await store.finishTaskIfRunning(task, buildFinish(task, result)));
    }
    for (const { count, ...waiting } of await store.countQueuedTasks()) scheduler.addQueued({ ...waiting, parentTaskId: null }, count);
    for (const { provider } of scheduler.listLanes()) if (registry.get(provider) === undefined) await endAllQueued(provider);
  }

  /** Rejects new tasks, gives running tasks `drainSeconds` to end, and then stops them. */
  async function drain(): Promise<void> {
    draining = true;
    scheduler.startChildrenOnly();
    await withTimeout(waitUntilIdle(), options.drainSeconds * 1000, () => {});
    const runs = running.all();
    for (const run of runs) run.stop("bridge_shutdown", "Bridge was stopped while the task ran.");
    const ended = Promise.all(runs.map((run) => run.ended));
    // If the disk accepts no writes, the tasks stay stored as running, and the next start ends them.
    await withTimeout(ended, stopGraceMs + lastWritesMs, () => {});
  }

  return {
    recover,
    /** Stores the task, or returns the task that an identical dispatch created earlier. Throws BridgeError. */
    admitTask: admission.admitTask,
    cancel,
    /** Deletes an ended task with its children and all data stored for them. Throws BridgeError: not_found, invalid_state. */
    deleteTask,
    /** Resolves with the task, without its result, when it has ended, the time is over, or the signal is aborted. */
    waitForEnd(task: TaskProgress, timeoutMs: number, signal?: AbortSignal): Promise<TaskProgress> {
      const timeout = AbortSignal.timeout(timeoutMs);
      return waiters.wait(task, signal === undefined ? timeout : AbortSignal.any([timeout, signal]));
    },
    runChild,
    onAdapterEvent: running.onAdapterEvent,
    requestApproval: running.requestApproval,
    /** Call it after each health check of an adapter. Starts its queued tasks, or ends them if the adapter is offline. */
    onAdapterChecked(provider: string): void {
      if (registry.get(provider)?.health.status !== "offline") fillSlots(provider);
      else void endAllQueued(provider).catch((error: unknown) => logger.error({ err: error, provider }, "failed to end queued tasks"));
    },
    load(provider: string): Load {
      const { running: slots, queued, maxConcurrent } = scheduler.getLane(provider);
      return { running: slots, queued, maxConcurrent };
    },
    /** Whether a limit on the running tasks of its tenant or agent prevents the start of a queued task. */
    isHeldByQuota: scheduler.isHeldByQuota,
    /** Applies changed quotas, and starts tasks that waited for one. */
    onQuotasChanged(): void {
      scheduler.reloadQuotas();
      for (const { provider } of scheduler.listLanes()) fillSlots(provider);
    },
    get draining(): boolean {
      return draining;
    },
    drain,
  };
}
