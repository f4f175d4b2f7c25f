import type { NormalizedUsage, TaskErrorCode } from "./wire.ts";

/** What each type of event carries. Over 256 KiB only the beginning, with `truncated: true`. */
interface EventData {
  "execution.started": { agentId: string };
  /** A piece of the answer. */
  "assistant.text": { content: string };
  /** Withdraws the text since the last tool event or the last discard: the runtime has thrown it away. */
  "assistant.text_discarded": { reason?: string };
  "tool.invoked": { toolCallId: string; toolName: string; input: unknown };
  "tool.completed": { toolCallId: string; toolName: string; output: unknown; isError: boolean };
  "execution.progress": Record<string, unknown>;
  "tool.approval_requested": { approvalId: string; toolCallId: string; toolName: string; input: unknown; expiresAt: string };
  "tool.approval_resolved": {
    approvalId: string;
    toolCallId: string;
    decision: "approve" | "reject";
    by: string;
    reason: string | null;
  };
  "execution.completed": {
    output: string | null;
    outputs?: Record<string, unknown>;
    usage?: NormalizedUsage;
    costUsd?: number;
    model?: string;
    durationMs: number;
  };
  "execution.failed": { error: string; errorCode?: TaskErrorCode; usage?: NormalizedUsage; costUsd?: number; durationMs: number };
  "callback.delivered": { attempts: number; status: number | null };
  "callback.dead": { attempts: number; lastStatus: number | null; lastError: string | null };
}

/** Every kind of event. */
export type EventType = keyof EventData;

/** One line of a task's story; `type` tells what `data` holds. */
export type BridgeEvent = {
  [Type in EventType]: {
    /** `<epoch>-<number>`: where to go on from, with `after`. */
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

/** Which events to follow; nothing means all of the token's tenant. */
export interface EventFilter {
  taskId?: string | undefined;
  agentId?: string | undefined;
  provider?: string | undefined;
  types?: readonly EventType[] | undefined;
}

/** Events that were asked for are no longer kept; what follows begins with the oldest that is. */
export interface Gap {
  /** Null when none is kept. */
  oldestId: string | null;
}

/** How to follow events. */
export interface EventOptions {
  /** The id of the last event that was seen. Without it a task's story begins at its first event, any other stream now. */
  after?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Called when events are missing, and the stream goes on. Without it a gap throws `stream_gap`. */
  onGap?: ((gap: Gap) => void) | undefined;
}
