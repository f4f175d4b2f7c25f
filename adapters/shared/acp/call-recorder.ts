import type { ApprovalQuestion } from "#contract";
import type { TaskTimeline } from "../agent-program/task-timeline.ts";
import type { AcpProfile } from "./acp-profile.ts";
import type { AcpToolCall } from "./read-update.ts";

/** Creates the part of a session's recorder that collects the updates of each tool call and writes the call to the timeline. */
export function createCallRecorder(
  timeline: Pick<TaskTimeline, "startTool" | "finishTool">,
  profile: Pick<AcpProfile, "toolName" | "toolInput">,
  { onStart }: { onStart(): void },
) {
  /** Open calls, and whether the timeline has started them. */
  const calls = new Map<string, { call: AcpToolCall; isStarted: boolean }>();
  const toolNames = new Set<string>();

  const merge = (update: AcpToolCall): AcpToolCall => {
    const known = calls.get(update.toolCallId);
    const call = mergeCalls(known?.call, update);
    calls.set(update.toolCallId, { call, isStarted: known?.isStarted ?? false });
    return call;
  };
  const startMerged = (call: AcpToolCall): Omit<ApprovalQuestion, "taskId"> => {
    const { toolCallId } = call;
    const toolName = profile.toolName?.(call) ?? call.name ?? call.kind ?? "tool";
    const input = profile.toolInput?.(call) ?? inputOf(call);
    calls.set(toolCallId, { call, isStarted: true });
    toolNames.add(toolName);
    onStart();
    timeline.startTool(toolCallId, toolName, input);
    return { toolCallId, toolName, input };
  };
  const finish = (toolCallId: string, output: unknown, isError: boolean): void => {
    timeline.finishTool(toolCallId, output, isError);
    calls.delete(toolCallId);
  };

  return {
    /** Records an update of a call. The input of a pending call can still grow, and the timeline emits a start only once. */
    record(update: AcpToolCall): void {
      const call = merge(update);
      const done = call.status === "completed" || call.status === "failed";
      if (call.status !== undefined && call.status !== null && call.status !== "pending") startMerged(call);
      if (done) finish(call.toolCallId, outputOf(call), call.status === "failed");
    },
    /** Starts a call after this update, even if it is pending. */
    start: (update: AcpToolCall) => startMerged(merge(update)),
    /** Starts the calls that are still pending. */
    startPending(): void {
      for (const { call, isStarted } of calls.values()) if (!isStarted) startMerged(call);
    },
    finish,
    /** The kind of an open call; empty if it is unknown. */
    kindOf: (toolCallId: string): string => calls.get(toolCallId)?.call.kind ?? "",
    /** The names of all started tools. */
    toolNames: toolNames as ReadonlySet<string>,
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
