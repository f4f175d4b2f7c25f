import type { ApprovalPolicy, ExecutionResult, McpServerSpec, NormalizedTool, OutputStrategy, Profile, ReasoningLevel } from "#contract";

/** The states of a task; timeout, restart and the like are `failed` with an error code. */
export const taskStates = ["queued", "running", "completed", "failed", "cancelled"] as const;
export type TaskState = (typeof taskStates)[number];

/** States in which a task has ended, for good. */
export type FinalState = Exclude<TaskState, "queued" | "running">;

/** The one table of legal moves; SQL repeats it in its guards and CHECK constraints. */
export const legalMoves: Readonly<Record<TaskState, readonly TaskState[]>> = {
  queued: ["running", "failed", "cancelled"],
  // Back to the queue once at most, after an interruption, when the dispatch asked for it.
  running: ["completed", "failed", "cancelled", "queued"],
  completed: [],
  failed: [],
  cancelled: [],
};

/** Has the task ended? */
export const isFinal = (state: TaskState): state is FinalState => legalMoves[state].length === 0;

/** The quota of one tenant. Null means no limit. Only dispatched tasks count, because a child runs for a task that is already counted. */
export interface TenantQuota {
  /** The tenant's share of the slots and of a full queue, relative to other tenants. */
  weight: number;
  queueLimit: number | null;
  maxRunning: number | null;
  /** The limits of each single agent of the tenant. */
  agentQueueLimit: number | null;
  agentMaxRunning: number | null;
}

/** Who a task is, without what it does: enough to name it in an event. */
export interface TaskIdentity {
  /** The row's own number: internal, never on the wire, unique over all tenants. */
  seq: number;
  tenant: string;
  /** As the caller knows it: unique within the tenant. */
  taskId: string;
  parentTaskId: string | null;
  agentId: string;
  provider: string;
}

/** A file that came with a dispatch. */
export interface DispatchedFile {
  /** Relative to the workspace, with slashes. */
  path: string;
  content: string;
  encoding?: "utf8" | "base64" | undefined;
}

/** What a dispatch asked for, after aliases and normalisation; a missing field means that the caller left it out. */
export interface TaskRequest {
  message: string;
  stdin?: string;
  systemPrompt?: string;
  model?: string;
  tools?: NormalizedTool[];
  mcpServers?: McpServerSpec[];
  /** Written into the workspace before the task starts. */
  files?: DispatchedFile[];
  timeoutSeconds?: number;
  outputStrategy: OutputStrategy;
  resumeToken?: string;
  /** Of children alone. */
  reasoningLevel?: ReasoningLevel;
  profile: Profile;
  approvals: ApprovalPolicy;
  onInterrupt: "fail" | "retry";
  callbackUrl?: string;
  /** False: the callback goes without the conversation. */
  callbackConversation?: boolean;
  metadata?: Record<string, unknown>;
  bridgeInput?: Record<string, unknown>;
  responderInput?: Record<string, unknown>;
}

/** The stored unit of work. Times are milliseconds since the epoch. */
export interface Task extends TaskIdentity {
  state: TaskState;
  parentSeq: number | null;
  request: TaskRequest;
  /** SHA-256 (hex) of the canonical request body: tells a repeat from a conflict. */
  fingerprint: string;
  traceparent: string | null;
  /** How often the task went back to the queue after an interruption. */
  restarts: number;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
  result: ExecutionResult | null;
}

/** How far a task is, without its request, metadata and result, which may be long. */
export interface TaskProgress extends TaskIdentity, Pick<Task, "state" | "createdAt" | "startedAt" | "finishedAt"> {}

/** A task as lists show it: without what may be long. */
export interface ListedTask extends TaskProgress {
  metadata: Record<string, unknown> | null;
}

/**
 * The task's id in the eyes of adapters and their runtimes, unique over all tenants.
 * The default tenant, the only one of most installations, keeps the plain id.
 */
export const taskHandle = (task: Pick<TaskIdentity, "tenant" | "taskId">): string =>
  task.tenant === "default" ? task.taskId : `${task.tenant}/${task.taskId}`;
