import type { AdapterCapabilities, AdapterConfig, AdapterLogger, Connection, ExecutionRequest, ExecutionResult, Sandbox } from "#contract";
import type { OfferedTools } from "../declared-tools/offered-tools.ts";
import type { ProxyPlan } from "../model-proxy/proxy-plan.ts";
import type { SessionTotals } from "./session-totals.ts";
import type { ProgramSettings } from "./settings.ts";
import type { TaskTimeline } from "./task-timeline.ts";

/** Settings, directories and callbacks of one adapter of an agent program. */
export interface ProgramContext {
  settings: ProgramSettings;
  /** Bridge's environment. Programs get only the variables that `createProgramEnvironment` picks from it. */
  env: Readonly<Record<string, string | undefined>>;
  /** The adapter's data directory, which survives restarts. */
  dataDir: string;
  /** The adapter's directory for data of agents, which nodes can share. */
  filesDir: string;
  logger: AdapterLogger;
  /** The sandbox of every process; null: no sandbox. */
  sandbox: Sandbox | null;
  /** Why the sandbox that the operator enabled does not work. */
  sandboxFault?: string | null;
  onOrphansKilled(count: number): void;
  requestApproval: AdapterConfig["requestApproval"];
  mayCallModel: AdapterConfig["mayCallModel"];
  onModelLimited: AdapterConfig["onModelLimited"];
  /** Aborted when the adapter shuts down; stops work that belongs to no task, such as probes. */
  shutdownSignal?: AbortSignal;
  /** Days after which stored data of tasks is removed. */
  retentionDays: number;
  /** For addresses from a dispatch: rejects destinations that are not permitted. */
  fetch: AdapterConfig["fetch"];
  /** For hosts from the operator's settings. */
  lookup: AdapterConfig["lookup"];
}

/** One task that a connection executes. */
export interface ProgramTask {
  /** The request of Bridge; `directories.home` is the operator's home if the `home` setting is `user`. */
  request: ExecutionRequest;
  context: ProgramContext;
  timeline: TaskTimeline;
  /** Aborted when the task is to stop. */
  signal: AbortSignal;
  /** The totals of sessions, for runtimes that report usage per session instead of per task. */
  totals: SessionTotals;
  /** The declared tools of the task. Bridge serves them as one of the task's MCP servers. Absent: the task declares none. */
  offeredTools?: OfferedTools;
}

/**
 * The result of a task from its connection; `resumeToken` is the runtime's session id. `output` may be absent if the
 * timeline has the text.
 */
export type ConnectionResult = Omit<ExecutionResult, "durationMs" | "connection">;

/**
 * The command of a connection's program, or advice for the operator if the program is missing. `argv` is empty if the
 * connection needs no program, and `server` is the origin of its server if it has one.
 */
export type ProgramLookup = { argv: readonly string[]; server?: string } | { missing: string };

/** The version of a program and a description for the operator. */
export interface Probe {
  version: string | null;
  detail: string;
}

/**
 * How to treat an empty answer if the runtime reports success. `accepted`: a success, because the runtime reports why
 * the model stopped. `after tools`: a success if the task called tools, otherwise a failure. `never`: a failure,
 * because the runtime does not report refusals.
 */
export type EmptyAnswers = "accepted" | "after tools" | "never";

/** One way to reach a runtime. */
export interface ProgramConnection {
  name: Connection;
  capabilities: AdapterCapabilities;
  /** How to treat an empty answer. Default: `after tools`. */
  emptyAnswers?: EmptyAnswers;
  /** Multi-agent support for the preflight, if it differs from the program's other connections. */
  multiAgent?: string;
  /** Capabilities that the settings change. */
  configuredCapabilities?(context: ProgramContext): Partial<AdapterCapabilities>;
  /** Plans how tasks call their model through Bridge's proxy. Absent: the connection runs no program that has a key. */
  planProxy?(context: ProgramContext): ProxyPlan;
  /** The connection passes the declared tools to the model itself. Absent: Bridge serves them as an MCP server of the task. */
  passesDeclaredTools?: true;
  /** Tool names that the program does not allow for MCP tools. Declared tools with these names are renamed. */
  reservedToolNames?: readonly string[];
  /** Looks up the program. Reads files only and starts no process. */
  find(context: ProgramContext): ProgramLookup;
  /** Starts the program to check that it answers. Rejects with a message for the operator if it does not. */
  probe(argv: readonly string[], context: ProgramContext): Promise<Probe>;
  /**
   * Why the connection does not support a request, and what to do; null if it does. Absent: it supports every request.
   * The next connection is tried for an unsupported request.
   */
  unsupportedReason?(request: ExecutionRequest): string | null;
  execute(task: ProgramTask, argv: readonly string[]): Promise<ConnectionResult>;
  /**
   * Removes stored data of tasks that is older than `retentionDays`. Called at every health check, also for connections
   * that are not in use.
   */
  sweep?(context: ProgramContext): Promise<void>;
  /** Releases resources that outlive a task. Called when no task is running. */
  close?(context: ProgramContext): Promise<void>;
}

/** The state of the operator's credentials. If not `ok`, `detail` describes what to do. */
export interface Credentials {
  ok: boolean;
  detail: string;
}

/** One agent program: everything that is specific to its adapter. */
export interface AgentProgram {
  provider: string;
  /** At least one, in the order in which they are tried. */
  connections: readonly ProgramConnection[];
  /** Checks the credentials of a connection without calling a model. */
  findCredentials(connection: Connection, argv: readonly string[], context: ProgramContext): Promise<Credentials>;
  /** Multi-agent support, for the preflight. */
  multiAgent: string;
  /** The models that the runtime offers; null if they are unknown. Absent: the runtime cannot list them. */
  listModels?(context: ProgramContext): Promise<string[] | null>;
  /** Factor of the timeout estimate: how much slower this runtime is than others. */
  timeoutMultiplier: number;
}
