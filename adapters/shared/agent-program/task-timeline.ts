import type { AdapterEvent, ExecutionEventListener, UsageReport } from "#contract";
import { describeMedia } from "./describe-media.ts";
import { createTimelineText, type TimelineTextOptions } from "./timeline-text.ts";

/** The event log of one task, as its runtime reports it. */
export type TaskTimeline = ReturnType<typeof createTaskTimeline>;

/** Emits the events of one task in a valid order, even if the runtime repeats, omits or contradicts its own reports. */
export function createTaskTimeline(taskId: string, emit: ExecutionEventListener, options: TimelineTextOptions) {
  const tools = new Map<string, { name: string; open: boolean }>();
  let closed = false;
  const emitIfOpen = (event: AdapterEvent): void => {
    if (!closed) emit(event);
  };
  const text = createTimelineText(taskId, emitIfOpen, options);

  function emitStart(toolCallId: string, toolName: string, input: unknown): void {
    tools.set(toolCallId, { name: toolName, open: true });
    emitIfOpen({ type: "tool.invoked", taskId, data: { toolCallId, toolName, input: input ?? {} } });
  }

  function finishTool(toolCallId: string, output: unknown, isError: boolean, toolName = "unknown"): void {
    text.flush();
    if (!tools.has(toolCallId)) emitStart(toolCallId, toolName, {});
    const tool = tools.get(toolCallId);
    if (tool === undefined || !tool.open) return;
    tool.open = false;
    text.restartAfterLateEnd();
    emitIfOpen({
      type: "tool.completed",
      taskId,
      data: { toolCallId, toolName: tool.name, output: describeMedia(output) ?? null, isError },
    });
  }

  return {
    /** Appends text to the answer. */
    appendText: text.append,
    /** Emits the start of a tool call. Ignored if the id is known. */
    startTool(toolCallId: string, toolName: string, input: unknown): void {
      if (tools.has(toolCallId)) return;
      text.flush();
      text.restart();
      emitStart(toolCallId, toolName, input);
    },
    /**
     * Emits the end of a tool call. Only the first end counts. An unknown call is started first, with the given name; it
     * did not run, so the answer stays.
     */
    finishTool,
    /** Leaves a call without an end, because the caller executes it after the task. */
    leaveToolOpen(toolCallId: string): void {
      const tool = tools.get(toolCallId);
      if (tool !== undefined) tool.open = false;
    },
    reportProgress: (data: Record<string, unknown>): void => emitIfOpen({ type: "execution.progress", taskId, data }),
    /** Reports what one call of a model, or one step, has used. */
    reportUsage: (data: UsageReport): void => emitIfOpen({ type: "usage.reported", taskId, data }),
    /** Marks the end of a message: a later `discardText` keeps the text so far. */
    keepText: text.keep,
    /** Withdraws the text of the current message, for example because the runtime's stream broke. */
    discardText: text.discard,
    /** Sets the whole answer that the runtime reports: discards streamed text that does not match its beginning and appends the rest. */
    settleAnswer: text.settle,
    /** Compares the end of the answer with the last part that the runtime reports. If they differ, the last part becomes the answer. */
    confirmLastPart: text.confirmLastPart,
    /** The text after the last tool call, without discarded text. */
    get answer(): string {
      return text.current();
    },
    /** True if a tool call was started. */
    get hasTools(): boolean {
      return tools.size > 0;
    },
    /** True if a tool call has not ended. */
    get hasOpenTools(): boolean {
      return [...tools.values()].some(({ open }) => open);
    },
    /** True if the text exceeded its limit. */
    get isTooLong(): boolean {
      return text.isTooLong();
    },
    /** Finishes open tool calls as errors. Emits nothing afterwards. */
    close(): void {
      if (closed) return;
      text.flush();
      for (const [toolCallId, { open }] of tools) if (open) finishTool(toolCallId, NO_REPORTED_END, true);
      closed = true;
      text.close();
    },
  };
}

const NO_REPORTED_END = "The runtime did not report how this call ended.";
