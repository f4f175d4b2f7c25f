import type { EventType, ExecutionResult } from "#contract";
import type { FinalState, StopRequest, Task, TaskIdentity, TaskRequest, TaskSummary, TenantQuota, TraceContext } from "../../task.ts";
import type { Gap, GappedJson } from "./gapped-json.ts";

/** A task about to be stored. */
export interface NewTask extends TraceContext {
  tenant: string;
  taskId: string;
  parent: TaskIdentity | null;
  agentId: string;
  provider: string;
  /** Tags that a node must have to start the task. */
  needs: readonly string[];
  request: TaskRequest;
  fingerprint: string;
}

/** An event as it is stored: `data` is JSON text, which is sent unchanged. `at` is in ms since the epoch. */
export interface StoredEvent {
  number: number;
  task: TaskIdentity;
  type: EventType;
  at: number;
  data: string;
}

/** A selection of a task's events: all, those of its execution, or only those of its tool calls. */
export type TaskEventKind = "all" | "execution" | "toolCalls";

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
  /** Present if the body contains all fields of the result, so that the store keeps one copy of them. */
  shared?: SharedResult;
  gaps?: readonly Gap[];
  /** The `webhook-id` of every attempt. */
  messageId?: string;
}

/** A callback body without the fields of the result. They begin at `at`, and are the text between the braces of `resultJson`. */
export interface SharedResult {
  resultJson: string;
  body: string;
  at: number;
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
  /** Null until the task ends, and unless the state is `pending`. */
  nextAttemptAt: number | null;
  lastStatus: number | null;
  lastError: string | null;
  updatedAt: number;
}

/** The beginning of a response body, as text without control characters. */
export interface ResponseExcerpt {
  text: string;
  /** Whether the body has more than this text. */
  isTruncated: boolean;
}

/** One attempt in the history of a callback. Times are ms since the epoch. */
export interface CallbackAttempt {
  /** Its position among all attempts, over all rounds, beginning with 1. */
  number: number;
  /** When it started. */
  at: number;
  status: number | null;
  error: string | null;
  /** Time until the head of the response or the failure. */
  durationMs: number;
  /** The beginning of the response body; null without a response. */
  response: string | null;
  responseTruncated: boolean;
}

/** A callback with its last attempts, the oldest first. */
export interface CallbackDetails extends Callback {
  history: CallbackAttempt[];
}

/** The pending callbacks of one tenant to one origin, or the pending deliveries to one webhook, whose name is then the origin. */
export interface CallbackQueue {
  tenant: string;
  origin: string;
}

/** A POST that is due, with everything that it needs: a callback or a delivery to a webhook. Times are ms since the epoch. */
export interface DuePost extends CallbackQueue {
  /** The number of its row, which is unique among the posts of a worker. */
  row: number;
  url: string;
  /** Empty when the body is long. */
  body: string;
  /** Length of the body in memory, in UTF-16 units: without its long texts. */
  heldLength: number;
  /** Reads a long body in parts, from its start each time; absent when `body` is all of it. */
  readBody?: () => AsyncIterable<string>;
  /** POSTs made, over all rounds. */
  attempts: number;
  /** POSTs made in this round: the position in the schedule. */
  roundAttempts: number;
  /** When what it reports has happened. */
  finishedAt: number;
  /** The trace context of the dispatch, if it had one. */
  traceparent?: string | null;
}

/** A callback that is due. Its row has the number of its task. */
export interface DueCallback extends Callback, DuePost {
  /** The `webhook-id`; absent in rows of a schema without it. */
  messageId?: string;
  traceparent: string | null;
  tracestate: string | null;
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
}

/** A task with a result that may be long. */
export interface StoredTask {
  /** Its result is null when that is long. */
  task: Task;
  /** Reads a long result as JSON text, in parts; null when there is none. */
  readResult: (() => AsyncIterable<string>) | null;
  summary: TaskSummary;
}

/** What the history contains of an attempt, in addition to its outcome. */
export interface AttemptDetails extends Pick<CallbackAttempt, "durationMs"> {
  /** Null without a response. */
  response: ResponseExcerpt | null;
  /** Time from its start to its settlement. */
  startedMsAgo: number;
}

/** The result of one attempt. A `pending` callback needs `nextInMs`. */
export interface CallbackSettlement {
  state: CallbackState;
  nextInMs: number | null;
  lastStatus: number | null;
  lastError: string | null;
  /** `callback.delivered` or `callback.dead`; null while pending. */
  event: ((attempts: number) => NewEvent) | null;
  /** Added to the history. Deliveries to webhooks have no history. */
  attempt?: AttemptDetails;
}

export const approvalStates = ["pending", "approved", "rejected"] as const;
export type ApprovalState = (typeof approvalStates)[number];

/** A tool call that waits, or has waited, for a decision. Times are ms since the epoch. */
export interface Approval {
  task: TaskIdentity;
  /** The title of the task. */
  title: string | null;
  /** The number of the row, from which a list continues. */
  seq: number;
  approvalId: string;
  /** The runtime's id of the call: unique within its task only. */
  toolCallId: string;
  toolName: string;
  input: unknown;
  /** Whether only the beginning of the input is kept. */
  inputTruncated: boolean;
  /** The working directory of the task, relative to its workspace; null if it is the workspace. */
  cwd: string | null;
  state: ApprovalState;
  createdAt: number;
  /** Null if the approval waits without a time limit. */
  expiresAt: number | null;
  decidedAt: number | null;
  /** The name of a token; `bridge` if the approval expired or the task ended. */
  decidedBy: string | null;
  reason: string | null;
}

/** An approval about to be stored. */
export interface NewApproval extends Pick<Approval, "approvalId" | "toolCallId" | "toolName"> {
  /** JSON text: `{input, cwd?, truncated?}`. */
  shownInput: string;
  /** Null: without a time limit. */
  expiresInMs: number | null;
  /** `tool.approval_requested`, which contains `expiresAt`. */
  event(expiresAt: number | null): NewEvent;
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

/** Selects approvals. */
export interface ApprovalFilter {
  state?: ApprovalState | undefined;
  taskId?: string | undefined;
}

/** A page of a list that has two orders. */
export interface OrderedPage {
  order: "newest" | "oldest";
  /** The number of the last row of the previous page; null for the first page. */
  after: number | null;
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
  /** Present if they hold over several nodes, each of which knows only its own running tasks. */
  limits?: RunningLimits;
}

/** Limits of the dispatched tasks of a tenant, and of each of its agents, that run at the same time. */
export type RunningLimits = Pick<TenantQuota, "maxRunning" | "agentMaxRunning">;

/** How a new task is stored. */
export interface InsertOptions {
  /** Whether it starts at once. On PostgreSQL, the store queues it instead if this node may not start it, or if a limit is reached. */
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

/** Which events a reader gets; undefined means any. */
export interface EventFilter {
  tenant: string;
  taskId?: string | undefined;
  agentId?: string | undefined;
  provider?: string | undefined;
  types?: readonly EventType[] | undefined;
}
