import { randomUUID } from "node:crypto";
import type { TaskTimeline } from "../agent-program/task-timeline.ts";
import type { OpenCall } from "./open-calls.ts";

/**
 * How long the program must be silent before Bridge ends its turn. The tools of one answer start one after another, and
 * some programs do not announce them.
 */
const SETTLE_MS = 600;
/** How long a call waits for other tools of its answer. Some programs do not start them until the call has a result. */
const BLOCKED_MS = 1_500;
/** Limits on all calls of one task together, because they are stored with its result. */
const MAX_CALLS = 100;
const MAX_INPUT_BYTES = 8 * 1024 ** 2;

/** The answer that a program receives for a call. */
export interface CallAnswer {
  text: string;
  isError: boolean;
}

/** The part of a timeline that records tool calls. */
type ToolEvents = Pick<TaskTimeline, "startTool" | "finishTool" | "leaveToolOpen">;

/** The answer for a program that waits for a result before it continues. */
const PENDING: CallAnswer = {
  text: "The result of this call is not available yet. It follows in the next message. End your turn now, without further tool calls.",
  isError: false,
};
const LIMIT_EXCEEDED: CallAnswer = {
  text: `The call was rejected: a task is limited to ${MAX_CALLS} calls and ${MAX_INPUT_BYTES / 1024 ** 2} MiB of input.`,
  isError: true,
};

/**
 * Collects the calls of declared tools of one task, and ends the program's turn after them. A call gets no result, so
 * that the program does not call its model again. When the program is silent and no other tool of the turn is
 * running, the turn is over. `isDeclared` takes a tool name in the form that the program reports.
 */
export function createCallGate(timeline: TaskTimeline, isDeclared: (toolName: string) => boolean) {
  const turn = new AbortController();
  const calls: OpenCall[] = [];
  const waiting = new Set<(answer: CallAnswer) => void>();
  /** Running tools that are not declared, by the program's ids. */
  const otherTools = new Set<string>();
  /** Calls of declared tools that the program has reported, by the program's ids. */
  const reported = new Map<string, "open" | "done">();
  let inputBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** Returns whether something other than the waiting calls is running or about to start. */
  const isBusy = (): boolean => otherTools.size > 0 || [...reported.values()].filter((state) => state === "open").length > waiting.size;

  const restartTimer = (): void => {
    clearTimeout(timer);
    if (calls.length === 0 || isClosed || turn.signal.aborted) return;
    timer = isBusy() ? setTimeout(release, BLOCKED_MS) : setTimeout(() => turn.abort(), SETTLE_MS);
  };
  /** Answers all waiting calls, so that the program continues. */
  const release = (): void => {
    const open = [...reported].filter(([, state]) => state === "open");
    for (const [toolCallId] of open.slice(0, waiting.size)) reported.set(toolCallId, "done");
    for (const answer of waiting) answer(PENDING);
    waiting.clear();
  };

  /** Drops the program's own events of declared tools, because `call` emits them. */
  const tools: ToolEvents = {
    startTool(toolCallId, toolName, input) {
      if (isDeclared(toolName)) {
        if (!reported.has(toolCallId)) reported.set(toolCallId, "open");
      } else {
        otherTools.add(toolCallId);
        timeline.startTool(toolCallId, toolName, input);
      }
      restartTimer();
    },
    finishTool(toolCallId, output, isError, toolName) {
      if (reported.has(toolCallId) || (toolName !== undefined && isDeclared(toolName))) reported.set(toolCallId, "done");
      else {
        otherTools.delete(toolCallId);
        timeline.finishTool(toolCallId, output, isError, toolName);
      }
      restartTimer();
    },
    leaveToolOpen(toolCallId) {
      otherTools.delete(toolCallId);
      timeline.leaveToolOpen(toolCallId);
      restartTimer();
    },
  };

  return {
    /** The timeline for the program. */
    timeline: createTurnTimeline(timeline, tools, turn.signal),
    /** Records a call. Resolves when the program needs an answer to continue, or when the gate closes. */
    call(toolName: string, input: unknown): Promise<CallAnswer> {
      if (isClosed) return Promise.resolve(PENDING);
      const { promise, resolve } = Promise.withResolvers<CallAnswer>();
      // Claude Code repeats its waiting calls when it is stopped. The repeated calls get no answer either.
      const isRepeated = turn.signal.aborted;
      if (!isRepeated) {
        inputBytes += Buffer.byteLength(JSON.stringify(input));
        if (calls.length >= MAX_CALLS || inputBytes > MAX_INPUT_BYTES) return Promise.resolve(LIMIT_EXCEEDED);
        const toolCallId = `call_${randomUUID().replaceAll("-", "")}`;
        calls.push({ toolCallId, toolName, input });
        timeline.startTool(toolCallId, toolName, input);
      }
      waiting.add(resolve);
      restartTimer();
      return promise;
    },
    /** Called when the program writes something. */
    noteOutput: restartTimer,
    /** Aborted when the turn must end. */
    turnOver: turn.signal,
    /** All calls so far, in their order. */
    calls: calls as readonly OpenCall[],
    close(): void {
      isClosed = true;
      clearTimeout(timer);
      release();
    },
  };
}

/** Returns the timeline of one turn. Text that a program writes about its interruption is not part of the answer. */
function createTurnTimeline(timeline: TaskTimeline, tools: ToolEvents, turnOver: AbortSignal): TaskTimeline {
  return {
    ...tools,
    appendText(text) {
      if (!turnOver.aborted) timeline.appendText(text);
    },
    discardText(reason) {
      if (!turnOver.aborted) timeline.discardText(reason);
    },
    settleAnswer(answer) {
      if (!turnOver.aborted) timeline.settleAnswer(answer);
    },
    confirmLastPart(lastPart) {
      if (!turnOver.aborted) timeline.confirmLastPart(lastPart);
    },
    reportProgress: (data) => timeline.reportProgress(data),
    reportUsage: (data) => timeline.reportUsage(data),
    keepText: () => timeline.keepText(),
    get answer() {
      return timeline.answer;
    },
    get hasTools() {
      return timeline.hasTools;
    },
    get hasOpenTools() {
      return timeline.hasOpenTools;
    },
    get isTooLong() {
      return timeline.isTooLong;
    },
    close: () => timeline.close(),
  };
}
