import type { AdapterEvent, ExecutionEventListener } from "#contract";
import { encodedSize } from "../process/encoded-size.ts";
import { createTextLimit } from "../process/text-limit.ts";

/** Tells what happens in one task, in events that keep the contract whatever the runtime repeats, forgets or says twice. */
export interface TaskStory {
  /** The next piece of text. */
  say(text: string): void;
  /** A tool is about to work; a repetition of its id is not told again. */
  invokeTool(toolCallId: string, toolName: string, input: unknown): void;
  /** A tool is done; only the first time counts. A tool nobody has seen before is invoked first, with the name given, and did not run: the answer stays. */
  completeTool(toolCallId: string, output: unknown, isError: boolean, toolName?: string): void;
  /** The tool is somebody else's to work, after the task: its call stays without an end. */
  leaveTool(toolCallId: string): void;
  progress(data: Record<string, unknown>): void;
  /** The text so far belongs to a message that has come to its end: a later discard leaves it. */
  keep(): void;
  /** The runtime has thrown away the text of an unfinished message, for example because its stream broke. */
  discard(reason: string): void;
  /** The runtime reports its whole answer: streamed text that does not begin it is discarded, and what is missing is said. */
  settle(answer: string): void;
  /** The runtime repeats the last part of its answer: text that does not end so is discarded for it. */
  confirm(lastPart: string): void;
  /** The runtime's answer: what it said after its last tool, without what was discarded. */
  readonly answer: string;
  /** Whether a tool was invoked. */
  readonly hasTools: boolean;
  /** Whether the text exceeded its limit. */
  readonly isTooLong: boolean;
  /** Tools that the runtime has left without an end are completed as errors; nothing is told from then on. */
  close(): void;
}

/** How a story is told. */
export interface StoryOptions {
  /** Without it no text is told: it is only collected. */
  streaming: boolean;
  /** Maximum text, in bytes as JSON encodes it. */
  maxBytes?: number;
  /** Called once, when there is more. */
  onTooLong?(): void;
  /** Gets each text that is not told, because the runtime does not stream. */
  onUntold?(text: string): void;
}

/** Begins the story of a task. */
export function createTaskStory(
  taskId: string,
  emit: ExecutionEventListener,
  { streaming, maxBytes = Number.POSITIVE_INFINITY, onTooLong, onUntold }: StoryOptions,
): TaskStory {
  const tools = new Map<string, { name: string; open: boolean }>();
  let answer = "";
  /** What was said before the end of a tool that came late: the answer, if nothing follows. */
  let beforeLateEnd = "";
  /** Length of the part of the answer that is kept. */
  let kept = 0;
  const isWithinLimit = createTextLimit(maxBytes);
  let isTooLong = false;
  /** The first half of a character whose second half has not come yet. */
  let half = "";
  let closed = false;

  const tell = (event: AdapterEvent): void => {
    if (!closed) emit(event);
  };
  /** `isRepeated`: the runtime has reported the text before, so that it is in the conversation. */
  const sayWhole = (text: string, isRepeated = false): void => {
    const whole = text.toWellFormed();
    if (whole === "" || closed || isTooLong) return;
    if (!isWithinLimit(encodedSize(whole))) {
      isTooLong = true;
      onTooLong?.();
      return;
    }
    answer += whole;
    if (streaming) tell({ type: "assistant.text", taskId, data: { content: whole } });
    else if (!isRepeated) onUntold?.(whole);
  };
  /** What never became a character is told as U+FFFD, as any decoder would. */
  const sayHalf = (): void => {
    sayWhole(half);
    half = "";
  };
  const currentAnswer = (): string => (answer === "" ? beforeLateEnd : answer);
  const beginAnswer = (before: string): void => {
    if (closed) return;
    [beforeLateEnd, answer, kept] = [before, "", 0];
  };
  const discard: TaskStory["discard"] = (reason) => {
    half = "";
    if (closed || answer.length === kept) return;
    answer = answer.slice(0, kept);
    if (!streaming) return;
    tell({ type: "assistant.text_discarded", taskId, data: { reason } });
    // The event withdraws all text since the last tool.
    if (answer !== "") tell({ type: "assistant.text", taskId, data: { content: answer } });
  };
  const settle: TaskStory["settle"] = (given) => {
    sayHalf();
    const whole = given.toWellFormed();
    if (whole === currentAnswer()) return;
    // Text before the late end of a tool is the answer only as long as no other follows.
    if (answer === "" && beforeLateEnd !== "" && streaming)
      tell({ type: "assistant.text_discarded", taskId, data: { reason: "The runtime reports another answer." } });
    beforeLateEnd = "";
    if (!whole.startsWith(answer)) {
      kept = 0;
      discard("The runtime reports another answer.");
    }
    sayWhole(whole.slice(answer.length), true);
  };

  const begin = (toolCallId: string, toolName: string, input: unknown): void => {
    tools.set(toolCallId, { name: toolName, open: true });
    tell({ type: "tool.invoked", taskId, data: { toolCallId, toolName, input: input ?? {} } });
  };
  const complete: TaskStory["completeTool"] = (toolCallId, output, isError, toolName = "unknown") => {
    sayHalf();
    if (!tools.has(toolCallId)) begin(toolCallId, toolName, {});
    const tool = tools.get(toolCallId);
    if (tool === undefined || !tool.open) return;
    tool.open = false;
    beginAnswer(currentAnswer());
    tell({ type: "tool.completed", taskId, data: { toolCallId, toolName: tool.name, output: output ?? null, isError } });
  };
  const invoke: TaskStory["invokeTool"] = (toolCallId, toolName, input) => {
    if (tools.has(toolCallId)) return;
    sayHalf();
    beginAnswer("");
    begin(toolCallId, toolName, input);
  };

  return {
    say(text) {
      const all = half + text;
      half = /[\ud800-\udbff]$/.exec(all)?.[0] ?? "";
      sayWhole(half === "" ? all : all.slice(0, -1));
    },
    invokeTool: invoke,
    completeTool: complete,
    leaveTool(toolCallId) {
      const tool = tools.get(toolCallId);
      if (tool !== undefined) tool.open = false;
    },
    progress: (data) => tell({ type: "execution.progress", taskId, data }),
    keep() {
      kept = answer.length;
    },
    discard,
    settle,
    confirm(lastPart) {
      sayHalf();
      if (!currentAnswer().trimEnd().endsWith(lastPart.toWellFormed().trim())) settle(lastPart);
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
      sayHalf();
      for (const [toolCallId, { open }] of tools) if (open) complete(toolCallId, "The runtime did not say how this ended.", true);
      closed = true;
    },
  };
}
