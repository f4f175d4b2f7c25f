import type { Logger } from "pino";
import type { Approvals } from "../approvals/approvals.ts";
import { type Budgets, createBudgets } from "../budgets/budgets.ts";
import type { ClusterView } from "../cluster/cluster-view.ts";
import { tagsOf } from "../cluster/node-tags.ts";
import type { EventLog } from "../events/event-log.ts";
import type { Metrics } from "../metrics.ts";
import type { DestinationGuard } from "../network/destination-guard.ts";
import { createPricing, type Pricing } from "../pricing/pricing.ts";
import type { AdapterRegistry } from "../registry/adapter-registry.ts";
import type { AvailableAdapters } from "../registry/available-adapters.ts";
import type { Repositories } from "../repositories/repository.ts";
import type { SchemaChecker } from "../requests/schema-checker.ts";
import type { Store } from "../store/store.ts";
import type { TenantQuota } from "../task.ts";
import type { Workspaces } from "../workspaces/workspace-directories.ts";
import { createAdmission } from "./admission/admission.ts";
import { createRequestCheck } from "./admission/check-request.ts";
import { createSpendingCheck } from "./admission/check-spending.ts";
import { createFallbackSearch } from "./admission/choose-candidate.ts";
import { createRepositoryChoice, type RepositoryChoiceOptions } from "./admission/choose-repository.ts";
import { createTaskCancellation } from "./end/cancel-task.ts";
import { createTaskDeletion } from "./end/delete-task.ts";
import { createDrain } from "./end/drain-tasks.ts";
import { createInterruptedTasks } from "./end/interrupted-tasks.ts";
import { createFindObstacle } from "./run/find-obstacle.ts";
import { createRunChildTask } from "./run/run-child-task.ts";
import { createRunInSlot } from "./run/run-in-slot.ts";
import { createRunStops } from "./run/run-stops.ts";
import type { RunOptions } from "./run/run-task.ts";
import { createRunningTasks } from "./run/running-tasks.ts";
import { createSpendingGuards } from "./run/spending-guards.ts";
import { createTreeEnds } from "./run/tree-ends.ts";
import { createLimitedWaits } from "./run/wait-for-end.ts";
import { createNextStart } from "./scheduler/next-start.ts";
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
  /** The repositories of the operator. Default: none. */
  repositories?: Repositories | null;
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
  /** The budgets of the operator. Default: none. */
  budgets?: Budgets;
  /** The company whose models an adapter uses by default. Default: none. */
  vendorOf?: RunOptions["vendorOf"];
  /** Adapters that are part of Bridge, loaded or not. Error messages name them. */
  catalogProviders?: readonly string[];
  /** Maximum time that a stopped runtime may take to end. Longer than SIGTERM, 5 s, SIGKILL and the sweep take together. */
  stopGraceMs?: number;
  /** Delay before the first retry of a task after an error of its model. It doubles with each further retry. */
  retryMs?: number;
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

const RETRY_MS = 2_000;
const STOP_GRACE_MS = 15_000;
const LAST_WRITES_MS = 3_000;

/**
 * Creates the dispatcher, which admits tasks, queues them, runs them within the limits of their adapter, and ends each of them exactly
 * once.
 */
export function createDispatcher({ runTraceparent = ({ traceparent }) => traceparent, ...given }: DispatcherOptions) {
  const options = { ...createDefaults(given), ...given, runTraceparent };
  const { store, adapters, view, logger, stopGraceMs, lastWritesMs } = options;
  const isRefusing = (): boolean => isDraining() && sharing.refusesWhileDraining;
  const scheduler = createScheduler({ ...options, ownNode: view.self.id });
  const running = createRunningTasks(options);
  const stops = createRunStops(running);
  const { cancel, endQueued, endChildren, recordEnd } = createTaskCancellation({ ...options, scheduler, running });
  const { endOwnTasks, endLostTasks, endTasksOf } = createInterruptedTasks({ ...options, recordEnd });
  const findRejection: QueueSharing["findRejection"] = (task, adapter) => sharing.findRejection(task, adapter);
  const guards = createSpendingGuards({ ...options, running });
  const findObstacle = createFindObstacle(options);
  const nextStart = createNextStart({ store, logger, onDue: () => onRoom() });
  const runParts = { guards, cooldowns: options.registry.cooldowns, findRejection, findObstacle, onStarted: stops.onStarted };
  const ends = { endChildren, recordEnd, onPostponed: nextStart.schedule };
  const runInSlot = createRunInSlot({ ...options, ...runParts, ...ends, scheduler, running });
  const queue = createTaskQueue({ ...options, scheduler, tags: tagsOf(view.self), mayStart, runTask: runInSlot });
  const { enqueue, fillSlots } = queue;
  const checks = createChecks({ ...options, ownNode: view.self.id });
  const findFallback = createFallbackSearch(checks.checkRequest);
  const sharing: QueueSharing = options.shareQueue({ ...options, scheduler, queue, findFallback, endQueued, endLostTasks });
  const { admitTask, checkTask } = createAdmission({ ...options, ...checks, scheduler, enqueue, isRefusing, findPlace: sharing.findPlace });
  const runChild = createRunChildTask({ ...options, ...checks, running, enqueue, ownNode: view.self.id });
  const { drain, isDraining } = createDrain({ ...options, scheduler, queue, running, stops, endMs: stopGraceMs + lastWritesMs });

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

  // Several tasks that end in one event-loop turn make room together.
  const onRoom = callInNextTurn(() => scheduler.noteRoom().forEach(fillSlots));
  options.budgets.listen({ onReached: guards.onBudgetReached, onRoom });

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
    /** Finds out why a candidate of a dispatch cannot run it on this node now; null if it can. */
    findObstacle,
    cancel,
    /** Deletes an ended task with its children and all data stored for them. Throws BridgeError: not_found, invalid_state. */
    deleteTask: createTaskDeletion({ store, unreleased: running.unreleased, logger }),
    ...createLimitedWaits(options),
    runChild,
    onAdapterEvent: running.onAdapterEvent,
    requestApproval: running.requestApproval,
    mayCallModel: guards.mayCallModel,
    findTraceparent: running.findTraceparent,
    /** Call it after each health check of an adapter. Starts its queued tasks. If it is offline, moves or ends those that cannot start. */
    onAdapterChecked(provider: string): void {
      if (adapters.findOnline(provider) !== null) fillSlots(provider);
      else sharing.onAdapterOffline(provider);
    },
    /** Call it whenever the nodes were read. */
    onNodesRead: sharing.onNodesRead,
    load: (provider: string): Load => toLoad(scheduler.getLane(provider)),
    /** Call it when another node has queued a task of the provider. */
    onQueueHint: sharing.onQueueHint,
    ...createQueuedReasons({ ...options, scheduler, isHeldByOthers: sharing.isHeldByOthers }),
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
    drain: (): Promise<void> => drain().then(() => sharing.close()),
  };
}

/** The checks of a request, for dispatches and for child tasks. */
const createChecks = (
  options: Parameters<typeof createRequestCheck>[0] & Parameters<typeof createSpendingCheck>[0] & RepositoryChoiceOptions,
) => ({
  checkRequest: createRequestCheck(options),
  spending: createSpendingCheck(options),
  repositoryChoice: createRepositoryChoice(options),
});

/** The store has one user of its budgets, so the default is created only if it is needed. */
const createDefaults = ({ store, view, logger, budgets, repositories = null }: DispatcherOptions) => ({
  pricing: createPricing(null, logger),
  ...{ repositories, trees: createTreeEnds({ store, repositories, ownNode: view.self.id, logger }) },
  vendorOf: () => undefined,
  ...{ retryMs: RETRY_MS, stopGraceMs: STOP_GRACE_MS, lastWritesMs: LAST_WRITES_MS },
  budgets: budgets ?? createBudgets({ store, logger, file: null, reserveUsd: 0 }),
});

/** Returns a function that calls `act` once in the next turn of the event loop, however often it is called in this one. */
function callInNextTurn(act: () => void): () => void {
  let isPending = false;
  return () => {
    if (isPending) return;
    isPending = true;
    setImmediate(() => {
      isPending = false;
      act();
    });
  };
}

const toLoad = ({ running, queued, maxConcurrent }: Load): Load => ({ running, queued, maxConcurrent });
