import { z } from "zod";
import { jsonObjectSchema } from "./json-object.ts";
import { costSources } from "./spending.ts";

/** The ways in which an adapter can reach its runtime. */
export const connections = ["acp", "cli", "api", "http-api", "mcp", "native-dispatch", "in-process"] as const;
export type Connection = (typeof connections)[number];

/** The codes of failed tasks: a closed list. */
export const taskErrorCodes = [
  "adapter_offline",
  "adapter_error",
  "authentication_required",
  "user_action_required",
  "rate_limited",
  "model_error",
  "timeout",
  "idle_timeout",
  "cancelled",
  "output_limit",
  "output_invalid",
  "runtime_crashed",
  "spawn_failed",
  "bridge_restarted",
  "bridge_shutdown",
  "max_turns",
  "budget_exceeded",
] as const;
export const taskErrorCodeSchema = z.enum(taskErrorCodes);
export type TaskErrorCode = z.infer<typeof taskErrorCodeSchema>;

/** A tool in the form that adapters receive; `inputSchema` is a JSON Schema of an object. */
export interface NormalizedTool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

/** An MCP server that the runtime may use during the task. */
export type McpServerSpec =
  | { name: string; transport: "stdio"; command: string; args?: string[] | undefined; env?: Record<string, string> | undefined }
  | { name: string; transport: "http" | "sse"; url: string; headers?: Record<string, string> | undefined };

/** How the result is captured: the text, a file inside the workspace, or JSON that fits a schema. */
export type OutputStrategy = { type: "stream" } | { type: "file"; path: string } | { type: "structured"; schema: Record<string, unknown> };

/** How much a model should reason. Runtimes without such an option ignore it. */
export type ReasoningLevel = "medium" | "high" | "xhigh";

/** Whether the task may edit files and run commands (`modify`) or only read (`inspect`). */
export type Profile = "inspect" | "modify";

/** What Bridge does if the runtime requests approval of a tool call. */
export type ApprovalPolicy = "ask" | "deny" | "allow";

/** The name of a dispatch field that carries an adapter's own input. */
export type InputField = `${string}Input`;

/** The inputs of adapters, by field. */
export type AdapterInputs = { [field in InputField]?: Record<string, unknown> };

/** One task with everything that an adapter needs to run it. */
export interface ExecutionRequest extends AdapterInputs {
  /** Unique among all tasks of this Bridge. Every event contains it, and `cancel()` takes it. */
  taskId: string;
  parentTaskId?: string;
  agentId: string;
  /** The W3C trace context of the run, which the adapter passes to its runtime. Absent if the task belongs to no trace. */
  traceparent?: string;
  /** The W3C `tracestate` that the adapter passes on with `traceparent`. Absent if the caller sent no valid one. */
  tracestate?: string;
  /** The work: message, labeled stdin and output instructions. Data, never a command line. */
  message: string;
  systemPrompt?: string;
  model?: string;
  tools?: NormalizedTool[];
  mcpServers?: McpServerSpec[];
  /** Time limit in seconds, from the start of the task. Bridge cancels the task when it ends. */
  timeoutSeconds: number;
  outputStrategy: OutputStrategy;
  resumeToken?: string;
  /** Absent: the default of the runtime. Runtimes without such an option ignore it. */
  reasoningLevel?: ReasoningLevel;
  profile: Profile;
  approvals: ApprovalPolicy;
  /** Opaque to Bridge, except `cwd`, which is resolved to `directories.cwd`. */
  metadata?: Record<string, unknown>;
  directories: {
    /** Root of the agent's workspace, absolute. */
    workspace: string;
    /** Where the task runs: the workspace or a directory inside it, absolute. */
    cwd: string;
    /** HOME of this tenant's agent, kept between tasks so that sessions can be resumed. */
    home: string;
    /**
     * TMPDIR of this task; never an ancestor of `home`. It is the only directory that does not exist yet: an adapter that starts a process
     * creates it, and Bridge removes it when the task ends.
     */
    tmp: string;
  };
}

/** Token counts of one task, never the total of a session. A missing number is unknown, not 0. */
export const normalizedUsageSchema = z.object({
  inputTokens: z.number().nonnegative().describe("All prompt tokens, cached ones included."),
  outputTokens: z.number().nonnegative().describe("All generated tokens, thinking included."),
  thinkingTokens: z.number().nonnegative().optional(),
  cacheReadTokens: z.number().nonnegative().optional(),
  cacheWriteTokens: z.number().nonnegative().optional(),
  cacheWrite1hTokens: z.number().nonnegative().optional().describe("The part of `cacheWriteTokens` that is kept for an hour."),
});
export type NormalizedUsage = z.infer<typeof normalizedUsageSchema>;

/** One message of the model conversation behind a task. */
export const conversationMessageSchema = z.object({
  role: z.enum(["user", "assistant", "tool"]),
  content: z.string(),
  toolCalls: z.array(z.object({ toolCallId: z.string(), toolName: z.string(), input: z.unknown() })).optional(),
  toolCallId: z.string().optional(),
});
export type ConversationMessage = z.infer<typeof conversationMessageSchema>;

/**
 * One attempt of a task whose dispatch has `fallbacks` or `retry`, or a candidate that was skipped. Null: unknown, or it does not apply.
 */
export const attemptSchema = z.object({
  number: z.number().int().positive(),
  provider: z.string(),
  model: z.string().nullable().describe("Null for the default of the runtime."),
  startedAt: z.iso.datetime().nullable().describe("Null if the candidate was skipped."),
  errorCode: taskErrorCodeSchema.nullable().describe("Null if the attempt succeeded or was skipped."),
  reason: z.string().nullable().describe("Why the attempt failed, or why the candidate was skipped."),
  usage: normalizedUsageSchema.nullable(),
  costUsd: z.number().nonnegative().nullable(),
});
export type Attempt = z.infer<typeof attemptSchema>;

/** What a task has changed in its work tree of a repository. Null: unknown, because Bridge could not read the tree. */
export const repositoryOutcomeSchema = z.object({
  name: z.string().describe("Name of the repository."),
  branch: z.string().describe("Name of the task's branch."),
  baseCommit: z.string().nullable().describe("The commit from which the tree was created. Null if no tree was created."),
  headCommit: z
    .string()
    .nullable()
    .describe(
      "The commit that contains all changes. Equals `baseCommit` if nothing changed. Null with `keep: none`, and if nothing could be stored.",
    ),
  commits: z.number().int().nonnegative().describe("Number of commits between `baseCommit` and `headCommit`."),
  files: z.number().int().nonnegative().describe("Number of changed files."),
  insertions: z.number().int().nonnegative().describe("Number of added lines."),
  deletions: z.number().int().nonnegative().describe("Number of removed lines."),
  pushed: z.boolean().describe("Whether Bridge has pushed the branch to the source of the repository."),
  pushError: z.string().optional().describe("Why a requested push failed."),
  conflicts: z.null().describe("Always null."),
  error: z
    .string()
    .optional()
    .describe("Why the changes are not stored completely. The work tree stays on the node, unless only the branch could not be stored."),
});
export type RepositoryOutcome = z.infer<typeof repositoryOutcomeSchema>;

/** The result of a task. An expected failure is a result with `status: "error"`, not an exception. */
export const executionResultSchema = z.object({
  status: z.enum(["ok", "error"]),
  output: z.string().optional(),
  outputs: jsonObjectSchema.optional(),
  durationMs: z.number().nonnegative(),
  usage: normalizedUsageSchema.optional(),
  costUsd: z.number().nonnegative().optional(),
  costSource: z.enum(costSources).optional(),
  model: z.string().optional(),
  resumeToken: z.string().optional(),
  conversationMessages: z.array(conversationMessageSchema).optional(),
  errorCode: taskErrorCodeSchema.optional(),
  error: z.string().optional(),
  connection: z.enum(connections),
  /** In their order. Bridge sets them; those of an adapter are ignored. */
  attempts: z.array(attemptSchema).optional(),
  /** Set by Bridge if the task has a separate work tree; that of an adapter is ignored. */
  repository: repositoryOutcomeSchema.optional(),
});
export type ExecutionResult = z.infer<typeof executionResultSchema>;
