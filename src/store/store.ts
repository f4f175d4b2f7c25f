import type { EventType, ExecutionResult } from "#contract";
import type { FinalState, ListedTask, Task, TaskIdentity, TaskProgress, TaskRequest, TaskState } from "../task.ts";
import type { Gap, GappedJson, LongText } from "./gapped-json.ts";

/** A task about to be stored. */
export interface NewTask {
  tenant: string;
  taskId: string;
  parent: TaskIdentity | null;
  agentId: string;
  provider: string;
  request: TaskRequest;
  fingerprint: string;
  traceparent: string | null;
}

/** An event as it is stored: `data` is JSON text, which is sent unchanged. `at` is in ms since the epoch. */
export interface StoredEvent {
  number: number;
  task: TaskIdentity;
  type: EventType;
  at: number;
  data: string;
}

/** An event about to be appended; `data` is JSON text. */
export interface NewEvent {
  type: EventType;
  data: string;
}

/** The callback of a finished task. `body`, with its gaps filled, contains the exact bytes of every attempt. */
export interface NewCallback {
  url: string;
  /** scheme://host:port, the unit of fairness between receivers. */
  origin: string;
  body: string;
  /** Where the fields of the result begin in a body without gaps that contains all of them. The store keeps one copy of them. */
  resultAt?: number;
  gaps?: readonly Gap[];
  /** The `webhook-id` of every attempt. */
  messageId?: string;
}

/** The end of a task: the data that is written in one transaction. */
export interface Finish {
  state: FinalState;
  result: ExecutionResult;
  /** The result as JSON, without the long texts that are already stored separately. Default: all of `result`. */
  storedResult?: GappedJson;
  event: NewEvent;
  /** Called inside the transaction, because the body contains `finishedAt`. */
  callback: ((finishedAt: number) => NewCallback) | null;
}

export const callbackStates = ["pending", "delivered", "dead"] as const;
export type CallbackState = (typeof callbackStates)[number];

/** A task's callback as operators see it. Times are ms since the epoch. */
export interface Callback {
  task: TaskIdentity;
  url: string;
  state: CallbackState;
  /** POSTs made, over all rounds. */
  attempts: number;
  nextAttemptAt: number | null;
  lastStatus: number | null;
  lastError: string | null;
  updatedAt: number;
}

/** The pending callbacks of one tenant to one origin. */
export interface CallbackQueue {
  tenant: string;
  origin: string;
}

/** A callback that is due, with everything that its POST needs. */
export interface DueCallback extends Callback {
  origin: string;
  /** Empty when the body is long. */
  body: string;
  /** Length of the body in memory, in UTF-16 units: without its long texts. */
  heldLength: number;
  /** Reads a long body in parts, from its start each time; absent when `body` is all of it. */
  readBody?: () => AsyncIterable<string>;
  /** POSTs made in this round: the position in the schedule. */
  roundAttempts: number;
  /** The `webhook-id`; absent in rows of a schema without it. */
  messageId?: string;
  traceparent: string | null;
  finishedAt: number;
}

/** A task with a result that may be long. */
export interface StoredTask {
  /** Its result is null when that is long. */
  task: Task;
  /** Reads a long result as JSON text, in parts; null when there is none. */
  readResult: (() => AsyncIterable<string>) | null;
}

/** The result of one attempt. A `pending` callback needs `nextInMs`. */
export interface CallbackSettlement {
  state: CallbackState;
  nextInMs: number | null;
  lastStatus: number | null;
  lastError: string | null;
  /** `callback.delivered` or `callback.dead`; null while pending. */
  event: ((attempts: number) => NewEvent) | null;
}

export const approvalStates = ["pending", "approved", "rejected"] as const;
export type ApprovalState = (typeof approvalStates)[number];

/** A tool call that waits, or has waited, for a decision. Times are ms since the epoch. */
export interface Approval {
  task: TaskIdentity;
  /** The number of the row, from which a list continues. */
  seq: number;
  approvalId: string;
  /** The runtime's id of the call: unique within its task only. */
  toolCallId: string;
  toolName: string;
  input: unknown;
  /** Whether only the beginning of the input is kept. */
  inputTruncated: boolean;
  state: ApprovalState;
  createdAt: number;
  expiresAt: number;
  decidedAt: number | null;
  /** The name of a token; `bridge` if the approval expired or the task ended. */
  decidedBy: string | null;
  reason: string | null;
}

/** An approval about to be stored. */
export interface NewApproval extends Pick<Approval, "approvalId" | "toolCallId" | "toolName"> {
  /** JSON text: `{input, truncated?}`. */
  shownInput: string;
  expiresInMs: number;
  /** `tool.approval_requested`, which contains `expiresAt`. */
  event(expiresAt: number): NewEvent;
}

/** The decision, who made it, and why. */
export interface ApprovalDecision {
  decision: "approve" | "reject";
  by: string;
  reason: string | null;
}

/** The result of a deletion: `deleted`, or why nothing was deleted. */
export type DeletionOutcome = "deleted" | "absent" | "unfinished" | "child_unfinished" | "parent_unfinished" | "callback_pending";

/** A keyset page, newest first: rows before `before` (exclusive). */
export interface Page {
  before: number | null;
  limit: number;
}

/** Selects queued tasks. A claim starts the oldest of them. */
export interface ClaimFilter {
  provider: string;
  tenant: string;
  /** Tasks that a running task waits for, or tasks that were dispatched. */
  kind: "child" | "dispatched";
  /** Agents whose tasks stay in the queue. */
  exceptAgents: readonly string[];
}

/** Number of dispatched tasks of one agent that wait for one provider. */
export interface QueuedCount extends Pick<TaskIdentity, "provider" | "tenant" | "agentId"> {
  count: number;
}

/** Which tasks a list contains; undefined means any. */
export interface TaskFilter {
  tenant: string;
  state?: TaskState | undefined;
  provider?: string | undefined;
  agentId?: string | undefined;
  parentTaskId?: string | undefined;
}

/** An agent that has stored tasks. `updatedAt` is in ms since the epoch. */
export interface ListedAgent {
  agentId: string;
  /** Number of its tasks that are kept. */
  tasks: number;
  updatedAt: number;
}

/** Which events a reader gets; undefined means any. */
export interface EventFilter {
  tenant: string;
  taskId?: string | undefined;
  agentId?: string | undefined;
  provider?: string | undefined;
  types?: readonly EventType[] | undefined;
}

/** Tasks and their results. */
export interface TaskStore {
  /** Inserts the task, queued or started with its first event, or finds the task that already has this id. */
  insertTaskIfAbsent(task: NewTask, options?: { starts: boolean }): Promise<{ task: Task; inserted: boolean }>;
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
  /** Agents that have stored tasks, sorted by their newest task, newest first. `updatedAt` is the time when that task started or ended. */
  listAgents(tenant: string, limit: number): Promise<ListedAgent[]>;
  /** Like `listAgents`, but sorted by name: at most `limit` agents after the name `after`. */
  listAgentsByName(tenant: string, page: { after: string; limit: number }): Promise<ListedAgent[]>;
  /** Running tasks, and queued tasks that have a parent. Newest first, so children precede their parents. Called at the start of Bridge. */
  listInterruptedTasks(): Promise<Task[]>;
  /** Any queued task of a provider. */
  findQueuedTask(provider: string): Promise<Task | null>;
  /** Children of a task that have not ended. */
  listUnfinishedChildren(parentSeq: number): Promise<Task[]>;
  /** Counts of queued tasks that were dispatched, for counters kept in memory; those with the oldest task first. */
  countQueuedTasks(): Promise<QueuedCount[]>;
  /**
   * Starts the oldest queued task that the filter allows and whose resume token is not in use; appends its first event.
   * Parents whose children wait for the same provider take turns.
   */
  startNextTaskIfQueued(filter: ClaimFilter): Promise<Task | null>;
  /** Once per task: returns false if the task is not running or was requeued before. */
  requeueTaskIfRunning(task: TaskIdentity): Promise<boolean>;
  /** If the disk fails, Bridge retries the write until the disk recovers, as for all its own writes. Without `patient`, rejects at once. */
  finishTaskIfQueued(task: Task, finish: Finish, options?: { patient: boolean }): Promise<Task | null>;
  finishTaskIfRunning(task: Task, finish: Finish): Promise<Task | null>;
  /**
   * Stores each of these long texts of a task that is about to end, unless its text events already contain the text.
   * Writes in slices, and replaces the texts that an earlier call for the task has stored.
   */
  keepLongTexts(task: TaskIdentity, texts: readonly string[]): Promise<LongText[]>;
  isResumeTokenKnown(key: { tenant: string; provider: string; agentId: string; token: string }): Promise<boolean>;
}

/** The event log. */
export interface EventStore {
  /** Created once with the database; the first half of every event id. Letters and digits only. */
  readonly epoch: string;
  /** Number of the last committed event; 0 when there is none. */
  lastEventNumber(): number;
  /** Called after each commit with its events, in number order. One listener only: the event log. */
  onEvents(listener: (events: readonly StoredEvent[]) => void): void;
  /** Appends to the event log of a running task; returns false if the task has ended. Part of the next commit. */
  appendEventsIfRunning(task: TaskIdentity, events: readonly NewEvent[]): Promise<boolean>;
  /**
   * Events after a number that match the filter, oldest first. Examines a limited part of the log, so `events` may be empty before the end
   * of the log: continue from `through`.
   */
  readEvents(after: number, filter: EventFilter): Promise<{ events: StoredEvent[]; through: number }>;
  /**
   * A task's events, oldest first, without callback events unless `callbacks` is true. Returns fewer than `limit` if they are long; only an
   * empty list is the last page.
   */
  readTaskEvents(taskSeq: number, after: number, limit: number, options: { callbacks: boolean }): Promise<StoredEvent[]>;
  /** Number of the oldest event that is kept, null when there is none. */
  oldestEventNumber(): Promise<number | null>;
  /** Number of the last event that retention has deleted, 0 when there is none. Later events are missing only if their task was deleted. */
  prunedThrough(): Promise<number>;
  /** Whether the task has later events (callback events aside), including events that are not visible to readers yet. */
  hasEventsAfter(taskSeq: number, number: number): Promise<boolean>;
  /** Time of the task's last event, callback events aside. */
  lastProgressAt(taskSeq: number): Promise<number | null>;
}

/** The callback outbox. */
export interface CallbackStore {
  findCallback(taskSeq: number): Promise<Callback | null>;
  listCallbacks(tenant: string, state: CallbackState | undefined, page: Page): Promise<Callback[]>;
  /** Called with each new callback as soon as it is durable. The listener must not throw. One listener only: the callback worker. */
  onCallback(listener: (callback: DueCallback) => void): void;
  /** Queues that have a due callback. */
  listDueCallbackQueues(): Promise<CallbackQueue[]>;
  /** Due callbacks of one queue, the longest due first, without those in progress. */
  listDueCallbacks(queue: CallbackQueue, limit: number, inProgress?: ReadonlySet<number>): Promise<DueCallback[]>;
  /** Milliseconds until the next callback that is not due yet, null when there is none. */
  nextCallbackInMs(): Promise<number | null>;
  /** Counts one POST and settles the row. Returns the number of POSTs; null when it is no longer pending. Part of the next commit. */
  settleCallbackIfPending(task: TaskIdentity, settlement: CallbackSettlement): Promise<number | null>;
  /** Starts a new round of attempts for a dead callback. */
  redeliverCallbackIfDead(taskSeq: number): Promise<Callback | null>;
}

/** Tool calls that wait for a decision. */
export interface ApprovalStore {
  /** Stores the approval together with its event; null when the task is not running, or has too many pending approvals. */
  insertApprovalIfRunning(task: TaskIdentity, approval: NewApproval): Promise<Approval | null>;
  /**
   * Stores the decision with its event; null when the approval is unknown, already decided or, unless the decision is
   * Bridge's own, expired.
   */
  decideApprovalIfPending(
    tenant: string,
    approvalId: string,
    decision: ApprovalDecision,
    options?: { isOwn: boolean; patient?: boolean },
  ): Promise<Approval | null>;
  findApproval(tenant: string, approvalId: string): Promise<Approval | null>;
  /** Returns fewer than `limit` if their inputs are long; only an empty list is the last page. */
  listApprovals(tenant: string, state: ApprovalState | undefined, page: Page): Promise<Approval[]>;
  /** Pending approvals of a tool call, oldest first: several tasks may use one id. */
  listPendingApprovals(tenant: string, toolCallId: string): Promise<Approval[]>;
  hasPendingApproval(taskSeq: number): Promise<boolean>;
}

/** Deletion on request. */
export interface DeletionStore {
  /** Numbers of the task, of its children and of their children; empty when there is no such task. */
  findFamily(tenant: string, taskId: string): Promise<number[]>;
  /**
   * Deletes a task that has ended, with its children: from the commit on, no client can find it, its events or its callback. Many of its
   * rows may remain until `purgeDeletedTasks` has removed them.
   */
  deleteTaskIfEnded(tenant: string, taskId: string): Promise<DeletionOutcome>;
  /** Removes one slice of the rows of deleted tasks. Returns the number of removed rows; 0 if none is left. */
  purgeDeletedTasks(): Promise<number>;
  /** Whether the task exists: it was neither deleted nor pruned. */
  isTaskKept(taskSeq: number): Promise<boolean>;
}

/** Retention and the state of the file. */
export interface MaintenanceStore {
  /** Deletes one slice of expired tasks, events and resume tokens, or of deleted tasks. Returns the number of rows. */
  prune(olderThanMs: number, limit: number): Promise<number>;
  /** Proves that a write reaches the disk. */
  checkWritable(): Promise<void>;
  /** Checks for damaged pages if opening the store has not done so. Resolves when the check ends; damage is reported as a fault. */
  checkPages(): Promise<void>;
  /** Commits pending writes and closes the file. */
  close(): Promise<void>;
}

/**
 * The data that Bridge stores. The name of an operation contains its guard, for example `IfQueued`. If the guard does not hold, the result
 * is null or false, not an error. Writes resolve when they are durable. The store's clock determines all times.
 */
export interface Store extends TaskStore, EventStore, CallbackStore, ApprovalStore, DeletionStore, MaintenanceStore {}
