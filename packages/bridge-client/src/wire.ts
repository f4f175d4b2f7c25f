/** Every state of a task; the last three are final. */
export type TaskState = "queued" | "running" | "completed" | "failed" | "cancelled";

/** Every way a task can fail. */
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

/** A file that comes with a dispatch. */
export interface DispatchFile {
  /** Relative to the workspace, with slashes. */
  path: string;
  content: string;
  /** How `content` encodes the bytes of the file. Default: `utf8`. */
  encoding?: "utf8" | "base64" | undefined;
}

/** A task to run. Unknown fields are refused, so that a typo never passes silently. */
export interface DispatchRequest {
  /** The caller's own id: the same one again is the same task. Absent: the client makes one. */
  taskId?: string | undefined;
  /** The adapter; may be left out when one is loaded. */
  provider?: string | undefined;
  agentId: string;
  /** The work. Required, unless `bridgeInput` or `responderInput` is given. */
  message?: string | undefined;
  stdin?: string | undefined;
  systemPrompt?: string | undefined;
  model?: string | undefined;
  /** In the form of OpenAI, Anthropic or MCP. */
  tools?: readonly object[] | undefined;
  mcpServers?:
    | readonly (
        | { name: string; transport: "stdio"; command: string; args?: string[] | undefined; env?: Record<string, string> | undefined }
        | { name: string; transport: "http" | "sse"; url: string; headers?: Record<string, string> | undefined }
      )[]
    | undefined;
  /** Written into the workspace before the task starts: at most 100 files, and 1 MiB in all. */
  files?: DispatchFile[] | undefined;
  /** From the start of the task; 600 unless said otherwise. */
  timeoutSeconds?: number | undefined;
  outputStrategy?: { type: "stream" } | { type: "file"; path: string } | { type: "structured"; schema: JsonObject } | undefined;
  /** Short for `outputStrategy` of the type `structured`. */
  outputSchema?: JsonObject | undefined;
  /** Continues a session. */
  resumeToken?: string | undefined;
  /** May the task change project state? */
  profile?: "inspect" | "modify" | undefined;
  /** What happens when the runtime asks before a tool call. */
  approvals?: "ask" | "deny" | "allow" | undefined;
  /** What happens after a crash of Bridge; `retry` runs the task at most once more. */
  onInterrupt?: "fail" | "retry" | undefined;
  callbackUrl?: string | undefined;
  /** False leaves `conversationMessages` out of the callback. */
  callbackConversation?: boolean | undefined;
  /** Opaque to Bridge, returned as it came. */
  metadata?: JsonObject | undefined;
  bridgeInput?: JsonObject | undefined;
  responderInput?: JsonObject | undefined;
}

/** What Bridge answers to a dispatch. */
export interface AcceptedTask {
  taskId: string;
  provider: string;
  agentId: string;
  state: TaskState;
  createdAt: string;
}

/** Tokens of one task. What is absent is unknown, not 0. */
export interface NormalizedUsage {
  /** All prompt tokens, cached ones included. */
  inputTokens: number;
  /** All generated tokens, thinking included. */
  outputTokens: number;
  thinkingTokens?: number | undefined;
  cacheReadTokens?: number | undefined;
  cacheWriteTokens?: number | undefined;
}

/** One message of the conversation behind a task. */
export interface ConversationMessage {
  role: "user" | "assistant" | "tool";
  content: string;
  toolCalls?: { toolCallId: string; toolName: string; input: unknown }[] | undefined;
  toolCallId?: string | undefined;
}

/** What a task ended with. */
export interface ExecutionResult {
  status: "ok" | "error";
  output?: string | undefined;
  /** Under `structured` the object that was asked for, under `file` `{path, bytes, sha256}`. */
  outputs?: JsonObject | undefined;
  durationMs: number;
  usage?: NormalizedUsage | undefined;
  costUsd?: number | undefined;
  model?: string | undefined;
  resumeToken?: string | undefined;
  conversationMessages?: ConversationMessage[] | undefined;
  errorCode?: TaskErrorCode | undefined;
  error?: string | undefined;
  connection: ConnectionKind;
}

/** A task as lists show it. Times are ISO 8601, UTC. */
export interface ListedTask {
  taskId: string;
  parentTaskId: string | null;
  provider: string;
  agentId: string;
  state: TaskState;
  waitingOn: "queue" | "quota" | "approval" | "runtime" | null;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  lastProgressAt: string | null;
  callback: {
    state: "pending" | "delivered" | "dead";
    url: string;
    attempts: number;
    nextAttemptAt: string | null;
    lastStatus: number | null;
    lastError: string | null;
  } | null;
  metadata: JsonObject | null;
}

/** A task with its result, which is null until it has ended. */
export interface Task extends ListedTask {
  result: ExecutionResult | null;
}

/** Which tasks to list. */
export interface TaskFilter {
  state?: TaskState | undefined;
  provider?: string | undefined;
  agentId?: string | undefined;
  parentTaskId?: string | undefined;
}

/** A tool call that waits, or waited, for yes or no. */
export interface Approval {
  approvalId: string;
  taskId: string;
  agentId: string;
  provider: string;
  /** Unique within its task only. */
  toolCallId: string;
  toolName: string;
  input: unknown;
  /** The input is longer than shown. */
  inputTruncated: boolean;
  state: ApprovalState;
  createdAt: string;
  /** Without an answer until then it counts as rejected. */
  expiresAt: string;
  decidedBy: string | null;
  reason: string | null;
}
export type ApprovalState = "pending" | "approved" | "rejected";

/** A permission of a token. */
export type Scope = "dispatch" | "read" | "approve" | "manage" | "metrics";

/** A single-use stand-in for a token: opens one event stream or WebSocket. */
export interface Ticket {
  ticket: string;
  expiresAt: string;
}

/** Name, version and links of a Bridge. */
export interface ServiceInfo {
  name: string;
  version: string;
  description: string;
  /** Paths on the same host, by name. */
  links: Record<string, string>;
}

/** A place where the tasks of an agent run. */
export interface Workspace {
  id: string;
  kind: "agent";
  agentId: string;
  /** Number of stored tasks of the agent. */
  tasks: number;
  updatedAt: string;
}

/** The condition for writing or deleting a file. If it does not hold, the call rejects with `stale_write`. */
export interface FileCondition {
  /** The tag that the file must have. */
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

/** An adapter: how it is, what it can do, and its load. */
export interface Adapter {
  provider: string;
  health: {
    status: "healthy" | "degraded" | "offline";
    connection: ConnectionKind | null;
    version: string | null;
    detail: string | null;
    preflight: { step: string; ok: boolean; detail: string }[];
    /** Null until it has been looked at. */
    checkedAt: string | null;
  };
  capabilities: JsonObject;
  running: number;
  queued: number;
  maxConcurrent: number;
}
