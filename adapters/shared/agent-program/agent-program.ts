import type { AdapterConfig, AdapterLogger, Connection, ExecutionRequest, ExecutionResult, GatewayCapabilities, Sandbox } from "#contract";
import type { OfferedTools } from "../declared-tools/offered-tools.ts";
import type { SessionTotals } from "./session-totals.ts";
import type { ProgramSettings } from "./settings.ts";
import type { TaskStory } from "./task-story.ts";

/** What everything around one runtime works with. */
export interface ProgramContext {
  settings: ProgramSettings;
  /** Bridge's environment, to pick from. */
  env: Readonly<Record<string, string | undefined>>;
  /** A directory of the adapter's own that survives restarts. */
  dataDir: string;
  logger: AdapterLogger;
  /** In which every process is started; null: none. */
  sandbox: Sandbox | null;
  onOrphansKilled(count: number): void;
  requestApproval: AdapterConfig["requestApproval"];
  /** Aborted when the adapter shuts down: what belongs to no task stops then. */
  closed?: AbortSignal;
  /** Days after which what was kept of tasks is forgotten. */
  retentionDays: number;
  /** For addresses that a dispatch has named. */
  fetch: AdapterConfig["fetch"];
  /** For hosts that the operator has named. */
  lookup: AdapterConfig["lookup"];
}

/** One task on its way through a connection. */
export interface ProgramTask {
  /** As Bridge assembled it; `directories.home` is the operator's own where the settings say so. */
  request: ExecutionRequest;
  context: ProgramContext;
  story: TaskStory;
  /** Aborted when the task is to stop. */
  signal: AbortSignal;
  /** What sessions had used up before, for runtimes that count a session and not a task. */
  totals: SessionTotals;
  /** The declared tools of the task, which are one of its MCP servers. Absent: there are none. */
  offeredTools?: OfferedTools;
}

/** What a connection knows at the end; `resumeToken` is the runtime's own id of the session. Text the story has heard need not be repeated. */
export type Ending = Omit<ExecutionResult, "durationMs" | "connection">;

/** Where the program of a connection is, or what to do about it not being there. A connection that needs no program has an empty `argv`. */
export type Finding = { argv: readonly string[] } | { missing: string };

/** What a program said about itself. */
export interface Probe {
  version: string | null;
  detail: string;
}

/**
 * What an answer without text is where a runtime reports success. `accepted`: the model meant it, because the runtime reports why a model stopped.
 * `after tools`: the tools did the work; without any it is a failure. `never`: a failure, because the runtime drops refusals without a word.
 */
export type EmptyAnswers = "accepted" | "after tools" | "never";

/** One way to reach a runtime. */
export interface ProgramConnection {
  name: Connection;
  capabilities: GatewayCapabilities;
  /** What an answer without text is. Absent: `after tools`. */
  emptyAnswers?: EmptyAnswers;
  /** How it fares with several agents in one task, where that is not as over the others. */
  multiAgent?: string;
  /** What these settings add to the capabilities, or take from them. */
  claims?(context: ProgramContext): Partial<GatewayCapabilities>;
  /** Its own conversation with the model has the declared tools. Absent: Bridge serves them to it, as an MCP server of the task. */
  hasOwnTools?: true;
  /** Names that the program gives no tool of an MCP server: declared tools of these names get others. */
  reservedToolNames?: readonly string[];
  /** Cheap: looks at files, starts nothing. */
  find(context: ProgramContext): Finding;
  /** Starts the program to see that it answers; rejects, in words for the operator, when it does not. */
  probe(argv: readonly string[], context: ProgramContext): Promise<Probe>;
  /** Why it cannot carry this request, and what to do about it; null when it can. Absent: it can carry every one. What it cannot goes to the next connection. */
  obstacleTo?(request: ExecutionRequest): string | null;
  execute(task: ProgramTask, argv: readonly string[]): Promise<Ending>;
  /** Forgets what it has kept of tasks for longer than `retentionDays`, whether it is in use or was once; called often. */
  sweep?(context: ProgramContext): Promise<void>;
  /** Lets go of what it holds open between tasks; none of them runs any more. */
  close?(context: ProgramContext): Promise<void>;
}

/** What is known about the operator's credentials without asking a model; `detail` says what to do when not ok. */
export interface Credentials {
  ok: boolean;
  detail: string;
}

/** One runtime that is a program: everything in which its adapter differs from the others. */
export interface AgentProgram {
  provider: string;
  /** In the order in which they are tried; at least one. */
  connections: readonly ProgramConnection[];
  /** Looks for credentials of the connection in use; no model is called. */
  findCredentials(connection: Connection, argv: readonly string[], context: ProgramContext): Promise<Credentials>;
  /** How it fares with several agents in one task. */
  multiAgent: string;
  /** The models of the runtime, as its program tells them; null when they cannot be known. Absent: they never can. */
  listModels?(context: ProgramContext): Promise<string[] | null>;
  /** Its share in a timeout estimate: how much slower it is than others. */
  timeoutMultiplier: number;
}
