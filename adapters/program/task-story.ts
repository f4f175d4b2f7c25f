import type { AdapterEvent, ExecutionEventListener } from "#contract";
import { encodedSize } from "../process/encoded-size.ts";
import { createTextLimit } from "../process/text-limit.ts";

/** Tells what happens in one task, in events that keep the contract whatever the runtime repeats, forgets or says twice. */
export interface TaskStory {
  /** The next piece of text. */
  say(text: string): void;
  /** A tool is about to work; a repetition of its id is not told again. */
  invokeTool(toolCallId: string, toolName: string, input: unknown): void;
  /** A tool is done; only the first time counts. A tool nobody has seen before is invoked first, with the name given. */
  completeTool(toolCallId: string, output: unknown, isError: boolean, toolName?: string): void;
  /** The tool is somebody else's to work, after the task: its call stays without an end. */
  leaveTool(toolCallId: string): void;
  progress(data: Record<string, unknown>): void;
  /** The runtime's answer: what it said after its last tool. */
  readonly answer: string;
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
  const isWithinLimit = createTextLimit(maxBytes);
  let isTooLong = false;
  /** The first half of a character whose second half has not come yet. */
  let half = "";
  let closed = false;

  const tell = (event: AdapterEvent): void => {
    if (!closed) emit(event);
  };
  const sayWhole = (text: string): void => {
    const whole = text.toWellFormed();
    if (whole === "" || closed || isTooLong) return;
    if (!isWithinLimit(encodedSize(whole))) {
      isTooLong = true;
      onTooLong?.();
      return;
    }
    answer += whole;
    if (streaming) tell({ type: "assistant.text", taskId, data: { content: whole } });
    else onUntold?.(whole);
  };
  /** What never became a character is told as U+FFFD, as any decoder would. */
  const sayHalf = (): void => {
    sayWhole(half);
    half = "";
  };
  const beginAnswer = (): void => {
    sayHalf();
    if (!closed) answer = "";
  };

  const complete: TaskStory["completeTool"] = (toolCallId, output, isError, toolName = "unknown") => {
    if (!tools.has(toolCallId)) invoke(toolCallId, toolName, {});
    const tool = tools.get(toolCallId);
    if (tool === undefined || !tool.open) return;
    tool.open = false;
    beginAnswer();
    tell({ type: "tool.completed", taskId, data: { toolCallId, toolName: tool.name, output: output ?? null, isError } });
  };
  const invoke: TaskStory["invokeTool"] = (toolCallId, toolName, input) => {
    if (tools.has(toolCallId)) return;
    tools.set(toolCallId, { name: toolName, open: true });
    beginAnswer();
    tell({ type: "tool.invoked", taskId, data: { toolCallId, toolName, input: input ?? {} } });
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
    get answer() {
      return answer;
    },
    close() {
      if (closed) return;
      sayHalf();
      const said = answer;
      for (const [toolCallId, { open }] of tools) if (open) complete(toolCallId, "The runtime did not say how this ended.", true);
      // What was said after a tool that never ended is the answer all the same.
      answer = said;
      closed = true;
    },
  };
}
