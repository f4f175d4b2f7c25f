import type { InitializeResponse, PromptResponse, RequestError, SessionConfigOption } from "@agentclientprotocol/sdk";
import type { ExecutionRequest, GatewayCapabilities, NormalizedUsage } from "#contract";
import type { EmptyAnswers, Finding, ProgramContext, ProgramTask } from "../agent-program/agent-program.ts";
import type { Outcome } from "../agent-program/run-program.ts";
import type { AcpToolCall } from "./read-update.ts";

/** How an agent is started. */
export interface AcpLaunch {
  argv: readonly string[];
  /** The whole environment but for HOME, TMPDIR and the marker. */
  env: Readonly<Record<string, string>>;
}

/** An agent's word about itself. */
export interface AcpNotice {
  /** For humans, such as a warning or the reason of a failure. */
  text?: string;
  /** The turn has failed, whatever reason for its end the agent will give; the latest text says why. */
  failed?: boolean;
  /** It has thrown away the text of the message under way, for this reason. */
  discarded?: string;
  /** The last part of its answer, as it reports it at the end of the turn. */
  answer?: string;
}

/** Everything in which one agent differs from the others over the Agent Client Protocol. */
export interface AcpProfile {
  /** `sessionResume` also decides whether a resume token comes here at all. */
  capabilities: GatewayCapabilities;
  /** What an answer without text is. Absent: `after tools`. */
  emptyAnswers?: EmptyAnswers;
  find(context: ProgramContext): Finding;
  /** The start for a task; files that the agent reads when it starts are written here. */
  launch(argv: readonly string[], task: ProgramTask): AcpLaunch | Promise<AcpLaunch>;
  /** The start to ask for its version; no session is opened. */
  launchProbe(argv: readonly string[], context: ProgramContext): AcpLaunch;
  /** Hears what the agent says of itself when it is asked for its version. */
  onAnswer?(answer: InitializeResponse): void;
  /** Why it cannot carry this request, resume aside, and what to do about it; null or absent: it can. */
  unsupportedReason?(request: ExecutionRequest): string | null;
  /** The method to authenticate with before a session is opened; absent where the environment suffices. */
  authMethod?: string;
  /** Fields of `session/new` and `session/resume` beside `cwd` and `mcpServers`, such as `_meta` and `systemPrompt`. */
  sessionFields?(request: ExecutionRequest): Record<string, unknown>;
  /** A session that cannot be resumed is loaded, for what is replayed then is no part of a task's timeline. Absent: never, for it harms some agents. */
  loadsSessions?: boolean;
  /** The agent reads the task's MCP servers from what `launch` has prepared: the session names none. */
  readsMcpServers?: boolean;
  /** The name of a new session, by the protocol's unstable `session/set_title`: the agent then asks no model for one. */
  sessionTitle?: string;
  /** The mode of the session. Absent: the agent's own default. */
  mode?(request: ExecutionRequest): string | undefined;
  /** Session options by id, such as the model, where these are not told at the start; `offered` are those that the session has. */
  configOptions?(request: ExecutionRequest, offered: readonly SessionConfigOption[]): Record<string, string>;
  /** What the agent is told. Absent: the message, safe from being taken for a command. */
  prompt?(request: ExecutionRequest): string;
  /** Calls that a task may make under `inspect`, too, although the agent asks before them, by their kind. Absent: none. */
  mayInspect?(kind: string): boolean;
  /** What the agent tells about itself in the guise of an update; null for everything that is part of the timeline. */
  readNotice?(update: Readonly<Record<string, unknown>>): AcpNotice | null;
  /** What a notification of the agent's own means, beside the protocol; null for those that do not matter. */
  readExtension?(method: string, params: unknown): AcpNotice | null;
  /** A tool's name, where the agent does not give one; undefined: the kind of the call. */
  toolName?(call: AcpToolCall): string | undefined;
  /** A tool's input, where the agent gives it in another place than `rawInput`; undefined: its title. */
  toolInput?(call: AcpToolCall): Record<string, unknown> | undefined;
  /** Usage of the task alone, in which these tools were used; undefined when the agent does not tell. */
  usageOf?(response: PromptResponse, tools: ReadonlySet<string>, request: ExecutionRequest): NormalizedUsage | undefined;
  /** The model that really answered, where the agent tells; else the one that was asked for is taken. */
  modelOf?(response: PromptResponse): string | undefined;
  /** What the `cost` of a usage update counts: the `session` with its earlier tasks. Absent: it is not to be trusted. */
  costCounts?: "session";
  /** How long it may take to exit once its stdin is closed, in ms; then it gets a SIGTERM. Absent: 1,500 */
  exitLimitMs?: number;
  /** A turn that has failed although its stop reason tells of success; undefined: it has not. */
  explainEnd?(response: PromptResponse): Outcome | undefined;
  /** An error that this agent words in its own way; undefined: as all agents. */
  explainError?(error: RequestError): Outcome | undefined;
}
