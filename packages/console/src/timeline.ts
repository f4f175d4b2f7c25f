import type { BridgeEvent } from "bridge-client";

/** A tool call with its result and its approval. */
export interface ToolCall {
  kind: "tool";
  toolCallId: string;
  toolName: string;
  input: unknown;
  invokedAt: string;
  /** Null while the call runs. */
  completedAt: string | null;
  output: unknown;
  isError: boolean;
  /** The task ended before the runtime reported the end of the call. */
  isCutOff: boolean;
  /** Bridge cut the input or the output, because it is too long for an event. */
  isTruncated: boolean;
  approval: Approval | null;
}

interface Approval {
  approvalId: string;
  kind: "tool" | "budget";
  requestedAt: string;
  /** Null while the call waits. */
  resolvedAt: string | null;
  /** Null if the call waits without a time limit. */
  expiresAt: string | null;
  /** Null while the call waits. */
  decision: "approve" | "reject" | null;
  by: string | null;
  reason: string | null;
}

/** Text of the answer. Consecutive parts are joined. */
export interface TextEntry {
  kind: "text";
  at: string;
  /** When the event before it happened, since which the model has worked; null for the first event. */
  since: string | null;
  text: string;
  /** The runtime discarded the text. */
  isDiscarded: boolean;
}

/** What the runtime reports. */
export interface ProgressEntry {
  kind: "progress";
  at: string;
  data: Record<string, unknown>;
}

export type Entry = ToolCall | TextEntry | ProgressEntry;

/** One answer of the model, and the tool calls that it requested. */
export interface Turn {
  number: number;
  startedAt: string;
  entries: Entry[];
  /** Grows with each change of an entry, so that a turn without changes is not rendered again. */
  revision: number;
}

/** The output of the event with which Bridge ends a call that its runtime has not ended. */
const UNREPORTED_END = "The task ended before the runtime reported the end of this call.";

export type Timeline = ReturnType<typeof createTimeline>;

/**
 * Creates the timeline of a task from its events. A turn begins with the first text or tool call after all tool calls of the last turn have
 * ended, because the model is called again at that time. `markedEventId` is the id of an event whose entry is to be found.
 */
export function createTimeline(markedEventId: string | null = null) {
  const calls = new Map<string, ToolCall>();
  let openCalls = 0;
  const turns = createTurns(() => openCalls > 0);
  let lastEventId: string | undefined;
  let lastEventAt: string | null = null;
  let count = 0;
  let marked: Entry | null = null;

  function addText(at: string, text: string): Entry {
    const turn = turns.current(at, { isModel: true });
    const last = turn.entries.at(-1);
    if (last?.kind === "text" && !last.isDiscarded) return Object.assign(last, { text: last.text + text });
    return turns.append(turn, { kind: "text", at, since: lastEventAt, text, isDiscarded: false });
  }

  /** Returns the call with this id. An approval can precede the event of the call itself. */
  function findCall(at: string, { toolCallId, toolName, input }: { toolCallId: string; toolName: string; input: unknown }): ToolCall {
    const known = calls.get(toolCallId);
    if (known !== undefined) return known;
    const call = turns.append(turns.current(at, { isModel: true }), newCall(at, { toolCallId, toolName, input }));
    calls.set(toolCallId, call);
    openCalls += 1;
    return call;
  }

  function completeCall(at: string, data: { toolCallId: string; toolName: string; output: unknown; isError: boolean }): ToolCall {
    const call = findCall(at, { ...data, input: null });
    if (call.completedAt === null) openCalls -= 1;
    const isCutOff = data.output === UNREPORTED_END;
    return Object.assign(call, { completedAt: at, output: data.output, isError: data.isError && !isCutOff, isCutOff });
  }

  /** Adds an event. Returns the entry that it belongs to. */
  function addToEntry(event: BridgeEvent): Entry | null {
    const { timestamp: at } = event;
    switch (event.type) {
      case "assistant.text":
        return addText(at, event.data.content);
      case "assistant.text_discarded":
        discardText(turns.list);
        return null;
      case "tool.invoked":
        return noteTruncated(findCall(at, event.data), event.data.truncated);
      case "tool.completed":
        return noteTruncated(completeCall(at, event.data), event.data.truncated);
      case "tool.approval_requested":
        return Object.assign(findCall(at, event.data), { approval: newApproval(at, event.data) });
      case "tool.approval_resolved": {
        const { toolCallId, decision, by, reason } = event.data;
        const call = calls.get(toolCallId);
        if (call?.approval != null) Object.assign(call.approval, { decision, by, reason, resolvedAt: at });
        // No tool call follows.
        if (event.data.kind === "budget" && call !== undefined)
          return completeCall(at, { ...call, output: null, isError: decision === "reject" });
        return call ?? null;
      }
      case "execution.progress":
        return turns.append(turns.current(at, { isModel: false }), { kind: "progress", at, data: event.data });
      default:
        return null;
    }
  }

  return {
    turns: turns.list,
    /** The entry of the event with the marked id; null until that event was added, and if it belongs to no entry. */
    get marked(): Entry | null {
      return marked;
    },
    /** Id of the last event, to continue after it. */
    get lastEventId(): string | undefined {
      return lastEventId;
    },
    get lastEventAt(): string | null {
      return lastEventAt;
    },
    /** Number of entries of all turns. */
    get entryCount(): number {
      return turns.entryCount();
    },
    /** Number of events. */
    get count(): number {
      return count;
    },
    /** Adds the next event. */
    add(event: BridgeEvent): void {
      const entry = addToEntry(event);
      lastEventId = event.id;
      lastEventAt = event.timestamp;
      count += 1;
      if (entry !== null) turns.noteChange(entry);
      if (event.id === markedEventId) marked = entry;
    },
  };
}

function noteTruncated(call: ToolCall, isTruncated = false): ToolCall {
  call.isTruncated ||= isTruncated;
  return call;
}

/** Creates the list of turns. */
function createTurns(hasOpenCalls: () => boolean) {
  const list: Turn[] = [];
  const turnOf = new WeakMap<Entry, Turn>();
  let entryCount = 0;

  /** Whether the model was called again since the last entry. */
  const isOver = (turn: Turn): boolean => !hasOpenCalls() && turn.entries.some(({ kind }) => kind === "tool");

  return {
    list,
    /** Returns the turn of the next entry. `isModel`: the entry comes from the model, so that it can begin a turn. */
    current(at: string, { isModel }: { isModel: boolean }): Turn {
      const last = list.at(-1);
      if (last !== undefined && !(isModel && isOver(last))) return last;
      const turn: Turn = { number: list.length + 1, startedAt: at, entries: [], revision: 0 };
      list.push(turn);
      return turn;
    },
    append<Added extends Entry>(turn: Turn, entry: Added): Added {
      turn.entries.push(entry);
      turnOf.set(entry, turn);
      entryCount += 1;
      return entry;
    },
    noteChange(entry: Entry): void {
      (turnOf.get(entry) as Turn).revision += 1;
    },
    entryCount: (): number => entryCount,
  };
}

const newCall = (invokedAt: string, named: Pick<ToolCall, "toolCallId" | "toolName" | "input">): ToolCall => ({
  ...{ kind: "tool", ...named, invokedAt, completedAt: null, output: null },
  ...{ isError: false, isCutOff: false, isTruncated: false, approval: null },
});

const newApproval = (
  requestedAt: string,
  { approvalId, kind = "tool", expiresAt }: Pick<Approval, "approvalId" | "expiresAt"> & Partial<Pick<Approval, "kind">>,
): Approval => ({
  ...{ approvalId, kind, requestedAt, resolvedAt: null },
  ...{ expiresAt, decision: null, by: null, reason: null },
});

/** Marks the text since the last tool call as discarded. */
function discardText(turns: readonly Turn[]): void {
  for (const turn of turns.toReversed())
    for (const entry of turn.entries.toReversed()) {
      if (entry.kind === "tool") return;
      if (entry.kind !== "text") continue;
      entry.isDiscarded = true;
      turn.revision += 1;
    }
}
