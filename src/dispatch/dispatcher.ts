import type { Logger } from "pino";
import type { Approvals } from "../approvals/approvals.ts";
import type { ClusterView } from "../cluster/cluster-view.ts";
import { tagsOf } from "../cluster/node-tags.ts";
import type { EventLog } from "../events/event-log.ts";
import type { Metrics } from "../metrics.ts";
import type { DestinationGuard } from "../network/destination-guard.ts";
import { createPricing, type Pricing } from "../pricing/pricing.ts";
import type { AdapterRegistry } from "../registry/adapter-registry.ts";
import type { AvailableAdapters } from "../registry/available-adapters.ts";
import type { SchemaChecker } from "../requests/schema-checker.ts";
import type { Store } from "../store/store.ts";
import type { TenantQuota } from "../task.ts";
import type { Workspaces } from "../workspaces/workspace-directories.ts";
import { createAdmission } from "./admission/admission.ts";
import { createRequestCheck } from "./admission/check-request.ts";
import { createTaskCancellation } from "./end/cancel-task.ts";
import { createTaskDeletion } from "./end/delete-task.ts";
import { createDrain } from "./end/drain-tasks.ts";
import { createInterruptedTasks } from "./end/interrupted-tasks.ts";
import { createRunChildTask } from "./run/run-child-task.ts";
import { createRunInSlot } from "./run/run-in-slot.ts";
import { createRunStops } from "./run/run-stops.ts";
import type { RunOptions } from "./run/run-task.ts";
import { createRunningTasks } from "./run/running-tasks.ts";
import { createLimitedWaits } from "./run/wait-for-end.ts";
import { createQueuedReasons } from "./scheduler/queued-reason.ts";
import { createScheduler } from "./scheduler/scheduler.ts";
import { createTaskQueue } from "./scheduler/task-queue.ts";
import type { QueueSharing, ShareQueue } from "./sharing/queue-sharing.ts";

/** The parts that the dispatcher uses, and its settings. */
export interface DispatcherOptions {
  store: Store;
  eventLog: EventLog;
  approvals: Approvals;
  registry: AdapterRegistry;
  /** The adapters of all nodes. */
  adapters: AvailableAdapters;
  view: ClusterView;
  shareQueue: ShareQueue;
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
  /** The trace context for what a task starts. Default: that of its caller. */
  runTraceparent?: RunOptions["runTraceparent"];
  /** The prices of models. Default: list prices. */
  pricing?: Pricing;
  /** The company whose models an adapter uses by default. Default: none. */
  vendorOf?: RunOptions["vendorOf"];
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
 * Creates the dispatcher, which admits tasks, queues them, runs them within the limits of their adapter, and ends each of them exactly
 * once.
 */
export function createDispatcher({ runTraceparent = ({ traceparent }) => traceparent, ...given }: DispatcherOptions) {
  const defaults = { pricing: createPricing(null, given.logger), vendorOf: () => undefined };
  const options = { ...defaults, ...given, runTraceparent };
  const { store, adapters, view, logger } = options;
  const { stopGraceMs = STOP_GRACE_MS, lastWritesMs = LAST_WRITES_MS } = options;
  const isRefusing = (): boolean => isDraining() && sharing.refusesWhileDraining;
  const scheduler = createScheduler({ ...options, ownNode: view.self.id });
  const running = createRunningTasks(options);
  const stops = createRunStops(running);
  const { cancel, endQueued, recordEnd } = createTaskCancellation({ ...options, scheduler, running });
  const { endOwnTasks, endLostTasks, endTasksOf } = createInterruptedTasks({ ...options, recordEnd });
  const findRejection: QueueSharing["findRejection"] = (task, adapter) => sharing.findRejection(task, adapter);
  const runInSlot = createRunInSlot({ ...options, scheduler, running, recordEnd, stopGraceMs, onStarted: stops.onStarted, findRejection });
  const queue = createTaskQueue({ ...options, scheduler, tags: tagsOf(view.self), mayStart, runTask: runInSlot });
  const { enqueue, fillSlots } = queue;
  const sharing: QueueSharing = options.shareQueue({ ...options, scheduler, queue, endQueued, endLostTasks });
  const checkRequest = createRequestCheck({ ...options, ownNode: view.self.id });
  const { admitTask, checkTask } = createAdmission({
    ...options,
    checkRequest,
    scheduler,
    enqueue,
    isRefusing,
    findPlace: sharing.findPlace,
  });
  const runChild = createRunChildTask({ ...options, running, checkRequest, enqueue, ownNode: view.self.id });
  const { drain, isDraining } = createDrain({ ...options, scheduler, queue, running, stops, endMs: stopGraceMs + lastWritesMs });
  const deleteTask = createTaskDeletion({ store, unreleased: running.unreleased, logger });

  /** Tasks wait for the first check of their adapter. */
  function mayStart(provider: string): boolean {
    const isChecked = (options.registry.get(provider)?.health.checkedAt ?? null) !== null;
    return !stops.isInterrupted() && isChecked && sharing.mayStart(provider);
  }

  /** Ends or requeues the tasks that a crash interrupted. Call it once, before the registry starts and before the first dispatch. */
  async function recover(): Promise<void> {
    await endOwnTasks();
    scheduler.beginReading();
    scheduler.applyCounts(await store.countQueuedTasks());
    await sharing.start();
  }

  function fillAllSlots(): void {
    for (const { provider } of scheduler.listLanes()) fillSlots(provider);
  }

  return {
    recover,
    endTasksOf,
    /** Stops all runs, and starts none until `resume`. */
    interrupt: stops.interrupt,
    /** Starts tasks again after `interrupt`. */
    resume(): void {
      stops.resume();
      fillAllSlots();
    },
    /** Stores the task, or returns the task that an identical dispatch created earlier. Throws BridgeError. */
    admitTask,
    checkTask,
    cancel,
    /** Deletes an ended task with its children and all data stored for them. Throws BridgeError: not_found, invalid_state. */
    deleteTask,
    ...createLimitedWaits(options),
    runChild,
    onAdapterEvent: running.onAdapterEvent,
    requestApproval: running.requestApproval,
    findTraceparent: running.findTraceparent,
    /** Call it after each health check of an adapter. Starts its queued tasks, or ends those that cannot start if it is offline. */
    onAdapterChecked(provider: string): void {
      if (adapters.findOnline(provider) !== null) fillSlots(provider);
      else sharing.onAdapterOffline(provider);
    },
    /** Call it whenever the nodes were read. */
    onNodesRead: sharing.onNodesRead,
    load: (provider: string): Load => toLoad(scheduler.getLane(provider)),
    /** Call it when another node has queued a task of the provider. */
    onQueueHint: sharing.onQueueHint,
    ...createQueuedReasons({ adapters, scheduler, isHeldByOthers: sharing.isHeldByOthers }),
    /** Null without a node, and if the node was forgotten. */
    nameOfNode: (id: string | null): string | null => view.nodes().find((node) => node.id === id)?.name ?? null,
    /** Applies changed quotas, and starts tasks that waited for one. */
    onQuotasChanged(): void {
      scheduler.reloadQuotas();
      fillAllSlots();
    },
    /** Whether Bridge is stopping. */
    get draining(): boolean {
      return isDraining();
    },
    isRefusing,
    /** Rejects new tasks if no other node would run them, gives running tasks `drainSeconds` to end, and then stops them. */
    async drain(): Promise<void> {
      await drain();
      sharing.close();
    },
  };
}

const toLoad = ({ running, queued, maxConcurrent }: Load): Load => ({ running, queued, maxConcurrent });
