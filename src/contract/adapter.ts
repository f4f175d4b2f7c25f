import type { ExecutionEventListener } from "./events.ts";
import type { Connection, ExecutionRequest, ExecutionResult } from "./execution.ts";
import type { AdapterInputs, InputField } from "./input.ts";

/** The few log calls an adapter needs; pino's own shape. */
export interface AdapterLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A task that a composite adapter runs through another adapter. */
export interface ChildRequest {
  /** The composite's own task, as in its `ExecutionRequest`. */
  parentTaskId: string;
  provider: string;
  message: string;
  /** Defaults to the parent's agent, and so to its workspace. */
  agentId?: string;
  systemPrompt?: string;
  model?: string;
  /** Capped by what is left of the parent's own time. */
  timeoutSeconds?: number;
  outputStrategy?: ExecutionRequest["outputStrategy"];
  resumeToken?: string;
  reasoningLevel?: ExecutionRequest["reasoningLevel"];
  profile?: ExecutionRequest["profile"];
  metadata?: Record<string, unknown>;
}

/** A tool call of a running task that somebody must allow first. */
export interface ApprovalQuestion {
  /** As in the task's `ExecutionRequest`. */
  taskId: string;
  /** The id under which the call is told as `tool.invoked`. */
  toolCallId: string;
  toolName: string;
  input: unknown;
}

/** The answer; `reason` is in words, for the runtime to see. */
export interface ApprovalAnswer {
  decision: "approve" | "reject";
  reason: string | null;
}

/** Holds the processes of a runtime to the directories of their task; they end when it ends, and with Bridge. */
export interface Sandbox {
  /** What it is, for the operator. */
  detail: string;
  /**
   * The argument list that runs `argv` with nothing writable but these directories, all of which exist, and `tmp`, which stands in place of
   * /tmp, too. `argv` names its program by an absolute path. The process that it starts ends with an exit code over 128 where a signal ended the program;
   * a signal to itself ends all at once. Throws an error with the fix when a secret of Bridge cannot be hidden from this program.
   * The programs that create the sandbox see the environment of that process: pass no variable that a dispatch has named.
   */
  wrap(argv: readonly string[], directories: { cwd: string; tmp: string; writable: readonly string[] }): string[];
}

/** Another adapter of the same Bridge, as it is right now. */
export interface ProviderDescription {
  health: AdapterHealthStatus["status"];
  /** The connection that the last health check found; null without one. */
  connection: Connection | null;
  /** What the operator can do about it, when it is not well. */
  detail: string | null;
  capabilities: GatewayCapabilities;
  /** How many times as long as others it takes for an answer. */
  timeoutMultiplier: number;
}

/** A lookup as Node's sockets, undici and ws take it. */
export type HostLookup = (
  hostname: string,
  options: { all?: boolean | undefined; family?: number | "IPv4" | "IPv6" | undefined },
  done: (error: Error | null, address: string | { address: string; family: number }[], family?: number) => void,
) => void;

/** What Bridge hands to an adapter, once, before anything else. */
export interface AdapterConfig {
  /** The adapter's settings as Bridge's configuration parsed them; empty for adapters from outside. */
  settings: Readonly<Record<string, unknown>>;
  /** The environment Bridge was started with. Never hand it on whole: a runtime gets an allow-list. */
  env: Readonly<Record<string, string | undefined>>;
  /** A directory that survives restarts, for state of the adapter's own. Absolute. */
  dataDir: string;
  /** Days after which an ended task is forgotten; what an adapter keeps of tasks for its own use goes then, too. */
  retentionDays: number;
  logger: AdapterLogger;
  /** Every process of a runtime is to be started in it; null: as it is, because the operator has not asked for more. */
  sandbox: Sandbox | null;
  /**
   * Fetches from addresses that a dispatch has named: connects only where the operator permits it, checked at the moment of connecting,
   * and follows no redirect. For an MCP server that Bridge itself speaks to.
   */
  fetch: typeof globalThis.fetch;
  /** Looks up hosts that the operator has named. Pass it as `lookup` to sockets and HTTP clients; Node's default occupies one of few threads. */
  lookup: HostLookup;
  /** Runs a child task to its end. Rejects only when the parent is not running. */
  runChild(request: ChildRequest): Promise<ExecutionResult>;
  /** The adapter behind a provider, for composite adapters; null when none is loaded. */
  describeProvider(provider: string): ProviderDescription | null;
  /** The models of a provider's runtime, for composite adapters; null when they cannot be known. Never rejects. */
  listModels(provider: string): Promise<readonly string[] | null>;
  /**
   * Asks somebody whether a tool call may go on, for tasks whose `approvals` is `ask`; the task's clocks stand still meanwhile.
   * Never rejects: without an answer in time, or once the task is being stopped, the answer is no.
   */
  requestApproval(question: ApprovalQuestion): Promise<ApprovalAnswer>;
  /** Says that runtime processes outlived their task and were killed; Bridge counts them. */
  onOrphansKilled(count: number): void;
}

/** One step of the preflight, in the order in which it was tried. */
export interface PreflightStep {
  step: string;
  ok: boolean;
  /** What was found, and when not ok, what the operator can do about it. */
  detail: string;
}

/** How the runtime is. */
export interface AdapterHealthStatus {
  /** `degraded` runs tasks; `offline` refuses them. */
  status: "healthy" | "degraded" | "offline";
  connection: Connection | null;
  /** Version of the runtime, null when unknown. */
  version: string | null;
  detail: string | null;
  preflight: PreflightStep[];
}

/** What the adapter can do. Informs clients and decides `capability_missing`; routes are decided by the guards. */
export interface GatewayCapabilities {
  streaming: boolean;
  sessionResume: boolean;
  fileIo: boolean;
  mcpServers: boolean;
  /** Takes tools declared in the dispatch. */
  tools: boolean;
  /** The runtime is held to the profile by more than good will. */
  sandboxing: boolean;
  costTracking: boolean;
  management: boolean;
  /** Can put a tool call on hold until somebody answers. */
  approvals: boolean;
  cancellation: boolean;
  /** Output strategies it can serve. */
  outputStrategies: readonly ("stream" | "file" | "structured")[];
  /** The fields of a dispatch that carry its own inputs; absent means none. */
  inputs?: readonly InputField[];
}

/** Everything an adapter must be: it runs the task and returns a result. */
export interface ExecutionAdapter {
  /** Its name in a dispatch. */
  readonly provider: string;
  initialize(config: AdapterConfig): Promise<void>;
  /** Cancels what runs and resolves when it is gone. */
  shutdown(): Promise<void>;
  /** Answers within 15 s, without side effects. */
  checkHealth(): Promise<AdapterHealthStatus>;
  capabilities(): GatewayCapabilities;
  /** Resolves when the runtime is really gone. Expected failures are results; it throws only for bugs. */
  execute(request: ExecutionRequest): Promise<ExecutionResult>;
  /** `taskHandle` is the request's `taskId`; true means that cancellation has started. */
  cancel(taskHandle: string): Promise<boolean>;
  onEvent?(listener: ExecutionEventListener): void;
  offEvent?(listener: ExecutionEventListener): void;
}

/** What is wrong with an input: the dotted name of its field, and how to mend it. */
export interface InputFault {
  path: string;
  message: string;
  /** It is well-formed, and not allowed here. */
  isRefused?: boolean;
}

/** Validates the adapter's own inputs before a task is accepted. */
export interface InputChecker {
  checkInput(inputs: AdapterInputs): InputFault[];
}

/** Does the adapter look at its inputs? */
export const isInputChecker = (value: unknown): value is InputChecker =>
  typeof value === "object" && value !== null && typeof (value as Partial<InputChecker>).checkInput === "function";

/** Knows by which identifiers its runtime has models. */
export interface ModelLister {
  /** Null when that cannot be known. Answers within 5 s, and from what it knows when it was asked before. */
  listModels(): Promise<readonly string[] | null>;
}

/** Does the adapter know its models? */
export const isModelLister = (value: unknown): value is ModelLister =>
  typeof value === "object" && value !== null && typeof (value as Partial<ModelLister>).listModels === "function";

/** Knows how many times as long as others its runtime takes for an answer; who says nothing takes as long as others. */
export interface Paced {
  readonly timeoutMultiplier: number;
}

/** Does the adapter know how long its runtime takes? */
export const isPaced = (value: unknown): value is Paced => {
  const { timeoutMultiplier } = (value ?? {}) as Partial<Paced>;
  return Number.isFinite(timeoutMultiplier) && (timeoutMultiplier as number) > 0;
};

/** What the module of an adapter exports. */
export interface AdapterModule {
  createAdapter(): ExecutionAdapter;
}
