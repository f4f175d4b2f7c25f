import type { InitializeResponse, PromptResponse, RequestError, SessionConfigOption } from "@agentclientprotocol/sdk";
import type { AdapterCapabilities, ExecutionRequest, NormalizedUsage } from "#contract";
import type { EmptyAnswers, ProgramConnection, ProgramContext, ProgramLookup, ProgramTask } from "../agent-program/agent-program.ts";
import type { Outcome } from "../agent-program/run-program.ts";
import type { CompletePart } from "./message-text.ts";
import type { AcpToolCall } from "./read-update.ts";

/** The command that starts an agent. */
export interface AcpLaunch {
  argv: readonly string[];
  /** The whole environment, except HOME, TMPDIR and the task marker. */
  env: Readonly<Record<string, string>>;
}

/** A report of an agent about its turn. */
export interface AcpNotice {
  /** A message for the caller, such as a warning or the reason of a failure. */
  text?: string;
  /** The turn has failed, even if the agent reports success at its end. The last `text` is the reason. */
  failed?: boolean;
  /** The agent has withdrawn the text of the current message, for this reason. */
  discarded?: string;
  /** A part of a message that is complete. */
  complete?: CompletePart;
  /** Data for a progress event. */
  progress?: Record<string, unknown>;
  /** The last part of the answer, which the agent reports at the end of the turn. */
  answer?: string;
}

/** The properties in which one agent that supports the Agent Client Protocol differs from others. */
export interface AcpProfile {
  /** Without `sessionResume`, a request with a resume token is rejected. */
  capabilities: AdapterCapabilities;
  /** How to treat an empty answer. Default: `after tools`. */
  emptyAnswers?: EmptyAnswers;
  planProxy?: ProgramConnection["planProxy"];
  find(context: ProgramContext): ProgramLookup;
  /** The command for a task. Also writes the files that the agent reads at its start. */
  launch(argv: readonly string[], task: ProgramTask): AcpLaunch | Promise<AcpLaunch>;
  /**
   * Waits until the agent may start, or until the task is canceled. The returned function is called when the session is open and when the
   * process has ended. If absent, the agent starts immediately.
   */
  waitForStart?(launch: AcpLaunch, signal: AbortSignal): Promise<() => void>;
  /** The command for a probe, which opens no session. */
  launchProbe(argv: readonly string[], context: ProgramContext): AcpLaunch;
  /** Receives the response to `initialize` of a probe. */
  onAnswer?(answer: InitializeResponse): void;
  /** Why the agent does not support a request, and what to do; null or absent: it does. Resume tokens are checked elsewhere. */
  unsupportedReason?(request: ExecutionRequest): string | null;
  /** The authentication method to use before a session is opened. Absent: the environment has the credentials. */
  authMethod?: string;
  /** Additional fields of `session/new` and `session/resume`, such as `_meta` and `systemPrompt`. */
  sessionFields?(request: ExecutionRequest): Record<string, unknown>;
  /**
   * Use `session/load` if the agent does not support `session/resume`. The updates that the agent then replays are ignored. Absent: never,
   * because loading damages the sessions of some agents.
   */
  loadsSessions?: boolean;
  /** The agent reads the MCP servers from files that `launch` writes, so the session request has none. */
  readsMcpServers?: boolean;
  /** The title of a new session, set by the protocol's unstable `session/set_title`. It saves the model call that would generate one. */
  sessionTitle?: string;
  /** The mode of the session. Default: the agent's default. */
  mode?(request: ExecutionRequest): string | undefined;
  /** Session options to set, by id, such as the model; `offered` are the options of the session. */
  configOptions?(request: ExecutionRequest, offered: readonly SessionConfigOption[]): Record<string, string>;
  /** The prompt. Default: `formatPrompt(request)`. */
  prompt?(request: ExecutionRequest): string;
  /** True if a task with the profile `inspect` may make calls of this kind, although the agent asks for permission. Absent: none. */
  mayInspect?(kind: string): boolean;
  /** Reads a notice that the agent sends as an update; null if the update belongs to the timeline. */
  readNotice?(update: Readonly<Record<string, unknown>>): AcpNotice | null;
  /** Reads a notice from a notification that is not part of the protocol; null if it is irrelevant. */
  readExtension?(method: string, params: unknown): AcpNotice | null;
  /** True: only the last message is the answer. Absent: all messages after the last tool call are the answer. */
  answersInLastMessage?: boolean;
  /** The name of a tool, if the agent does not report it; undefined: the kind of the call. */
  toolName?(call: AcpToolCall): string | undefined;
  /** The input of a tool call, if the agent reports it outside `rawInput`; undefined: the title of the call. */
  toolInput?(call: AcpToolCall): Record<string, unknown> | undefined;
  /** The usage of the task; undefined if the agent does not report it. `tools` are the names of the called tools. */
  usageOf?(response: PromptResponse, tools: ReadonlySet<string>, request: ExecutionRequest): NormalizedUsage | undefined;
  /** The model that answered. Default: the model of the request. */
  modelOf?(response: PromptResponse): string | undefined;
  /** `session`: the `cost` of a usage update is the total of the session. Absent: the cost is unreliable and is ignored. */
  costScope?: "session";
  /** How long the agent may take to exit after its stdin is closed, in ms; after that it receives SIGTERM. Default: 1,500. */
  exitLimitMs?: number;
  /** The outcome of a turn that failed although its stop reason is a success; undefined if it succeeded. */
  explainEnd?(response: PromptResponse): Outcome | undefined;
  /** The outcome of an error that only this agent reports; undefined: explained as for all agents. */
  explainError?(error: RequestError): Outcome | undefined;
}
