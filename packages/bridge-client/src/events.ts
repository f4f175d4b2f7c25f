import type { ApprovalKind, ConnectionKind, CostSource, NormalizedUsage, RepositoryOutcome, TaskErrorCode } from "./wire.ts";

/** One call of a model. */
export interface ModelCall {
  model: string | null;
  usage: NormalizedUsage | null;
  costUsd: number | null;
  /** In milliseconds since the epoch. */
  startedAt: number;
  durationMs: number;
  /** The HTTP status; null if there was no response. */
  status: number | null;
  /** Whether the response broke off, so that the usage may be too low. */
  incomplete?: boolean;
}

/** Data of each event type. Data above 256 KiB is cut and has `truncated: true`. */
interface EventData {
  "execution.started": { agentId: string };
  /** An attempt has failed, or a candidate was skipped, and others follow. */
  "execution.attempt": {
    number: number;
    provider: string;
    model: string | null;
    /** Null if the candidate was skipped. */
    errorCode: TaskErrorCode | null;
    reason: string | null;
    next: { provider: string; model: string | null } | null;
  };
  /** A part of the answer. */
  "assistant.text": { content: string };
  /** The runtime discarded the text since the last tool event or the last discard. */
  "assistant.text_discarded": { reason?: string };
  "tool.invoked": { toolCallId: string; toolName: string; input: unknown };
  "tool.completed": { toolCallId: string; toolName: string; output: unknown; isError: boolean };
  "execution.progress": Record<string, unknown>;
  /** What the runtime has used since the last report, and the total of the task so far. */
  "usage.reported": {
    model: string | null;
    usage: NormalizedUsage;
    costUsd: number | null;
    costSource: CostSource | null;
    total: { usage: NormalizedUsage | null; costUsd: number | null; costSource: CostSource | null };
    /** The calls of the model, if Bridge saw each of them. */
    calls?: ModelCall[];
  };
  /** The task has raised what is spent of a budget to one of its thresholds; `share` 0.8 is 80 % of the maximum. */
  "budget.warning": {
    budget: string;
    share: number;
    spentUsd: number;
    maxCostUsd: number | null;
    spentTokens: number;
    maxTokens: number | null;
  };
  "tool.approval_requested": {
    approvalId: string;
    /** Absent in events of earlier versions, whose approvals are of the kind `tool`. */
    kind?: ApprovalKind;
    toolCallId: string;
    toolName: string;
    input: unknown;
    expiresAt: string | null;
  };
  "tool.approval_resolved": {
    approvalId: string;
    kind?: ApprovalKind;
    toolCallId: string;
    decision: "approve" | "reject";
    by: string;
    reason: string | null;
    /** By how many US dollars the maximum of a budget has grown; absent for tool calls. */
    raiseByUsd?: number | null;
  };
  "execution.completed": {
    output: string | null;
    outputs?: Record<string, unknown>;
    usage?: NormalizedUsage;
    costUsd?: number;
    costSource?: CostSource;
    model?: string;
    durationMs: number;
    /** Absent in events of earlier versions. */
    connection?: ConnectionKind;
    /** What the task has changed in its work tree of a repository. */
    repository?: RepositoryOutcome;
  };
  "execution.failed": {
    error: string;
    errorCode?: TaskErrorCode;
    usage?: NormalizedUsage;
    costUsd?: number;
    costSource?: CostSource;
    durationMs: number;
    /** Absent in events of earlier versions. */
    connection?: ConnectionKind;
    /** What the task has changed in its work tree of a repository. */
    repository?: RepositoryOutcome;
  };
  "callback.delivered": { attempts: number; status: number | null };
  "callback.dead": { attempts: number; lastStatus: number | null; lastError: string | null };
}

/** All event types. */
export type EventType = keyof EventData;

/** One event of a task. `type` determines the fields of `data`. */
export type BridgeEvent = {
  [Type in EventType]: {
    /** `<epoch>-<number>`. Pass it as `after` to continue after this event. */
    id: string;
    type: Type;
    taskId: string;
    parentTaskId?: string;
    agentId: string;
    provider: string;
    /** ISO 8601, UTC. */
    timestamp: string;
    data: EventData[Type] & { truncated?: boolean };
  };
}[EventType];

/** Selects events. An empty filter selects all events of the token's tenant. */
export interface EventFilter {
  taskId?: string | undefined;
  agentId?: string | undefined;
  provider?: string | undefined;
  types?: readonly EventType[] | undefined;
  /** ISO 8601. Start with the first event that was stored at this time or later, instead of with new events. */
  since?: string | undefined;
}

/** Requested events have been deleted. The stream continues with the oldest stored event. */
export interface Gap {
  /** Null when no event is stored. */
  oldestId: string | null;
}

/** Options for following events. */
export interface EventOptions {
  /** Id of the last received event. Default: the stream of a task starts at its first event, any other stream with new events. */
  after?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Called when events are missing; the stream continues. Without it the stream rejects with `stream_gap`. */
  onGap?: ((gap: Gap) => void) | undefined;
}

/** Whether this is the last event of its task, apart from those of its callback. */
export const isTerminal = ({ type }: BridgeEvent): boolean => type === "execution.completed" || type === "execution.failed";
