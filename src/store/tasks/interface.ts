import type { Attempt, ExecutionResult, TaskErrorCode } from "#contract";
import type {
  FinalState,
  ListedTask,
  Spent,
  StopRequest,
  Task,
  TaskIdentity,
  TaskProgress,
  TaskRequest,
  TaskRun,
  TaskState,
  TaskSummary,
  TenantQuota,
  TraceContext,
} from "../../task.ts";
import type { BudgetAsk } from "../budgets/interface.ts";
import type { NewEvent } from "../events/interface.ts";
import type { Page } from "../page.ts";
import type { Callback, CallbackState, NewCallback } from "../posts/interface.ts";
import type { StoredTaskRepository } from "../repositories/interface.ts";
import type { GappedJson, LongText } from "./gapped-json.ts";

/** Tasks and their results. */
export interface TaskStore {
  /** Inserts the task, queued or started with its first event, or finds the task that already has this id. */
  insertTaskIfAbsent(task: NewTask, options?: InsertOptions): Promise<{ task: Task; inserted: boolean }>;
  findTask(tenant: string, taskId: string): Promise<Task | null>;
  /** Like `findTask`, but does not read a long result. */
  findStoredTask(tenant: string, taskId: string): Promise<StoredTask | null>;
  /**
   * Bytes of memory that a reader of a task's result needs: the whole result, or the parts of a long one that are read
   * at once. 0 without a result.
   */
  resultBytes(tenant: string, taskId: string): Promise<number>;
  /** The task without its request, metadata and result, which may be long. */
  findTaskProgress(tenant: string, taskId: string): Promise<TaskProgress | null>;
  /** Requests and results are not read. Returns fewer tasks than `limit` if their metadata is long; only an empty list is the last page. */
  listTasks(filter: TaskFilter, page: Page): Promise<ListedTask[]>;
  /** Examines a limited number of tasks, so that a page may be empty before the end of the list. */
  searchTasks(search: TaskSearch, page: Page): Promise<TaskPage>;
  /** Agents that have stored tasks, sorted by their newest task, newest first. `updatedAt` is the time when that task started or ended. */
  listAgents(tenant: string, limit: number): Promise<ListedAgent[]>;
  /** Like `listAgents`, but sorted by name: at most `limit` agents after the name `after`. */
  listAgentsByName(tenant: string, page: { after: string; limit: number }): Promise<ListedAgent[]>;
  /**
   * Tasks that an earlier process of this node has left running, and queued tasks whose parent ran there; children precede their parents.
   * Called at the start of Bridge. With the id of another node: its tasks, as long as that node is dead.
   */
  listInterruptedTasks(deadNode?: string): Promise<InterruptedTask[]>;
  /** Any queued task of a provider. */
  findQueuedTask(provider: string): Promise<Task | null>;
  /** By the `seq` of the tasks. Deleted ones are missing. */
  readTaskStatuses(taskSeqs: readonly number[]): Promise<ReadonlyMap<number, TaskStatus>>;
  /** Children of a task that have not ended. */
  listUnfinishedChildren(parentSeq: number): Promise<Task[]>;
  /** What each child of a task has spent, as far as it is stored. */
  listChildrenSpent(parentSeq: number): Promise<ChildSpent[]>;
  /**
   * Counts of queued tasks, for counters kept in memory; those with the oldest task first. With PostgreSQL, also of the children that this
   * node may start; with SQLite, no child is queued when Bridge counts.
   */
  countQueuedTasks(): Promise<QueuedCount[]>;
  /**
   * Starts the oldest queued task that the filter allows and whose resume token is not in use; appends its first event.
   * Parents whose children wait for the same provider take turns.
   */
  startNextTaskIfQueued(filter: ClaimFilter): Promise<Task | null>;
  /**
   * Stores what a running task has spent so far, together with its event, and counts it in its budgets. Returns false if the task has
   * ended. Part of the next commit.
   */
  reportUsageIfRunning(task: TaskRun, report: UsageReport): Promise<boolean>;
  /** Stores the attempts of a running task that have ended, with events; returns false if the task has ended. Part of the next commit. */
  reportAttemptsIfRunning(task: TaskRun, report: AttemptReport): Promise<boolean>;
  /**
   * Returns a running task to the queue until a time. What it has spent counts in its budgets. Returns false if the task is not running or
   * should stop, or if the time is more than `maxWaitMs` after it was first returned. `restarts` stays.
   */
  postponeTaskIfRunning(task: TaskRun, postponement: Postponement): Promise<boolean>;
  /** When the next postponed task may start, in ms since the epoch, of those that may start after `now`; null if there is none. */
  findNextStart(now: number): Promise<number | null>;
  /** Once per task: returns false if the task is not running, was requeued before, or should stop. */
  requeueTaskIfRunning(task: TaskRun): Promise<boolean>;
  /**
   * Requests that the process that runs the task stops it; returns false if the task is not running. The first request of a task is kept.
   * A process that runs the task itself stops it without this write.
   */
  requestStopIfRunning(task: TaskIdentity, stop: StopRequest): Promise<boolean>;
  /** Called one or more times with each stored stop request of a task that this process may run. One listener only: the dispatcher. */
  onStopRequests(listener: (task: TaskIdentity, stop: StopRequest) => void): void;
  /** Moves a queued task to another adapter, with the request for that one. Returns false if the task is not queued there any more. */
  moveTaskIfQueued(task: TaskRun, to: Pick<Task, "provider" | "request">): Promise<boolean>;
  /** If the disk fails, Bridge retries the write until the disk recovers, as for all its own writes. Without `patient`, rejects at once. */
  finishTaskIfQueued(task: Task, finish: Finish, options?: { patient: boolean }): Promise<Task | null>;
  finishTaskIfRunning(task: Task, finish: Finish): Promise<Task | null>;
  /**
   * Stores each of these long texts of a task that is about to end, unless its text events already contain the text.
   * Writes in slices, and replaces the texts that an earlier call for the task has stored.
   */
  keepLongTexts(task: TaskRun, texts: readonly string[]): Promise<LongText[]>;
  isResumeTokenKnown(key: { tenant: string; provider: string; agentId: string; token: string }): Promise<boolean>;
}

/** A task about to be stored. */
export interface NewTask extends TraceContext {
  tenant: string;
  taskId: string;
  parent: TaskIdentity | null;
  agentId: string;
  provider: string;
  /** Tags that a node must have to start the task. */
  needs: readonly string[];
  /** What it asks of the budgets that apply to it; absent: none. Such a task starts only by a claim. */
  asks?: readonly BudgetAsk[] | undefined;
  request: TaskRequest;
  fingerprint: string;
}

/** What a running task has spent so far, with the event that reports it. */
export interface UsageReport {
  spent: Spent;
  event: NewEvent;
}

/** The attempts of a running task that have ended, with the events about the last ones. */
export interface AttemptReport {
  attempts: readonly Attempt[];
  events: readonly NewEvent[];
}

/** Why and until when a task waits in the queue. */
export interface Postponement {
  /** In ms since the epoch. */
  startAfter: number;
  maxWaitMs: number;
  /** Rejects what the run still waits for. */
  reason: string;
  /** What all runs of the task have spent. */
  spent: Spent;
  event: NewEvent;
}

/** The end of a task: the data that is written in one transaction. */
export interface Finish {
  state: FinalState;
  result: ExecutionResult;
  /** The result as JSON, without the long texts that are already stored separately. Default: all of `result`. */
  storedResult?: GappedJson;
  event: NewEvent;
  /** Whether the task has run child tasks, whose usage and cost its result repeats. */
  hasChildren?: boolean;
  /** Whether it is known that no run of the task has used a model, so that a missing cost is none. */
  usedNoModel?: boolean;
  /** Whether the process of the run has ended without storing it, so that it may have used more than its result contains. */
  isInterrupted?: boolean;
  /** Called inside the transaction, because the body contains `finishedAt`. */
  callback: ((finishedAt: number) => NewCallback) | null;
}

/** What a child task has spent, and its state. */
export interface ChildSpent extends Spent {
  state: TaskState;
}

/** A task that a crash has interrupted, and the stop request that was stored before; null if there is none. */
export interface InterruptedTask {
  task: Task;
  stop: StopRequest | null;
}

/** What a queued task needs to start. */
export interface QueuedNeeds {
  /** The id of the only node that may start it; null if any may. */
  node: string | null;
  /** Tags that a node needs to start it. */
  needs: readonly string[];
  /** Whether a running task uses its resume token. */
  isSessionInUse: boolean;
  /** Whether it waits for a time in the future, because the vendor of its model rejects calls. */
  isPostponed: boolean;
  /** What it needs of budgets. */
  budgets: readonly BudgetAsk[];
}

/** What a task waits for, and how far it is. */
export interface TaskStatus {
  callback: Callback | null;
  /** Time of its last event, callback events aside, in ms since the epoch. */
  lastProgressAt: number | null;
  /** Milliseconds since its last event or its start, by the clock of the store; null if it has not started. */
  silentMs: number | null;
  isApprovalPending: boolean;
  /** Number of its child tasks. */
  childCount: number;
  /** Null if it is not queued. */
  queued: QueuedNeeds | null;
  /** Null if it has no separate work tree. */
  repository: StoredTaskRepository | null;
}

/** A task with a result that may be long. */
export interface StoredTask {
  /** Its result is null when that is long. */
  task: Task;
  /** Reads a long result as JSON text, in parts; null when there is none. */
  readResult: (() => AsyncIterable<string>) | null;
  summary: TaskSummary;
}

/** Selects queued tasks. A claim starts the oldest of them. */
export interface ClaimFilter {
  provider: string;
  tenant: string;
  /** Tasks that a running task waits for, or tasks that were dispatched. */
  kind: "child" | "dispatched";
  /** Agents whose tasks stay in the queue. */
  exceptAgents: readonly string[];
  /** Present if the tenant has any. A store of several nodes checks them, because each node knows only its own running tasks. */
  limits?: RunningLimits;
}

/** Limits of the dispatched tasks of a tenant, and of each of its agents, that run at the same time. */
export type RunningLimits = Pick<TenantQuota, "maxRunning" | "agentMaxRunning">;

/** How a new task is stored. */
export interface InsertOptions {
  /**
   * Whether it starts at once. The store queues it instead if a budget has no room for it; on PostgreSQL, also if this node may not start
   * it, or if a limit is reached.
   */
  starts: boolean;
  limits?: RunningLimits | undefined;
}

/** Numbers of dispatched tasks of one agent that wait for one provider. */
export interface QueuedCount extends Pick<TaskIdentity, "provider" | "tenant" | "agentId"> {
  /** On all nodes. */
  queued: number;
  /** Of these, the tasks that this node may start. */
  startable: number;
  /** Whether they are children of tasks of this node, which limits on queues do not count. */
  isChild: boolean;
}

/** Which tasks a list contains; undefined means any. */
export interface TaskFilter {
  tenant: string;
  state?: TaskState | undefined;
  provider?: string | undefined;
  agentId?: string | undefined;
  parentTaskId?: string | undefined;
}

/** Selects tasks by further conditions, for which there is no list. */
export interface TaskSearch extends TaskFilter {
  errorCode?: TaskErrorCode | undefined;
  /** The state of their callback. */
  callback?: CallbackState | undefined;
  /** Tasks with a tool call that waits for approval. */
  waitingOn?: "approval" | undefined;
  /** In ms since the epoch. */
  createdAfter?: number | undefined;
  createdBefore?: number | undefined;
  finishedAfter?: number | undefined;
  finishedBefore?: number | undefined;
  idPrefix?: string | undefined;
  /** A task, with all tasks below it. Null: tasks without a parent. */
  root?: string | null | undefined;
  /** A text that their title contains. The case of ASCII letters does not matter. */
  title?: string | undefined;
  /**
   * A text that finds a task by the beginning of its id, by a part of its title or of its agent, or by a label `name=value` whose value
   * begins with the given one. Tasks that it finds by their id come first.
   */
  text?: string | undefined;
  /** Labels that they all have. */
  labels?: readonly Label[] | undefined;
}

/** A label of a task. */
interface Label {
  name: string;
  value: string;
}

/** A page of a search. It continues with the tasks before `next`; null at the end. */
export interface TaskPage {
  tasks: ListedTask[];
  next: number | null;
}

/** An agent that has stored tasks. `updatedAt` is in ms since the epoch. */
export interface ListedAgent {
  agentId: string;
  /** Number of its tasks that are kept. */
  tasks: number;
  updatedAt: number;
  /** The adapter of its newest task. */
  provider: string;
  /** Id of the node on which it lives; null if it lives on none. Always null on SQLite. */
  node: string | null;
}
