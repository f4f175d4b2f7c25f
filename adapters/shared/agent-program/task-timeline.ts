import type { AdapterEvent, ExecutionEventListener } from "#contract";
import { encodedSize } from "../process/encoded-size.ts";
import { createTextLimit } from "../process/text-limit.ts";

/** Emits the events of one task in a valid order, even if the runtime repeats, omits or contradicts its own reports. */
export interface TaskTimeline {
  /** Appends text to the answer. */
  appendText(text: string): void;
  /** Emits the start of a tool call. Ignored if the id is known. */
  startTool(toolCallId: string, toolName: string, input: unknown): void;
  /**
   * Emits the end of a tool call. Only the first end counts. An unknown call is started first, with the given name; it
   * did not run, so the answer stays.
   */
  finishTool(toolCallId: string, output: unknown, isError: boolean, toolName?: string): void;
  /** Leaves a call without an end, because the caller executes it after the task. */
  leaveToolOpen(toolCallId: string): void;
  reportProgress(data: Record<string, unknown>): void;
  /** Marks the end of a message: a later `discardText` keeps the text so far. */
  keepText(): void;
  /** Withdraws the text of the current message, for example because the runtime's stream broke. */
  discardText(reason: string): void;
  /** Sets the whole answer that the runtime reports: discards streamed text that does not match its beginning and appends the rest. */
  settleAnswer(answer: string): void;
  /** Checks the last part of the answer that the runtime reports: if the text does not end with it, it becomes the answer. */
  confirmLastPart(lastPart: string): void;
  /** The text after the last tool call, without discarded text. */
  readonly answer: string;
  /** True if a tool call was started. */
  readonly hasTools: boolean;
  /** True if the text exceeded its limit. */
  readonly isTooLong: boolean;
  /** Finishes open tool calls as errors. Emits nothing afterwards. */
  close(): void;
}

/** Options of a timeline. */
export interface TimelineOptions {
  /** False: text is only collected for the answer, and no text event is emitted. */
  streaming: boolean;
  /** Maximum text, in bytes as JSON encodes it. */
  maxBytes?: number;
  /** Called once, when the text exceeds `maxBytes`. */
  onTooLong?(): void;
  /** Receives the text that is not emitted because the runtime does not stream. */
  onUnstreamedText?(text: string): void;
}

/** Creates the timeline of a task. */
export function createTaskTimeline(
  taskId: string,
  emit: ExecutionEventListener,
  { streaming, maxBytes = Number.POSITIVE_INFINITY, onTooLong, onUnstreamedText }: TimelineOptions,
): TaskTimeline {
  const tools = new Map<string, { name: string; open: boolean }>();
  let answer = "";
  /** Text from before a tool call that ended late. It is the answer if no text follows. */
  let answerBeforeLateEnd = "";
  /** Length of the part of the answer that `discardText` keeps. */
  let keptLength = 0;
  const isWithinLimit = createTextLimit(maxBytes);
  let isTooLong = false;
  /** The high surrogate of a pair whose low surrogate has not arrived yet. */
  let highSurrogate = "";
  let closed = false;

  const emitIfOpen = (event: AdapterEvent): void => {
    if (!closed) emit(event);
  };
  /** `isRepeated`: the runtime has reported the text before, so that it is in the conversation. */
  const appendWhole = (text: string, isRepeated = false): void => {
    const whole = text.toWellFormed();
    if (whole === "" || closed || isTooLong) return;
    if (!isWithinLimit(encodedSize(whole))) {
      isTooLong = true;
      onTooLong?.();
      return;
    }
    answer += whole;
    if (streaming) emitIfOpen({ type: "assistant.text", taskId, data: { content: whole } });
    else if (!isRepeated) onUnstreamedText?.(whole);
  };
  /** Emits an unpaired surrogate as U+FFFD, as a decoder would. */
  const flushSurrogate = (): void => {
    appendWhole(highSurrogate);
    highSurrogate = "";
  };
  const currentAnswer = (): string => (answer === "" ? answerBeforeLateEnd : answer);
  const restartAnswer = (before: string): void => {
    if (closed) return;
    [answerBeforeLateEnd, answer, keptLength] = [before, "", 0];
  };
  const discardText: TaskTimeline["discardText"] = (reason) => {
    highSurrogate = "";
    if (closed || answer.length === keptLength) return;
    answer = answer.slice(0, keptLength);
    if (!streaming) return;
    emitIfOpen({ type: "assistant.text_discarded", taskId, data: { reason } });
    // The event withdraws all text since the last tool call, so the kept part is emitted again.
    if (answer !== "") emitIfOpen({ type: "assistant.text", taskId, data: { content: answer } });
  };
  const settleAnswer: TaskTimeline["settleAnswer"] = (reported) => {
    flushSurrogate();
    const whole = reported.toWellFormed();
    if (whole === currentAnswer()) return;
    // Text before the late end of a tool call is the answer only if no other text follows.
    if (answer === "" && answerBeforeLateEnd !== "" && streaming)
      emitIfOpen({ type: "assistant.text_discarded", taskId, data: { reason: OTHER_ANSWER } });
    answerBeforeLateEnd = "";
    if (!whole.startsWith(answer)) {
      keptLength = 0;
      discardText(OTHER_ANSWER);
    }
    appendWhole(whole.slice(answer.length), true);
  };

  const emitStart = (toolCallId: string, toolName: string, input: unknown): void => {
    tools.set(toolCallId, { name: toolName, open: true });
    emitIfOpen({ type: "tool.invoked", taskId, data: { toolCallId, toolName, input: input ?? {} } });
  };
  const finishTool: TaskTimeline["finishTool"] = (toolCallId, output, isError, toolName = "unknown") => {
    flushSurrogate();
    if (!tools.has(toolCallId)) emitStart(toolCallId, toolName, {});
    const tool = tools.get(toolCallId);
    if (tool === undefined || !tool.open) return;
    tool.open = false;
    restartAnswer(currentAnswer());
    emitIfOpen({ type: "tool.completed", taskId, data: { toolCallId, toolName: tool.name, output: output ?? null, isError } });
  };

  return {
    appendText(text) {
      const all = highSurrogate + text;
      highSurrogate = /[\ud800-\udbff]$/.exec(all)?.[0] ?? "";
      appendWhole(highSurrogate === "" ? all : all.slice(0, -1));
    },
    startTool(toolCallId, toolName, input) {
      if (tools.has(toolCallId)) return;
      flushSurrogate();
      restartAnswer("");
      emitStart(toolCallId, toolName, input);
    },
    finishTool,
    leaveToolOpen(toolCallId) {
      const tool = tools.get(toolCallId);
      if (tool !== undefined) tool.open = false;
    },
    reportProgress: (data) => emitIfOpen({ type: "execution.progress", taskId, data }),
    keepText() {
      keptLength = answer.length;
    },
    discardText,
    settleAnswer,
    confirmLastPart(lastPart) {
      flushSurrogate();
      if (!currentAnswer().trimEnd().endsWith(lastPart.toWellFormed().trim())) settleAnswer(lastPart);
    },
    get answer() {
      return currentAnswer();
    },
    get hasTools() {
      return tools.size > 0;
    },
    get isTooLong() {
      return isTooLong;
    },
    close() {
      if (closed) return;
      flushSurrogate();
      for (const [toolCallId, { open }] of tools) if (open) finishTool(toolCallId, NO_REPORTED_END, true);
      closed = true;
    },
  };
}

const OTHER_ANSWER = "The runtime reports another answer.";
const NO_REPORTED_END = "The runtime did not report how this call ended.";
