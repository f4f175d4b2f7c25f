/** States of a task; the last three are final. */
export type TaskState = "queued" | "running" | "completed" | "failed" | "cancelled";

/** Error codes of a failed task. */
export type TaskErrorCode =
  | "adapter_offline"
  | "adapter_error"
  | "authentication_required"
  | "user_action_required"
  | "rate_limited"
  | "model_error"
  | "timeout"
  | "idle_timeout"
  | "cancelled"
  | "output_limit"
  | "output_invalid"
  | "runtime_crashed"
  | "spawn_failed"
  | "bridge_restarted"
  | "bridge_shutdown"
  | "max_turns"
  | "budget_exceeded";

/** How an adapter reaches its runtime. */
export type ConnectionKind = "acp" | "cli" | "api" | "http-api" | "mcp" | "native-dispatch" | "in-process";

type JsonObject = Record<string, unknown>;

/** A file that a dispatch writes to the workspace. */
export interface DispatchFile {
  /** Relative to the workspace, with slashes. */
  path: string;
  content: string;
  /** How `content` encodes the bytes of the file. Default: `utf8`. */
  encoding?: "utf8" | "base64" | undefined;
}

/** A task to run. Bridge rejects unknown fields, so that a typo does not go unnoticed. */
export interface DispatchRequest {
  /** Id of the task, chosen by the caller: a repeated id refers to the same task. Default: the client creates one. */
  taskId?: string | undefined;
  /** The adapter; optional when only one is loaded. */
  provider?: string | undefined;
  agentId: string;
  /** The work. Required, unless `bridgeInput` or `responderInput` is given. */
  message?: string | undefined;
  stdin?: string | undefined;
  systemPrompt?: string | undefined;
  model?: string | undefined;
  /** In the format of OpenAI, Anthropic or MCP. */
  tools?: readonly object[] | undefined;
  mcpServers?:
    | readonly (
        | { name: string; transport: "stdio"; command: string; args?: string[] | undefined; env?: Record<string, string> | undefined }
        | { name: string; transport: "http" | "sse"; url: string; headers?: Record<string, string> | undefined }
      )[]
    | undefined;
  /** Written to the workspace before the task starts: at most 100 files, 1 MiB in total. */
  files?: DispatchFile[] | undefined;
  /** The task runs in a separate work tree of this repository. */
  repository?:
    | {
        /** As the operator has set it. */
        name: string;
        /** Branch, tag or full commit id at which the task begins. Default: the ref that the operator has set. */
        ref?: string | undefined;
        /** Default: `bridge/<taskId>`. */
        branch?: string | undefined;
        /** What remains after the task: the branch (the default), the diff without the branch, or nothing. */
        keep?: "branch" | "diff" | "none" | undefined;
        /** Whether Bridge pushes the branch to the source of the repository. Default: false. */
        push?: boolean | undefined;
      }
    | undefined;
  /** Time limit from the start of the task. Default: 600. */
  timeoutSeconds?: number | undefined;
  /** The maximum that the task and its child tasks may spend together. At least one maximum is required. */
  budget?:
    | {
        maxCostUsd?: number | undefined;
        maxTokens?: number | undefined;
        /** At the maximum, the task fails with `budget_exceeded` (`stop`, the default), or waits for an approval of the kind `budget`. */
        onReached?: "stop" | "ask" | undefined;
        /** Without a price of the model, the reservation counts as spent (`reserve`, the default), or the dispatch is rejected. */
        onUnknownCost?: "reserve" | "refuse" | undefined;
      }
    | undefined;
  outputStrategy?: { type: "stream" } | { type: "file"; path: string } | { type: "structured"; schema: JsonObject } | undefined;
  /** Shorthand for an `outputStrategy` of type `structured`. */
  outputSchema?: JsonObject | undefined;
  /** Continues a session. */
  resumeToken?: string | undefined;
  /** Whether the task may change the project. Default: `inspect`, read-only. */
  profile?: "inspect" | "modify" | undefined;
  /** What Bridge does when the runtime requests approval of a tool call. */
  approvals?: "ask" | "deny" | "allow" | undefined;
  /** What Bridge does with a task that was interrupted by a crash of Bridge; `retry` runs it at most once more. */
  onInterrupt?: "fail" | "retry" | undefined;
  /** `wait`: return to the queue if the vendor of the model rejects calls because of a usage limit, until it is reset. Default: fail. */
  whenLimited?: "fail" | "wait" | undefined;
  /** How long the task may wait for that. Default: 21600. */
  waitSeconds?: number | undefined;
  /** Tags that the node which runs the task must have; `node:<name>` names one node. At most 16. */
  /** Adapters on which the task runs if its adapter cannot run it, or if the vendor of its model rejects calls. At most four. */
  fallbacks?: { provider: string; model?: string | undefined }[] | undefined;
  /** How often the adapter is tried again after these errors. */
  retry?: { max: number; on: ("rate_limited" | "model_error")[] } | undefined;
  runsOn?: string[] | undefined;
  /** At most 16 labels, by which lists can be filtered. */
  labels?: Record<string, string> | undefined;
  callbackUrl?: string | undefined;
  /** False omits `conversationMessages` from the callback. */
  callbackConversation?: boolean | undefined;
  /** Opaque to Bridge and returned unchanged. */
  metadata?: JsonObject | undefined;
  bridgeInput?: JsonObject | undefined;
  responderInput?: JsonObject | undefined;
}

/** Response to a dispatch. */
export interface AcceptedTask {
  taskId: string;
  provider: string;
  agentId: string;
  state: TaskState;
  createdAt: string;
  /** The repository of which the task gets a separate work tree; null if it gets none. Missing in earlier versions of Bridge. */
  repository?: AcceptedRepository | null | undefined;
}

/** The repository of an accepted task. */
export interface AcceptedRepository {
  name: string;
  ref: string;
  branch: string;
  /** The commit from which the task starts. Null if the fetch took too long or failed; then the task fetches again when it starts. */
  baseCommit: string | null;
}

/** What a dispatch would do. */
export interface DispatchCheck {
  /** Status that the dispatch would get. */
  wouldAnswer: number;
  /** The body of that response; null if the dispatch would be accepted. */
  problem: { code: string; detail: string; errors?: { path: string; message: string }[] } | null;
  /** The task that the dispatch would create; null if it would be rejected. */
  task: {
    provider: string;
    agentId: string;
    /** Whether the dispatch repeats an earlier one, so that it starts nothing. */
    replayed: boolean;
    connection: ConnectionKind | null;
    /** Queued tasks of the adapter, of all tenants. Tenants take turns. */
    queueAhead: number;
    /** `model` is null for the default of the runtime. */
    resolved: { model: string | null; profile: "inspect" | "modify"; approvals: "ask" | "deny" | "allow"; timeoutSeconds: number };
    /** Who would answer, each role on each runtime; null if the adapter is no council. Missing in earlier versions of Bridge. */
    council?: {
      roles: { title: string; domain: string }[];
      /** `models` is empty for the default of the runtime. `fault` is why the runtime would not answer. */
      runtimes: { provider: string; models: string[]; fault: string | null }[];
    } | null;
    /** Missing in earlier versions of Bridge. */
    repository?: AcceptedRepository | null;
    warnings: string[];
  } | null;
}

/** Token usage of one task. An absent field is unknown, not 0. */
export interface NormalizedUsage {
  /** All prompt tokens, cached ones included. */
  inputTokens: number;
  /** All generated tokens, thinking included. */
  outputTokens: number;
  thinkingTokens?: number | undefined;
  cacheReadTokens?: number | undefined;
  cacheWriteTokens?: number | undefined;
  /** The part of `cacheWriteTokens` that is kept for an hour. */
  cacheWrite1hTokens?: number | undefined;
}

/** Where a cost comes from: the runtime's own figure or, at least in part, tokens multiplied by a price. */
export type CostSource = "runtime" | "priced";

/** One message of the conversation of a task. */
export interface ConversationMessage {
  role: "user" | "assistant" | "tool";
  content: string;
  toolCalls?: { toolCallId: string; toolName: string; input: unknown }[] | undefined;
  toolCallId?: string | undefined;
}

/** Result of a task. */
export interface ExecutionResult {
  status: "ok" | "error";
  output?: string | undefined;
  /**
   * With the output strategy `structured`: the requested object. With `file`: `{path, bytes, sha256}`, and `encoding: "base64"` if the file
   * is not UTF-8.
   */
  outputs?: JsonObject | undefined;
  durationMs: number;
  usage?: NormalizedUsage | undefined;
  costUsd?: number | undefined;
  costSource?: CostSource | undefined;
  model?: string | undefined;
  resumeToken?: string | undefined;
  conversationMessages?: ConversationMessage[] | undefined;
  errorCode?: TaskErrorCode | undefined;
  error?: string | undefined;
  connection: ConnectionKind;
  /** Absent if the dispatch has neither `fallbacks` nor `retry`. */
  attempts?: Attempt[] | undefined;
  /** Absent if the task has no separate work tree. */
  repository?: RepositoryOutcome | undefined;
}

/** What a task has changed in its work tree of a repository. */
export interface RepositoryOutcome {
  name: string;
  branch: string;
  /** Null if no tree was created. */
  baseCommit: string | null;
  /** The commit that contains all changes. */
  headCommit: string | null;
  commits: number;
  files: number;
  insertions: number;
  deletions: number;
  pushed: boolean;
  /** Why a requested push failed. */
  pushError?: string | undefined;
  conflicts: null;
  /** Why the changes are not stored completely. */
  error?: string | undefined;
}

/** An attempt of a task, or a candidate that was skipped. */
export interface Attempt {
  number: number;
  provider: string;
  /** Null for the default of the runtime. */
  model: string | null;
  /** Null if the candidate was skipped. */
  startedAt: string | null;
  /** Null if the attempt succeeded or was skipped. */
  errorCode: TaskErrorCode | null;
  /** Why the attempt failed, or why the candidate was skipped. */
  reason: string | null;
  usage: NormalizedUsage | null;
  costUsd: number | null;
}

/** A task in a list. Times are ISO 8601 in UTC. */
export interface ListedTask {
  taskId: string;
  parentTaskId: string | null;
  provider: string;
  agentId: string;
  state: TaskState;
  waitingOn: "queue" | "quota" | "budget" | "cooldown" | "approval" | "runtime" | null;
  /** What a queued task waits for; null if it is not queued. */
  queuedBecause: "slot" | "session" | "quota" | "budget" | "node" | "tag" | "cooldown" | null;
  /** Names of the budgets without room, if the task waits for one; otherwise empty. */
  waitingForBudgets: string[];
  /** Name of the node that runs or ran the task, or of the only one that may start it; null with SQLite. */
  node: string | null;
  /** The first line of the message, at most 120 characters. */
  title: string | null;
  /** The model that ran the task; until the task ends, the requested one. */
  model: string | null;
  /** Null if it is unknown. */
  usage: NormalizedUsage | null;
  /** Null if it is unknown. */
  costUsd: number | null;
  /** Null if the cost is unknown. */
  costSource: CostSource | null;
  errorCode: TaskErrorCode | null;
  /** The attempts that have ended, and the candidates that were skipped. Empty if the dispatch has neither `fallbacks` nor `retry`. */
  attempts: Attempt[];
  labels: Record<string, string>;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  lastProgressAt: string | null;
  callback: {
    state: CallbackState;
    url: string;
    attempts: number;
    nextAttemptAt: string | null;
    lastStatus: number | null;
    lastError: string | null;
  } | null;
  metadata: JsonObject | null;
  /** Number of child tasks, without their child tasks. */
  childCount: number;
  /** Null if the task has no separate work tree. */
  repository: TaskRepository | null;
}

/** The repository of which a task has a separate work tree, and what it has changed. Null until the task ends, except for the base. */
export interface TaskRepository {
  name: string;
  branch: string;
  /** Null until it is known. */
  baseCommit: string | null;
  /** The commit that contains all changes. */
  headCommit: string | null;
  commits: number | null;
  files: number | null;
  insertions: number | null;
  deletions: number | null;
  pushed: boolean | null;
  pushError: string | null;
  /** Why the changes are not stored completely. */
  error: string | null;
}

/** A task with its result, which is null until the task has ended. */
export interface Task extends ListedTask {
  result: ExecutionResult | null;
}

/** The request of a task, after aliases and defaults were applied, without secrets of its MCP servers. */
export interface TaskRequest {
  request: Omit<DispatchRequest, "outputSchema" | "tools"> & {
    tools?: { name: string; description: string; inputSchema: JsonObject }[] | undefined;
    /** Child tasks only. */
    reasoningLevel?: "medium" | "high" | "xhigh" | undefined;
  };
  /** Paths of the values that were replaced by `***`, for example `mcpServers.0.env.TOKEN`. */
  masked: string[];
}

/** The changes of a git work tree since a task started. */
export interface TaskDiff {
  /** The commit that was checked out when the task started. */
  commit: string;
  /** Directory of the git work tree, relative to the workspace; empty for the workspace itself. */
  directory: string;
  /** The unified diff. Empty if nothing differs. U+FFFD replaces bytes that are not UTF-8. */
  diff: string;
  /** The exact bytes of the diff, in base64, if it is not UTF-8; null if `diff` contains them. Older versions of Bridge omit it. */
  diffBase64?: string | null;
  /** Why the end of the diff is missing; null if the diff is complete. Later versions can add values. */
  truncated: "bytes" | "time" | "unreadable" | (string & {}) | null;
  /** Files that are too large to be compared, relative to `directory`. */
  omitted: string[];
}

/** Selects tasks. */
export interface TaskFilter {
  /** Also accepted as `canceled`. */
  state?: TaskState | "canceled" | undefined;
  provider?: string | undefined;
  agentId?: string | undefined;
  parentTaskId?: string | undefined;
  errorCode?: TaskErrorCode | "canceled" | undefined;
  /** The state of the callback. Only ended tasks match. */
  callback?: "pending" | "delivered" | "dead" | undefined;
  /** `approval`: tasks with a tool call that waits for approval. */
  waitingOn?: "approval" | undefined;
  /** ISO 8601 with a time zone. */
  createdAfter?: string | undefined;
  createdBefore?: string | undefined;
  finishedAfter?: string | undefined;
  finishedBefore?: string | undefined;
  idPrefix?: string | undefined;
  /** A task with all tasks below it; `*` for tasks without a parent. */
  root?: string | undefined;
  /** A label that they have, as `name=value`. */
  label?: string | undefined;
  /** A text that their title contains, whatever the case of its ASCII letters. */
  q?: string | undefined;
  /** A text with which their id begins, that their title or agent contains, or the beginning of a label as `name=value`. */
  search?: string | undefined;
}

/** A tool call, or a task at the maximum of its budget, that waits or waited for approval. */
export interface Approval {
  approvalId: string;
  /** Absent in responses of earlier versions, whose approvals are of the kind `tool`. */
  kind: ApprovalKind;
  taskId: string;
  agentId: string;
  provider: string;
  /** The first line of the task's message; null if it has none. */
  title: string | null;
  /** Unique within the task. The id of the approval for a budget. */
  toolCallId: string;
  /** `budget` for a budget. */
  toolName: string;
  /** The input of the tool, or a `BudgetQuestion`. */
  input: unknown;
  /** The input is cut. */
  inputTruncated: boolean;
  /** The working directory of the task, relative to its workspace; null if it is the workspace. */
  cwd: string | null;
  state: ApprovalState;
  createdAt: string;
  /** Without a decision the call is rejected at this time. Null if it waits without a time limit. */
  expiresAt: string | null;
  decidedBy: string | null;
  reason: string | null;
  /** By how many US dollars the approval has raised the maximum of a budget; null if it has not. */
  raiseByUsd: number | null;
}
/** What an approval decides. More kinds may follow. */
export type ApprovalKind = "tool" | "budget";
/** The `input` of an approval of the kind `budget`. Null: unknown, or no maximum. */
export interface BudgetQuestion {
  spentUsd: number | null;
  maxCostUsd: number | null;
  spentTokens: number | null;
  maxTokens: number | null;
}
export type ApprovalState = "pending" | "approved" | "rejected";

/** The states of callbacks and of deliveries to webhooks. */
export type CallbackState = "pending" | "delivered" | "dead";

/** The delivery of a task's result to its `callbackUrl`. */
export interface Callback {
  taskId: string;
  url: string;
  state: CallbackState;
  /** Number of attempts, including those before a redelivery. */
  attempts: number;
  /** Null until the task ends, and while no attempt is planned. */
  nextAttemptAt: string | null;
  lastStatus: number | null;
  lastError: string | null;
  updatedAt: string;
}

/** One POST of a callback. */
export interface CallbackAttempt {
  /** Position among all attempts, beginning with 1. */
  number: number;
  at: string;
  /** Null without a response. */
  status: number | null;
  /** Null if the attempt delivered the callback. */
  error: string | null;
  durationMs: number;
  /** The first 1 KiB of the response body; null without a response. The receiver determines it: show it as text. */
  response: string | null;
  responseTruncated: boolean;
}

/** A callback with its last attempts. */
export interface CallbackDetails extends Callback {
  /** `task`: the task has not ended, and the first attempt starts when it ends. */
  waitingOn: "task" | null;
  /** At most 20, the oldest first. */
  history: CallbackAttempt[];
}

/** A webhook of the operator. */
export interface Webhook {
  name: string;
  /** Scheme, host and port of its URL. */
  origin: string;
  types: WebhookType[];
  filter: { agentId?: string; provider?: string; labels?: Record<string, string> };
  pending: number;
  dead: number;
}

/** A budget of the operator, with what is spent of it in the current period. */
export interface Budget {
  name: string;
  /** The tasks to which it applies: `tenant`, `agentId`, `provider`, `model`, `token`, `label.<name>`. Empty: all. */
  scope: Record<string, string>;
  per: "task" | "hour" | "day" | "month";
  /** Null if it limits each task alone. */
  periodStart: string | null;
  periodEnd: string | null;
  maxCostUsd: number | null;
  maxTokens: number | null;
  /** Includes `estimatedUsd`. */
  spentUsd: number;
  spentTokens: number;
  /** What running tasks may still spend. */
  reservedUsd: number;
  reservedTokens: number;
  /** The part of `spentUsd` that is a guess, because the cost of its tasks is unknown. */
  estimatedUsd: number;
  /** Queued tasks for which the budget has no room. */
  waitingTasks: number;
  state: "ok" | "warning" | "reached";
}

/** A repository of which tasks can have a work tree. */
export interface Repository {
  name: string;
  /** The branch, tag or commit from which tasks start by default. */
  defaultRef: string;
  /** Whether a dispatch may have `push`, with which Bridge pushes the branch to the source. */
  push: boolean;
  /** Null if the node that answers has not fetched it. */
  lastFetchAt: string | null;
  /** The stored branches of tasks. */
  branches: { name: string; taskId: string; headCommit: string }[];
}

/** The types of events that webhooks can get. */
export type WebhookType =
  | "execution.started"
  | "budget.warning"
  | "tool.approval_requested"
  | "tool.approval_resolved"
  | "execution.completed"
  | "execution.failed"
  | "callback.delivered"
  | "callback.dead"
  | "budget.adjusted"
  | "adapter.offline";

/** The delivery of an event to a webhook. */
export interface WebhookDelivery {
  /** The `webhook-id` of every attempt. */
  deliveryId: string;
  type: string;
  taskId: string | null;
  state: CallbackState;
  attempts: number;
  nextAttemptAt: string | null;
  lastStatus: number | null;
  lastError: string | null;
  createdAt: string;
  updatedAt: string;
}

/** What an item needs a person for. Later versions may add kinds. */
export type AttentionKind = "approval" | FaultKind;
/** A fault that can be acknowledged: a failed task, a dead callback or delivery, or an adapter that is offline. */
export type FaultKind = "failure" | "callback" | "delivery" | "adapter";

/** Something that needs a person. */
export interface AttentionItem {
  kind: AttentionKind;
  /** The approval, the task, the delivery, or the adapter. */
  id: string;
  /** When it arose, or the last check of an adapter. */
  at: string | null;
  taskId: string | null;
  agentId: string | null;
  provider: string | null;
  title: string | null;
  /** The origin of a callback, or the name of a webhook. */
  receiver: string | null;
  /** The tool that waits, the error code of the task, the last error, or why an adapter is offline. */
  detail: string | null;
  acknowledgedBy: string | null;
  acknowledgedAt: string | null;
}

/** What needs a person, or the faults that were acknowledged. */
export interface Attention {
  /** At most `limit` items of each kind: the oldest approvals, and the newest faults. */
  data: AttentionItem[];
  /** The number of all items of each kind, counted up to 1,000. */
  counts: Record<AttentionKind, number>;
  /** The number of counted items of each receiver, the most first. */
  receivers: { kind: "callback" | "delivery"; receiver: string; count: number }[];
}

/** The faults that a person acknowledges: one, those of a receiver, or all of a kind; `until`: only those that arose until then. */
export type FaultChoice =
  | { kind: FaultKind; id: string }
  | { kind: "callback" | "delivery"; receiver: string; until?: string | undefined }
  | { kind: FaultKind; all: true; until?: string | undefined };

/** A permission of a token. */
export type Scope = "dispatch" | "read" | "approve" | "manage" | "metrics";

/** The name, tenant and scopes of a token. */
export interface Identity {
  name: string;
  tenant: string;
  scopes: Scope[];
  /** Null if the token never expires. */
  expiresAt: string | null;
  /** Whether Bridge signs callbacks. Missing in earlier versions of Bridge. */
  signsCallbacks?: boolean;
}

/** A single-use credential that opens one event stream or WebSocket. */
export interface Ticket {
  ticket: string;
  expiresAt: string;
}

/** A link that signs a browser in to the console, once. */
export interface SignInLink {
  ticket: string;
  /** Path and fragment of the console, relative to the address of Bridge. */
  path: string;
  expiresAt: string;
}

/** A session of the console. */
export interface Session {
  /** Replaces the token that created the link. */
  token: string;
  expiresAt: string;
}

/** Name, version and links of Bridge. */
export interface ServiceInfo {
  name: string;
  version: string;
  description: string;
  /** How often a callback is retried, and for how many seconds. Missing in earlier versions of Bridge. */
  callbackRetries?: { retries: number; seconds: number };
  /** Paths on the same host, by name. */
  links: Record<string, string>;
}

/** The workspace in which the tasks of an agent run. */
export interface Workspace {
  id: string;
  kind: "agent";
  agentId: string;
  /** Number of stored tasks of the agent. */
  tasks: number;
  updatedAt: string;
}

/** An agent that has tasks. */
export interface TaskAgent {
  agentId: string;
  /** The adapter of its newest task. */
  provider: string;
  /** Number of its stored tasks. */
  tasks: number;
  /** When its newest task was created, started or ended. */
  lastActivityAt: string;
  /** Name of the node on which it lives; null with SQLite, and if it lives on no node yet. */
  node: string | null;
}

/** What a number of ended tasks have used. A sum is null if it is unknown for all of them. */
export interface UsageCounts {
  /** Tasks that have ended, child tasks included. */
  tasks: number;
  completed: number;
  failed: number;
  cancelled: number;
  durationMs: number;
  /** Cached tokens included. */
  inputTokens: number | null;
  outputTokens: number | null;
  cacheReadTokens: number | null;
  cacheWriteTokens: number | null;
  tasksWithoutUsage: number;
  /** In US dollars. */
  costUsd: number | null;
  /** If it is not 0, `costUsd` is less than the real cost. */
  tasksWithoutCost: number;
}

/** What the tasks of one group have used. */
export interface UsageGroup extends UsageCounts {
  /** Start of the hour or day, name of the adapter, agent or model, or a label as `name=value`. Null: the model is unknown. */
  key: string | null;
  /** With `split`: the largest parts of the window that this hour or day contains, sorted by their cost in the window. */
  parts?: UsagePart[];
  /** With `split`: all parts that `parts` does not contain. */
  otherParts?: UsageCounts | null;
}

/** What the tasks of one part of an hour or day have used. */
export interface UsagePart extends UsageCounts {
  /** Name of the adapter, agent or model. Null: the model is unknown. */
  key: string | null;
}

/** Which sums `getStats` returns. */
export interface StatsQuery {
  /** Default: `24h`, unless there is a range. */
  window?: "24h" | "7d" | "30d" | "90d" | "365d" | undefined;
  /** Start of a range, instead of `window`: a time with a time zone, or a date, which begins at midnight UTC. */
  from?: string | undefined;
  /** End of the range, exclusive. Default: the present. */
  to?: string | undefined;
  /** Default: `agent`. */
  by?: "hour" | "day" | "provider" | "agent" | "model" | "label" | undefined;
  /** Splits each hour or day into parts. Only with `by: "hour"` or `by: "day"`. */
  split?: "provider" | "agent" | "model" | undefined;
  /** Maximum groups, 1 to 100, except hours and days, or maximum parts of them. Default: 20. */
  limit?: number | undefined;
}

/** Cost, tokens and numbers of the tasks that ended in a window or a range. */
export interface Stats {
  /** Null if the query has a range. */
  window: NonNullable<StatsQuery["window"]> | null;
  by: NonNullable<StatsQuery["by"]>;
  from: string;
  to: string;
  /** Each task once, whatever its labels. */
  total: UsageCounts;
  /** Hours and days in order, others sorted by cost and by their number of tasks. */
  data: UsageGroup[];
  /** All groups that `data` does not contain. */
  other: UsageCounts | null;
}

/** Condition for writing or deleting a file. If it is not met, the call rejects with `stale_write`. */
export interface FileCondition {
  /** ETag that the file must have. */
  ifMatch?: string | undefined;
  /** The file must not exist. */
  mustBeNew?: boolean | undefined;
}

/** A file that a task left in its workspace. */
export interface TaskFile {
  /** Relative to the workspace. */
  path: string;
  bytes: number;
  modifiedAt: string;
}

/** An adapter with its health, capabilities and load. */
export interface Adapter {
  provider: string;
  health: {
    status: "healthy" | "degraded" | "offline";
    connection: ConnectionKind | null;
    version: string | null;
    /** Path of the program, or origin of the server, that tasks use. Missing in earlier versions of Bridge. */
    path?: string | null;
    detail: string | null;
    preflight: { step: string; ok: boolean; detail: string }[];
    /** Null until the first health check. */
    checkedAt: string | null;
  };
  capabilities: JsonObject;
  running: number;
  queued: number;
  maxConcurrent: number;
  /** Until when tasks that may run elsewhere or wait avoid the adapter, because its vendor has rejected calls; null if they do not. */
  cooldownUntil: string | null;
  /** Null without a cooldown. */
  cooldownReason: string | null;
  /** Names of the running nodes that have the adapter. */
  nodes: string[];
}

/** A domain for which councils have an expert. */
export interface Domain {
  name: string;
  /** Title of the expert. */
  expert: string;
  focus: string[];
  standards: string[];
  /** Null if the expert has no instructions beyond the focus and the standards. */
  instructions: string | null;
  /** Words and phrases that make `deep-council` consider the domain for a task that contains them. */
  signals: string[];
  source: "built-in" | "workspace";
}
