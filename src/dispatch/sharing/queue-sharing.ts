import type { Logger } from "pino";
import type { ExecutionAdapter, ExecutionResult } from "#contract";
import type { ClusterView } from "../../cluster/cluster-view.ts";
import type { EventLog } from "../../events/event-log.ts";
import type { AvailableAdapters } from "../../registry/available-adapters.ts";
import type { Store } from "../../store/store.ts";
import type { Task, TaskProgress, TenantQuota } from "../../task.ts";
import type { Workspaces } from "../../workspaces/workspace-directories.ts";
import type { FindFallback } from "../admission/choose-candidate.ts";
import type { TaskCancellation } from "../end/cancel-task.ts";
import type { InterruptedTasks } from "../end/interrupted-tasks.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { TaskQueue } from "../scheduler/task-queue.ts";

/** How a node shares its queue with the other nodes on its database. */
export interface QueueSharing {
  /** Whether a node that drains rejects new tasks, because no other node would run them. */
  refusesWhileDraining: boolean;
  /** The id of the node on which an agent lives; null if its tasks may start on any node. */
  findPlace(tenant: string, agentId: string): Promise<string | null>;
  /** Whether tasks that run on other nodes fill a limit on running tasks, so that a queued task cannot start. */
  isHeldByOthers(task: TaskProgress): Promise<boolean>;
  /** Whether tasks of an adapter whose health was checked may start on this node. */
  mayStart(provider: string): boolean;
  /** Why a task that another node has accepted cannot run here; null if it can. */
  findRejection(task: Task, adapter: ExecutionAdapter): ExecutionResult | null;
  /** Handles what was queued before this process started. Call it once, when the scheduler has counted it. */
  start(): Promise<void>;
  /** Call it after each health check that finds the adapter offline. */
  onAdapterOffline(provider: string): void;
  /** Call it whenever the nodes were read. */
  onNodesRead(): void;
  /** Call it when another node has queued a task of the provider. */
  onQueueHint(provider: string): void;
  close(): void;
}

/** The parts of the dispatcher that share the queue. */
export interface SharingParts extends Pick<TaskCancellation, "endQueued">, Pick<InterruptedTasks, "endLostTasks"> {
  store: Store;
  eventLog: EventLog;
  adapters: AvailableAdapters;
  view: ClusterView;
  workspaces: Workspaces;
  mcpCommands: readonly string[];
  quotaOf(tenant: string): TenantQuota;
  findFallback: FindFallback;
  scheduler: Scheduler;
  queue: TaskQueue;
  logger: Logger;
}

/** Creates the sharing of the queue of a dispatcher. */
export type ShareQueue = (parts: SharingParts) => QueueSharing;
