import type { EventType } from "#contract";
import type { ListedTask, StopRequest, Task, TaskIdentity, TaskProgress, TaskRun } from "../task.ts";
import type { NewTicket, RedeemedTicket, StoredSession } from "./access/interface.ts";
import type { Acknowledgement, AttentionQuery, FaultSelection, StoredAttention } from "./attention/interface.ts";
import type { ClaimedDelivery, NewDeliveries, WebhookCounts, WebhookDelivery, WebhookKey, WebhookPage } from "./posts/webhook-records.ts";
import type { LongText } from "./tasks/gapped-json.ts";
import type { ListedAgent, TaskFilter, TaskPage, TaskSearch } from "./tasks/list-records.ts";
import type {
  Approval,
  ApprovalDecision,
  ApprovalFilter,
  Callback,
  CallbackDetails,
  CallbackQueue,
  CallbackSettlement,
  CallbackState,
  ClaimFilter,
  DeletionOutcome,
  DueCallback,
  EventFilter,
  Finish,
  InsertOptions,
  InterruptedTask,
  NewApproval,
  NewEvent,
  NewTask,
  OrderedPage,
  Page,
  QueuedCount,
  StoredEvent,
  StoredTask,
  TaskEventKind,
  TaskStatus,
} from "./tasks/records.ts";
import type { TraceLimits, TracePage } from "./traces/interface.ts";
import type { UsageDimension, UsageParts, UsageSum } from "./usage/interface.ts";

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
  /** Once per task: returns false if the task is not running, was requeued before, or should stop. */
  requeueTaskIfRunning(task: TaskRun): Promise<boolean>;
  /**
   * Requests that the process that runs the task stops it; returns false if the task is not running. The first request of a task is kept.
   * A process that runs the task itself stops it without this write.
   */
  requestStopIfRunning(task: TaskIdentity, stop: StopRequest): Promise<boolean>;
  /** Called one or more times with each stored stop request of a task that this process may run. One listener only: the dispatcher. */
  onStopRequests(listener: (task: TaskIdentity, stop: StopRequest) => void): void;
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

/** The event log. */
export interface EventStore {
  /**
   * The first half of every event id. Letters and digits only. A store that has lost committed events, for example in a failover, changes
   * it before it publishes further events, because their numbers may repeat. Read it again after each wait.
   */
  readonly epoch: string;
  /** Number of the last published event; 0 when there is none. */
  lastEventNumber(): number;
  /** Publishes the events that other processes have committed before the call. Resolves with the number of the last published event. */
  catchUp(): Promise<number>;
  /**
   * Called after each commit of any process with its events, in number order, each event once. One listener only: the event log. While
   * `needsAll` returns false, the store may leave out the events of other processes whose type is not essential.
   */
  onEvents(listener: (events: readonly StoredEvent[]) => void, needsAll?: () => boolean): void;
  /** Appends to the event log of a running task; returns false if the task has ended. Part of the next commit. */
  appendEventsIfRunning(task: TaskRun, events: readonly NewEvent[]): Promise<boolean>;
  /**
   * Events after a number that match the filter, oldest first. Examines a limited part of the log, so `events` may be empty before the end
   * of the log: continue from `through`.
   */
  readEvents(after: number, filter: EventFilter): Promise<{ events: StoredEvent[]; through: number }>;
  /**
   * A task's events, oldest first: all, those of its execution, or only those of its tool calls. Returns fewer than `limit` if they are
   * long; only an empty list is the last page.
   */
  readTaskEvents(taskSeq: number, after: number, limit: number, kind: TaskEventKind): Promise<StoredEvent[]>;
  /** Number and time of the first kept event with this number or a later one; null when there is none. */
  firstEventFrom(number: number): Promise<{ number: number; at: number } | null>;
  /** Number of the oldest event that is kept, null when there is none. */
  oldestEventNumber(): Promise<number | null>;
  /** Number of the last event that retention has deleted, 0 when there is none. Later events are missing only if their task was deleted. */
  prunedThrough(): Promise<number>;
  /** Whether the task has later events (callback events aside), including events that are not visible to readers yet. */
  hasEventsAfter(taskSeq: number, number: number): Promise<boolean>;
  /** Whether the newest `tool.invoked` or `tool.completed` event of a running task, since its last start, is `tool.invoked`. */
  isInToolCall(taskSeq: number): Promise<boolean>;
}

/** The callback outbox. */
export interface CallbackStore {
  findCallback(taskSeq: number): Promise<Callback | null>;
  /** As `findCallback`, with the history of attempts. */
  findCallbackDetails(taskSeq: number): Promise<CallbackDetails | null>;
  listCallbacks(tenant: string, state: CallbackState | undefined, page: Page): Promise<Callback[]>;
  /** Called with each new callback as soon as it is durable. The listener must not throw. One listener only: the callback worker. */
  onCallback(listener: (callback: DueCallback) => void): void;
  /** Queues that have a due callback. */
  listDueCallbackQueues(): Promise<CallbackQueue[]>;
  /** Due callbacks of one queue, the longest due first, without those in progress. */
  listDueCallbacks(queue: CallbackQueue, limit: number, inProgress?: ReadonlySet<number>): Promise<DueCallback[]>;
  /** Milliseconds until the next callback that is not due yet, null when there is none. */
  nextCallbackInMs(): Promise<number | null>;
  /** Milliseconds since the end of the earliest task of each tenant whose callback is pending, at most; null when there is none. */
  oldestCallbackMs(): Promise<number | null>;
  /**
   * Counts the POST that followed the first `attempts` POSTs, and settles the row. Returns the number of POSTs; null when the row is no
   * longer pending or this POST is already counted. Part of the next commit.
   */
  settleCallbackIfPending(posted: Pick<DueCallback, "task" | "attempts">, settlement: CallbackSettlement): Promise<number | null>;
  /** Starts a new round of attempts for a dead callback. */
  redeliverCallbackIfDead(taskSeq: number): Promise<Callback | null>;
}

/** The webhooks: their positions in the event log, and the outbox of their deliveries. */
export interface WebhookStore {
  /**
   * Stores the positions of these webhooks, unless they have one, and returns all of them. A new one is that of `from`, which another node
   * has removed, or else the end of the log.
   */
  addWebhooks(names: readonly string[], from?: ReadonlyMap<string, number>): Promise<Map<string, number>>;
  /** Deletes the positions of these webhooks. */
  removeWebhooks(names: readonly string[]): Promise<void>;
  /** Reads the events of these types after the position of the webhook, of the tenant. Null if the webhook has no position. */
  readWebhookEvents(key: WebhookKey, types: readonly EventType[]): Promise<WebhookPage | null>;
  /**
   * Stores deliveries, unless they are stored already or their task was deleted, and moves the position in the same transaction. Returns
   * false if another node has moved it before.
   */
  addWebhookDeliveries(added: NewDeliveries): Promise<boolean>;
  listWebhookDeliveries(key: WebhookKey, state: CallbackState | undefined, page: Page): Promise<WebhookDelivery[]>;
  /** Counts the pending and the dead deliveries to each of these webhooks, each up to 10,000. */
  countWebhookDeliveries(tenant: string, webhooks: readonly string[]): Promise<WebhookCounts[]>;
  findWebhookDelivery(key: WebhookKey, id: string): Promise<WebhookDelivery | null>;
  /** Those of the webhooks that have a due delivery. */
  listDueWebhooks(webhooks: readonly WebhookKey[]): Promise<WebhookKey[]>;
  /**
   * Due deliveries to one webhook, the longest due first, without those in progress. With several nodes, the caller has to post them within
   * half a minute, for which no other node gets them.
   */
  claimDueDeliveries(key: WebhookKey, limit: number, inProgress: ReadonlySet<number>): Promise<WebhookDelivery[]>;
  /** Makes claimed deliveries due again that are not settled, so that another node, or the next start, posts them. */
  releaseDeliveries(claimed: readonly ClaimedDelivery[]): Promise<void>;
  /** Milliseconds until the next delivery to one of the webhooks that is not due yet, null when there is none. */
  nextWebhookInMs(webhooks: readonly WebhookKey[]): Promise<number | null>;
  /** As `settleCallbackIfPending`, without an event. */
  settleDeliveryIfPending(posted: ClaimedDelivery, settlement: Omit<CallbackSettlement, "event" | "attempt">): Promise<number | null>;
  /** Starts a new round of attempts for a dead delivery. */
  redeliverWebhookIfDead(key: WebhookKey, id: string): Promise<WebhookDelivery | null>;
}

/** The export of traces, which one process at a time does. */
export interface TraceStore {
  /**
   * Claims the position of the export for a process, or renews its claim, and returns the position: at first the end of the log. Null while
   * another process holds it.
   */
  claimTracePosition(holder: string, forMs: number): Promise<number | null>;
  /** Moves the position, if the process still holds it. Returns false otherwise. */
  moveTracePosition(holder: string, to: number): Promise<boolean>;
  /** Reads the ends of runs and callbacks after an event, with what their spans need, oldest first. */
  readTraceEnds(after: number, limits: TraceLimits): Promise<TracePage>;
}

/** Tool calls that wait for a decision. */
export interface ApprovalStore {
  /** Stores the approval together with its event; null when the task is not running, or has too many pending approvals. */
  insertApprovalIfRunning(task: TaskRun, approval: NewApproval): Promise<Approval | null>;
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
  listApprovals(tenant: string, filter: ApprovalFilter, page: OrderedPage): Promise<Approval[]>;
  /** Pending approvals of a tool call, oldest first: several tasks may use one id. */
  listPendingApprovals(tenant: string, toolCallId: string): Promise<Approval[]>;
  hasPendingApproval(taskSeq: number): Promise<boolean>;
}

/** What needs a person, and the acknowledgements of faults. */
export interface AttentionStore {
  readAttention(tenant: string, query: AttentionQuery): Promise<StoredAttention>;
  /** Whether there is such a fault; with `isNew`, one that is not acknowledged. */
  isFault(selection: FaultSelection, options?: { isNew?: boolean }): Promise<boolean>;
  /**
   * Acknowledges at most `limit` faults that are not acknowledged, and returns their number. With PostgreSQL, it leaves out those that are
   * being written, unless the selection has an id. A callback or delivery that dies again is a new fault.
   */
  acknowledgeFaults(selection: FaultSelection, by: string, limit: number): Promise<number>;
  /** The acknowledgements of adapters that are offline, by adapter. */
  listAdapterAcknowledgements(tenant: string): Promise<ReadonlyMap<string, Acknowledgement>>;
  /** Returns false if it is acknowledged already. */
  acknowledgeAdapter(tenant: string, provider: string, by: string): Promise<boolean>;
  /** Deletes the acknowledgements of an adapter that is no longer offline. */
  forgetAdapterAcknowledgements(provider: string): Promise<void>;
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

/** What tasks have used, by the hour of their end. Each end adds to it in its own transaction. */
export interface UsageStore {
  /** Sums the usage of the tasks of a tenant that ended in these hours, counted since the epoch, by a dimension. */
  sumUsage(tenant: string, hours: readonly number[], by: UsageDimension): Promise<UsageSum[]>;
  /** Sums the usage of each of these hours, split into parts. */
  sumUsageParts(tenant: string, hours: readonly number[], parts: UsageParts): Promise<UsageSum[]>;
}

/** Unused tickets, each of which replaces a token once. */
export interface TicketStore {
  /** Stores a ticket and returns its expiry in ms since the epoch; null if its token already has `maxPerToken` unused tickets. */
  insertTicketIfRoom(ticket: NewTicket, maxPerToken: number): Promise<number | null>;
  /** Deletes the ticket and returns it; null if it is unknown, used or expired. Of concurrent calls, one returns it. */
  redeemTicket(hash: string): Promise<RedeemedTicket | null>;
}

/** Open sessions, each of which replaces a token until it expires. */
export interface SessionStore {
  /** Stores a session and returns its expiry in ms since the epoch. A principal keeps only its `maxPerPrincipal` newest sessions. */
  insertSession(session: NewTicket, maxPerPrincipal: number): Promise<number>;
  /** Null if the session is unknown, deleted or expired. */
  findSession(hash: string): Promise<StoredSession | null>;
  /** Returns false if the session is unknown. */
  deleteSession(hash: string): Promise<boolean>;
}

/** Retention and the state of the file. */
export interface MaintenanceStore {
  /** Deletes one slice of expired tasks, events, resume tokens, tickets and sessions, or of deleted tasks. Returns the number of rows. */
  prune(olderThanMs: number, limit: number): Promise<number>;
  /** Proves that a write reaches the disk. */
  checkWritable(): Promise<void>;
  /** Postpones the next commit by one turn of the event loop. Calls in many successive turns postpone it by a limited number of turns. */
  postponeCommit(): void;
  /** Checks for damaged pages if opening the store has not done so. Resolves when the check ends; damage is reported as a fault. */
  checkPages(): Promise<void>;
  /** Commits pending writes and closes the file. */
  close(): Promise<void>;
}

/**
 * The data that Bridge stores. The name of an operation contains its guard, for example `IfQueued`. If the guard does not hold, the result
 * is null or false, not an error. Writes resolve when they are durable. The store's clock determines all times.
 */
export interface Store
  extends TaskStore,
    EventStore,
    CallbackStore,
    WebhookStore,
    TraceStore,
    ApprovalStore,
    AttentionStore,
    DeletionStore,
    UsageStore,
    TicketStore,
    SessionStore,
    MaintenanceStore {}
