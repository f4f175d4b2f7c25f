import type {
  AdapterInputs,
  ApprovalPolicy,
  Attempt,
  CostSource,
  ExecutionResult,
  McpServerSpec,
  NormalizedTool,
  NormalizedUsage,
  OutputStrategy,
  Profile,
  ReasoningLevel,
  TaskErrorCode,
} from "#contract";

/** The agent of probes. Others may use its name as well. */
export const PROBE_AGENT = "bridge-doctor";
/** The ids of probes: this prefix, and a UUID. */
export const PROBE_ID_PREFIX = "doctor-";
const probeIdPattern = /^doctor-[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/** Whether `brg doctor` tests a receiver with this task. Probes need no person, and their usage does not count. */
export const isProbe = ({ agentId, taskId }: { agentId: string; taskId: string }): boolean =>
  agentId === PROBE_AGENT && probeIdPattern.test(taskId);

/** The states of a task. A timeout or a restart, for example, is `failed` with an error code. */
export const taskStates = ["queued", "running", "completed", "failed", "cancelled"] as const;
export type TaskState = (typeof taskStates)[number];

/** States of ended tasks. They never change again. */
export type FinalState = Exclude<TaskState, "queued" | "running">;

/** The legal state transitions. The conditions and CHECK constraints of the SQL code repeat them. */
export const legalMoves: Readonly<Record<TaskState, readonly TaskState[]>> = {
  queued: ["running", "failed", "cancelled"],
  // An interrupted task is queued again at most once, if its dispatch has `onInterrupt: "retry"`. One that a usage limit stops is queued
  // until the end of the limit, if its dispatch has `whenLimited: "wait"`.
  running: ["completed", "failed", "cancelled", "queued"],
  completed: [],
  failed: [],
  cancelled: [],
};

/** Whether a task in this state has ended. */
export const isFinal = (state: TaskState): state is FinalState => legalMoves[state].length === 0;

/** Why a task is stopped before its runtime returns a result. */
export type StopCode = Extract<
  TaskErrorCode,
  "timeout" | "idle_timeout" | "cancelled" | "bridge_restarted" | "bridge_shutdown" | "budget_exceeded"
>;

/** A request to end a running task. `reason` becomes the error message of its result. */
export interface StopRequest {
  code: StopCode;
  reason: string;
}

/** The quota of a tenant; null means no limit. Child tasks do not count, because their parent is already counted. */
export interface TenantQuota {
  /** The tenant's share of the slots and of a full queue, relative to other tenants. */
  weight: number;
  queueLimit: number | null;
  maxRunning: number | null;
  /** Limits of each agent of the tenant. */
  agentQueueLimit: number | null;
  agentMaxRunning: number | null;
}

/** The fields that identify a task, as events contain them. */
export interface TaskIdentity {
  /** Number of the stored row: unique over all tenants, and never sent to clients. */
  seq: number;
  tenant: string;
  /** The id that callers use: unique within the tenant. */
  taskId: string;
  parentTaskId: string | null;
  agentId: string;
  provider: string;
}

/** One run of a task. A write for an earlier run has no effect after the task was queued again. */
export interface TaskRun extends TaskIdentity {
  /** How often the task was queued again after an interruption. */
  restarts: number;
  /** Names of the budgets that apply to it, on PostgreSQL; absent if there are none. SQLite keeps them elsewhere. */
  budgets?: readonly string[];
}

/** A file of a dispatch. */
export interface DispatchedFile {
  /** Relative to the workspace, with slashes. */
  path: string;
  content: string;
  encoding?: "utf8" | "base64" | undefined;
}

/** The maximum that one task, with its children, may spend. */
export interface DispatchBudget {
  maxCostUsd?: number;
  maxTokens?: number;
  /** What happens at the maximum: the task ends, or a person decides. */
  onReached: "stop" | "ask";
  /** What happens if Bridge cannot price the model: an estimate counts, or the dispatch is rejected. */
  onUnknownCost: "reserve" | "refuse";
}

/** What happens to the branch of a task after its end: it is stored, only its diff can be read, or nothing remains. */
export const keepModes = ["branch", "diff", "none"] as const;

/** The repository of which a task gets a work tree, as it was resolved when the dispatch was accepted. */
export interface TaskRepository {
  name: string;
  ref: string;
  branch: string;
  keep: (typeof keepModes)[number];
  /** Whether Bridge pushes the branch to the source of the repository when the task ends. */
  push: boolean;
  /** The commit that `ref` named. Null if it is resolved when the task starts. Not part of the dispatch. */
  baseCommit: string | null;
  /** Whether the task continues the branch of an earlier one, which keeps it until this task ends. Not part of the dispatch. */
  continuesBranch?: boolean;
}

/** What an approval decides: a tool call, or a higher maximum of the budget of its task. */
export const approvalKinds = ["tool", "budget"] as const;

export type ApprovalKind = (typeof approvalKinds)[number];

/** The normalized request of a dispatch. A missing field was not set by the caller. */
export interface TaskRequest extends AdapterInputs {
  message: string;
  stdin?: string;
  systemPrompt?: string;
  model?: string;
  tools?: NormalizedTool[];
  mcpServers?: McpServerSpec[];
  /** Written into the workspace before the task starts. */
  files?: DispatchedFile[];
  /** The task runs in a work tree of this repository. Absent: in the workspace of its agent, or in the tree of its parent. */
  repository?: TaskRepository;
  timeoutSeconds?: number;
  budget?: DispatchBudget;
  outputStrategy: OutputStrategy;
  resumeToken?: string;
  /** Child tasks only. */
  reasoningLevel?: ReasoningLevel;
  profile: Profile;
  approvals: ApprovalPolicy;
  onInterrupt: "fail" | "retry";
  /** Where the task may run if its adapter cannot run it, or fails in a way that another one may not. */
  fallbacks?: { provider: string; model?: string }[];
  /** Whether its adapter may be tried again, how often, and after which errors. */
  retry?: { max: number; on: ("rate_limited" | "model_error")[] };
  /** Candidates that could not take the task when it was dispatched. Not part of the dispatch. */
  skipped?: { provider: string; model: string | null; reason: string }[];
  /** Whether the task returns to the queue if the vendor of its model rejects calls, until they are accepted again. */
  whenLimited?: "fail" | "wait";
  /** How long it may wait. */
  waitSeconds?: number;
  /** Tags that the node which runs the task must have. */
  runsOn?: string[];
  /** Names with values, by which lists can be filtered. */
  labels?: Record<string, string>;
  callbackUrl?: string;
  /** False omits the conversation from the callback. */
  callbackConversation?: boolean;
  metadata?: Record<string, unknown>;
}

/** The trace context of a caller, as its headers contain it. */
export interface TraceContext {
  traceparent: string | null;
  /** Null without a `traceparent`. */
  tracestate: string | null;
}

/** The trace context of a caller that sends none. */
export const noTraceContext: TraceContext = { traceparent: null, tracestate: null };

/** The stored unit of work. Times are milliseconds since the epoch. */
export interface Task extends TaskRun, TraceContext {
  state: TaskState;
  /** Id of the node that runs or ran the task. Queued: of the only node that may start it; null if any may. Always null on SQLite. */
  node: string | null;
  parentSeq: number | null;
  request: TaskRequest;
  /** SHA-256 (hex) of the canonical request body. Distinguishes a repeated dispatch from a conflicting one. */
  fingerprint: string;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
  result: ExecutionResult | null;
}

/** The state of a task without its request, metadata and result, which may be long. */
export interface TaskProgress extends TaskIdentity, Pick<Task, "state" | "node" | "createdAt" | "startedAt" | "finishedAt"> {
  /** When it ran by the clock of its node, which is the clock of its files. Absent: `startedAt` and `finishedAt` are of that clock. */
  ran?: { from: number; to: number | null };
}

/** Sums of costs are stored in millionths of a US dollar, because sums of fractions lose digits. */
export const MICROS_PER_USD = 1e6;

/** What a task has spent. Null: unknown. */
export interface Spent {
  usage: NormalizedUsage | null;
  costUsd: number | null;
  /** Null if the cost is unknown. */
  costSource: CostSource | null;
}

/** What a list shows of the request and the result of a task. Null: unknown. */
export interface TaskSummary extends Spent {
  /** The first line of the message, shortened. */
  title: string | null;
  /** The model that ran the task; before the end, the requested one. */
  model: string | null;
  errorCode: TaskErrorCode | null;
  /** The attempts that have ended. Empty if the dispatch allows only one. */
  attempts: readonly Attempt[];
  labels: Record<string, string>;
}

/** A task in a list: without the fields that may be long. */
export interface ListedTask extends TaskProgress {
  summary: TaskSummary;
  metadata: Record<string, unknown> | null;
}

/**
 * Returns the task id that adapters and runtimes use, unique over all tenants. Tasks of the default tenant, the only one of most
 * installations, keep their plain id.
 */
export const taskHandle = (task: Pick<TaskIdentity, "tenant" | "taskId">): string =>
  task.tenant === "default" ? task.taskId : `${task.tenant}/${task.taskId}`;
