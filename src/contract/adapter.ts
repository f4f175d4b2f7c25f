import type { ExecutionEventListener } from "./events.ts";
import type { AdapterInputs, Connection, ExecutionRequest, ExecutionResult, InputField, Profile } from "./execution.ts";
import type { ModelLimit, SpendingAnswer } from "./spending.ts";

/** The log methods that adapters use, with the signatures of pino. */
export interface AdapterLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A task that a composite adapter runs through another adapter. */
export interface ChildRequest {
  /** The `taskId` of the composite's own `ExecutionRequest`. */
  parentTaskId: string;
  provider: string;
  message: string;
  /** Defaults to the parent's agent, and so to its workspace. */
  agentId?: string;
  systemPrompt?: string;
  model?: string;
  /** In seconds. Bridge caps it to the remaining time of the parent. */
  timeoutSeconds?: number;
  outputStrategy?: ExecutionRequest["outputStrategy"];
  resumeToken?: string;
  reasoningLevel?: ExecutionRequest["reasoningLevel"];
  profile?: ExecutionRequest["profile"];
  /** A repository of which the child gets a separate work tree. Default: the child runs in the tree of its parent, if that has one. */
  repository?: { name: string; ref?: string; branch?: string; keep?: "branch" | "diff" | "none" };
  metadata?: Record<string, unknown>;
}

/** A tool call of a running task that needs approval. */
export interface ApprovalQuestion {
  /** The `taskId` of the `ExecutionRequest`. */
  taskId: string;
  /** The id of the call in its `tool.invoked` event. */
  toolCallId: string;
  toolName: string;
  input: unknown;
}

/** The decision; `reason` is a text for the runtime. */
export interface ApprovalAnswer {
  decision: "approve" | "reject";
  reason: string | null;
}

/** Restricts the processes of a runtime to the directories of their task. The processes end when the sandbox or Bridge ends. */
export interface Sandbox {
  /** Names the sandbox and its version, for the operator. */
  detail: string;
  /**
   * Returns the argument list that runs `argv` in the sandbox. The program of `argv` is an absolute path. Only the directories in
   * `writable` and `tmp` are writable; all must exist, and `tmp` also replaces /tmp. If a signal ends the program, the sandbox process
   * exits with a code above 128. A signal to the sandbox process ends the whole sandbox. Throws an error with the fix if a secret of Bridge
   * cannot be hidden from the program. The programs that create the sandbox see the environment of the sandbox process, so do not pass
   * variables whose names come from a dispatch.
   */
  wrap(argv: readonly string[], directories: { cwd: string; tmp: string; writable: readonly string[] }): string[];
}

/** The current state of another adapter of the same Bridge. */
export interface ProviderDescription {
  health: AdapterHealthStatus["status"];
  /** The connection that the last health check found; null if it found none. */
  connection: Connection | null;
  /** The program or the origin of the server behind the connection; null if there is none, as in-process, or it is unknown. */
  path: string | null;
  /** What the operator can do if the adapter is not healthy; otherwise null. */
  detail: string | null;
  capabilities: AdapterCapabilities;
  /** Factor for estimated time limits; 1 for most runtimes. */
  timeoutMultiplier: number;
}

/** The `lookup` option of Node's sockets, undici and ws. */
export type HostLookup = (
  hostname: string,
  options: { all?: boolean | undefined; family?: number | "IPv4" | "IPv6" | undefined },
  done: (error: Error | null, address: string | { address: string; family: number }[], family?: number) => void,
) => void;

/** What Bridge passes to an adapter in `initialize()`. */
export interface AdapterConfig {
  /** The values of the settings that the adapter declares in the catalog. Empty for adapters from outside the repository. */
  settings: Readonly<Record<string, unknown>>;
  /** The environment of Bridge. Pass a runtime an allow-list of it, never all of it. */
  env: Readonly<Record<string, string | undefined>>;
  /** An absolute path: a directory for the adapter's own data on this node, which survives restarts. */
  dataDir: string;
  /** An absolute path: a directory for data of agents, such as sessions. Nodes that share the files of agents have it in common. */
  filesDir: string;
  /** Days after which Bridge deletes an ended task. The adapter then deletes its own data of the task, too. */
  retentionDays: number;
  logger: AdapterLogger;
  /** The sandbox for every process of a runtime; null if the operator has not enabled it. */
  sandbox: Sandbox | null;
  /** Why the sandbox that the operator enabled does not work, so that runtimes run without it; null or absent otherwise. */
  sandboxFault?: string | null;
  /**
   * Fetches URLs from a dispatch, for example of an MCP server that Bridge itself calls. Connects only to addresses that the operator
   * permits, which it checks when it connects. Follows no redirect.
   */
  fetch: typeof globalThis.fetch;
  /** Looks up hosts from the settings. Pass it as `lookup` to sockets and HTTP clients; the default of Node blocks one of few threads. */
  lookup: HostLookup;
  /** Runs a child task to its end. Rejects only if the parent is not running. */
  runChild(request: ChildRequest): Promise<ExecutionResult>;
  /** Describes the adapter of a provider, for composite adapters. Returns null if it is not loaded. */
  describeProvider(provider: string): ProviderDescription | null;
  /** Returns why the adapter of a provider could not be loaded, for composite adapters. Returns null if it is loaded or not configured. */
  findLoadFailure(provider: string): string | null;
  /** Lists the models of a provider's runtime, for composite adapters. Resolves to null if they are unknown. Never rejects. */
  listModels(provider: string): Promise<readonly string[] | null>;
  /**
   * Requests approval of a tool call, for tasks whose `approvals` is `ask`. The time limits of the task pause until the decision. Never
   * rejects: the decision is `reject` if no client decides in time, or if the task is being stopped.
   */
  requestApproval(question: ApprovalQuestion): Promise<ApprovalAnswer>;
  /** Returns whether a task may call its model again. It can wait for a decision. Never rejects. */
  mayCallModel(taskId: string): Promise<SpendingAnswer>;
  /** Reports that the vendor of a task's model rejects calls. */
  onModelLimited(limit: ModelLimit): void;
  /** Reports runtime processes that outlived their task and were killed. Bridge counts them. */
  onOrphansKilled(count: number): void;
}

/** One step of a health check. */
export interface PreflightStep {
  step: string;
  ok: boolean;
  /** What the step found; if not ok, what the operator can do. */
  detail: string;
}

/** The health of an adapter and its runtime. */
export interface AdapterHealthStatus {
  /** `degraded` runs tasks; `offline` rejects them. */
  status: "healthy" | "degraded" | "offline";
  connection: Connection | null;
  /** Absolute path of the program, or origin of the server, that tasks use. Null or absent if there is none or it is unknown. */
  path?: string | null;
  /** Version of the runtime; null if unknown. */
  version: string | null;
  detail: string | null;
  /** In the order in which the steps ran. */
  preflight: PreflightStep[];
}

/**
 * The features of an adapter. Bridge rejects a dispatch that needs a missing feature with `capability_missing`. Which routes of the
 * gateway API work depends on the methods of the adapter instead, which `isAgentManager` and similar functions check.
 */
export interface AdapterCapabilities {
  streaming: boolean;
  sessionResume: boolean;
  fileIo: boolean;
  mcpServers: boolean;
  /** Supports tools that the dispatch declares. */
  tools: boolean;
  /** The runtime enforces the profile; it does not depend on the model to obey. */
  sandboxing: boolean;
  costTracking: boolean;
  management: boolean;
  /** Can pause a tool call until it is approved or rejected. */
  approvals: boolean;
  cancellation: boolean;
  /** Reports every tool call before the tool runs. Absent means no. */
  reportsTools?: boolean;
  /** Bridge can hold a task between two calls of its model. Absent means no. */
  holdsModelCalls?: boolean;
  /** Bridge itself calls the model, so the answer of a call is complete when its usage is reported. Absent means no. */
  callsModels?: boolean;
  /** The supported output strategies. */
  outputStrategies: readonly ("stream" | "file" | "structured")[];
  /** The fields of a dispatch that carry the adapter's own inputs; absent means none. */
  inputs?: readonly InputField[];
}

/** The former name of `AdapterCapabilities`, for adapters outside of this repository. */
export type GatewayCapabilities = AdapterCapabilities;

/** An adapter: runs tasks on one runtime. */
export interface ExecutionAdapter {
  /** The name of the adapter in a dispatch. */
  readonly provider: string;
  initialize(config: AdapterConfig): Promise<void>;
  /** Cancels running tasks and resolves when they have ended. */
  shutdown(): Promise<void>;
  /** Resolves within 15 s. Has no side effects. */
  checkHealth(): Promise<AdapterHealthStatus>;
  capabilities(): AdapterCapabilities;
  /** Resolves when the runtime has ended its work on the task. Expected failures are results; it rejects only for bugs. */
  execute(request: ExecutionRequest): Promise<ExecutionResult>;
  /** `taskHandle` is the request's `taskId`. Resolves to true if the cancellation has started. */
  cancel(taskHandle: string): Promise<boolean>;
  onEvent?(listener: ExecutionEventListener): void;
  offEvent?(listener: ExecutionEventListener): void;
}

/** A fault of an input: the dotted path of the field, and the fix. */
export interface InputFault {
  path: string;
  message: string;
  /** The input is valid, but this adapter does not allow it. */
  isRefused?: boolean;
  /** The input is valid, but requires a profile that differs from that of the dispatch. */
  isProfileConflict?: boolean;
}

/** Who would answer a dispatch that several roles answer: each role on each runtime. */
export interface RolePlan {
  roles: { title: string; domain: string }[];
  /** `models` is empty for the default of the runtime. `fault` is why the runtime would not answer; null if it would. */
  runtimes: { provider: string; models: string[]; fault: string | null }[];
}

/** Validates the adapter's own inputs before a task is accepted. */
export interface InputChecker {
  checkInput(dispatch: AdapterInputs & { profile: Profile }): InputFault[];
  /** Returns the profile with which the adapter carries out a valid dispatch. Default: that of the dispatch. */
  resolveProfile?(dispatch: AdapterInputs & { profile: Profile }): Profile;
  /**
   * Describes who would answer a valid dispatch, without a request to a runtime. `workspace` is null if the directory is on another node.
   * Resolves to null if the dispatch is not valid.
   */
  planRoles?(dispatch: AdapterInputs & { model: string | undefined }, workspace: string | null): Promise<RolePlan | null>;
}

/** Returns whether the adapter validates its inputs. */
export const isInputChecker = (value: unknown): value is InputChecker =>
  typeof value === "object" && value !== null && typeof (value as Partial<InputChecker>).checkInput === "function";

/** An adapter that can list the models of its runtime. */
export interface ModelLister {
  /** Resolves to null if the models are unknown. Returns a cached list on later calls. Bridge waits at most 20 s. */
  listModels(): Promise<readonly string[] | null>;
}

/** Returns whether the adapter can list its models. */
export const isModelLister = (value: unknown): value is ModelLister =>
  typeof value === "object" && value !== null && typeof (value as Partial<ModelLister>).listModels === "function";

/** An adapter that sets a factor for estimated time limits. The factor of other adapters is 1. */
export interface Paced {
  readonly timeoutMultiplier: number;
}

/** Returns whether the adapter has a valid factor for time limits. */
export const isPaced = (value: unknown): value is Paced => {
  const { timeoutMultiplier } = (value ?? {}) as Partial<Paced>;
  return Number.isFinite(timeoutMultiplier) && (timeoutMultiplier as number) > 0;
};

/** A composite adapter, which runs tasks on other adapters. Bridge checks it again when the health of one of them changes. */
export interface Composite {
  /** The providers that it uses if a task names none. */
  readonly providers: readonly string[];
}

/** Returns whether the adapter names the adapters that it uses. */
export const isComposite = (value: unknown): value is Composite => Array.isArray((value as Partial<Composite> | null)?.providers);

/** The exports of an adapter's module. */
export interface AdapterModule {
  createAdapter(): ExecutionAdapter;
}
