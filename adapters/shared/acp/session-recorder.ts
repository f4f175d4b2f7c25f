import type { ApprovalQuestion } from "#contract";
import type { TaskTimeline } from "../agent-program/task-timeline.ts";
import type { AcpNotice, AcpProfile } from "./acp-profile.ts";
import { createMessageText } from "./message-text.ts";
import { type AcpToolCall, readUpdate } from "./read-update.ts";

export type SessionRecorder = ReturnType<typeof createSessionRecorder>;

/** Creates a recorder that writes the updates of an agent's session to the timeline of its task. */
export function createSessionRecorder(
  timeline: TaskTimeline,
  profile: Pick<AcpProfile, "readNotice" | "readExtension" | "toolName" | "toolInput" | "answersInLastMessage">,
) {
  /** Open calls, and whether the timeline has started them. */
  const calls = new Map<string, { call: AcpToolCall; isStarted: boolean }>();
  const toolNames = new Set<string>();
  let costUsd: number | undefined;
  let rejection: string | undefined;
  let failed = false;
  let reason = "The agent reports no reason.";
  const messages = createMessageText(timeline, { lastOnly: profile.answersInLastMessage === true });

  const merge = (update: AcpToolCall): AcpToolCall => {
    const known = calls.get(update.toolCallId);
    const call = mergeCalls(known?.call, update);
    calls.set(update.toolCallId, { call, isStarted: known?.isStarted ?? false });
    return call;
  };
  const start = (call: AcpToolCall): Omit<ApprovalQuestion, "taskId"> => {
    const { toolCallId } = call;
    const toolName = profile.toolName?.(call) ?? call.name ?? call.kind ?? "tool";
    const input = profile.toolInput?.(call) ?? inputOf(call);
    calls.set(toolCallId, { call, isStarted: true });
    toolNames.add(toolName);
    messages.restart();
    timeline.startTool(toolCallId, toolName, input);
    return { toolCallId, toolName, input };
  };
  const finish = (toolCallId: string, output: unknown, isError: boolean): void => {
    timeline.finishTool(toolCallId, output, isError);
    calls.delete(toolCallId);
  };
  const startPendingCalls = (): void => {
    for (const { call, isStarted } of calls.values()) if (!isStarted) start(call);
  };
  const recordCall = (update: AcpToolCall): void => {
    const call = merge(update);
    const done = call.status === "completed" || call.status === "failed";
    // The input of a pending call can still grow, and the timeline emits a start only once.
    if (call.status !== undefined && call.status !== null && call.status !== "pending") start(call);
    if (done) finish(call.toolCallId, outputOf(call), call.status === "failed");
  };

  const applyNotice = ({ text, failed: hasFailed, discarded, progress, complete, answer }: AcpNotice): void => {
    failed ||= hasFailed === true;
    reason = text ?? reason;
    if (discarded !== undefined) timeline.discardText(discarded);
    if (complete !== undefined) messages.complete(complete);
    if (progress !== undefined) timeline.reportProgress(progress);
    if (answer !== undefined) timeline.confirmLastPart(answer);
  };
  const appendMessage = (id: string | undefined, text: string): void => {
    // A text that the agent wrote itself is the reason of a failure.
    if (!messages.append(id, text)) reason = text;
  };

  return {
    recordUpdate(message: unknown): void {
      if (typeof message !== "object" || message === null) return;
      const notice = profile.readNotice?.(message as Record<string, unknown>) ?? null;
      if (notice !== null) {
        applyNotice(notice);
        return;
      }
      const update = readUpdate(message);
      if (update === null) return;
      if (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update") {
        recordCall(update);
        return;
      }
      // Any other update means that the inputs of the pending calls are complete.
      startPendingCalls();
      if (update.sessionUpdate === "agent_message_chunk") appendMessage(update.messageId ?? undefined, update.content.text);
      else if (update.sessionUpdate === "plan") timeline.reportProgress({ plan: update.entries });
      else if (update.cost?.currency === "USD") costUsd = update.cost.amount;
    },
    /** Records a notification that is not part of the protocol. */
    recordExtension(method: string, params: unknown): void {
      const notice = profile.readExtension?.(method, params) ?? null;
      if (notice !== null) applyNotice(notice);
    },
    /** Records a call for which the agent requests permission. Returns the question for the approval. */
    recordQuestion: (call: AcpToolCall): Omit<ApprovalQuestion, "taskId"> => start(merge(call)),
    /** The kind of an open call; empty if it is unknown. */
    kindOf: (toolCallId: string): string => calls.get(toolCallId)?.call.kind ?? "",
    /** Finishes a rejected call, because not every agent reports its end. */
    rejectCall(toolCallId: string, reason: string): void {
      rejection = reason;
      finish(toolCallId, reason, true);
    },
    /** The names of all called tools. */
    toolNames: toolNames as ReadonlySet<string>,
    /** The last reported cost, in US dollars. */
    get costUsd(): number | undefined {
      return costUsd;
    },
    /** The reason of the last rejected call. */
    get rejection(): string | undefined {
      return rejection;
    },
    /** The agent's reason for a failed turn; undefined if the turn has not failed. */
    get failure(): string | undefined {
      return failed ? reason : undefined;
    },
    /** Starts the calls that are still pending. Called when no more updates follow. */
    flush: startPendingCalls,
  };
}

/** Merges an update into a call: fields that the update omits stay, and terminal output is appended. */
function mergeCalls(known: AcpToolCall | undefined, update: AcpToolCall): AcpToolCall {
  const present = Object.fromEntries(Object.entries(update).filter(([, value]) => value !== null && value !== undefined));
  const merged: AcpToolCall = { ...known, ...present, toolCallId: update.toolCallId };
  const terminal = readTerminalOutput(known) + readTerminalOutput(update);
  return {
    ...merged,
    _meta: { ...known?._meta, ...update._meta, ...(terminal === "" ? {} : { terminal_output_delta: { data: terminal } }) },
  };
}

function hasInput({ rawInput }: AcpToolCall): boolean {
  if (rawInput === undefined || rawInput === null) return false;
  return typeof rawInput !== "object" || Object.keys(rawInput).length > 0;
}

function inputOf(call: AcpToolCall): unknown {
  if (hasInput(call)) return call.rawInput;
  return call.title === undefined || call.title === null ? {} : { title: call.title };
}

/** Returns the first of these that exists: the raw output, the content that the agent shows, the terminal output; otherwise null. */
function outputOf(call: AcpToolCall): unknown {
  if (call.rawOutput !== undefined && call.rawOutput !== null) return call.rawOutput;
  // Bridge offers no terminals, so a reference to one has no content.
  const shown = (call.content ?? []).filter(({ type }) => type !== "terminal");
  if (shown.length === 0) return call._meta?.["terminal_exit"] === undefined ? readTerminalOutput(call) || null : readTerminalOutput(call);
  const texts = shown.map(textOf);
  return texts.every((text) => text !== null) ? texts.join("\n") : shown;
}

function textOf({ type, content }: Record<string, unknown>): string | null {
  const text = type === "content" ? (content as { text?: unknown } | undefined)?.text : undefined;
  return typeof text === "string" ? text : null;
}

function readTerminalOutput(call: AcpToolCall | undefined): string {
  const data = (call?._meta?.["terminal_output_delta"] as { data?: unknown } | undefined)?.data;
  return typeof data === "string" ? data : "";
}
