import { randomUUID } from "node:crypto";
import type { TaskTimeline } from "../agent-program/task-timeline.ts";
import type { OpenCall } from "./open-calls.ts";

/** How long the program must write nothing before Bridge ends its turn. Tools of one answer start one after another, and some programs do not report them in advance. */
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

/** The answer for a program that waits for a result before it continues. */
const pending: CallAnswer = {
  text: "The result of this call is not available yet. It follows in the next message. End your turn now, without further tool calls.",
  isError: false,
};
const tooMuch: CallAnswer = {
  text: `The call was rejected: a task is limited to ${MAX_CALLS} calls and ${MAX_INPUT_BYTES / 1024 ** 2} MiB of input.`,
  isError: true,
};

/** Collects the calls of declared tools, and ends the program's turn after them. */
export interface CallGate {
  /** The event log for the program. It drops the program's own events of declared tools, because the gate emits them. */
  timeline: TaskTimeline;
  /** Records a call. Resolves when the program needs an answer to continue, or when the gate closes. */
  call(toolName: string, input: unknown): Promise<CallAnswer>;
  /** Reports that the program has written something. */
  noteOutput(): void;
  /** Aborted when the turn must end. */
  turnOver: AbortSignal;
  /** All calls so far, in their order. */
  readonly calls: readonly OpenCall[];
  close(): void;
}

/**
 * Opens the gate of one task. A call gets no result, so that the program does not ask its model to go on. When it is silent, and no other tool of the
 * turn is running, the turn is over. `isDeclared` recognizes the program's own names of the declared tools.
 */
export function createCallGate(timeline: TaskTimeline, isDeclared: (toolName: string) => boolean): CallGate {
  const turn = new AbortController();
  const calls: OpenCall[] = [];
  const held = new Set<(answer: CallAnswer) => void>();
  /** Running tools, by the program's ids: other tools, and calls of declared tools that the program has reported. */
  const others = new Set<string>();
  const announced = new Map<string, "open" | "done">();
  let inputBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** True if something other than the held calls is running or about to start. */
  const isBusy = (): boolean => others.size > 0 || [...announced.values()].filter((state) => state === "open").length > held.size;

  const consider = (): void => {
    clearTimeout(timer);
    if (calls.length === 0 || isClosed || turn.signal.aborted) return;
    timer = isBusy() ? setTimeout(release, BLOCKED_MS) : setTimeout(() => turn.abort(), SETTLE_MS);
  };
  const release = (): void => {
    const open = [...announced].filter(([, state]) => state === "open");
    for (const [toolCallId] of open.slice(0, held.size)) announced.set(toolCallId, "done");
    for (const answer of held) answer(pending);
    held.clear();
  };

  return {
    timeline: {
      appendText(text) {
        // Text that a program writes about its interruption is not part of the answer.
        if (!turn.signal.aborted) timeline.appendText(text);
      },
      startTool(toolCallId, toolName, input) {
        if (isDeclared(toolName)) {
          if (!announced.has(toolCallId)) announced.set(toolCallId, "open");
        } else {
          others.add(toolCallId);
          timeline.startTool(toolCallId, toolName, input);
        }
        consider();
      },
      finishTool(toolCallId, output, isError, toolName) {
        if (announced.has(toolCallId) || (toolName !== undefined && isDeclared(toolName))) announced.set(toolCallId, "done");
        else {
          others.delete(toolCallId);
          timeline.finishTool(toolCallId, output, isError, toolName);
        }
        consider();
      },
      leaveToolOpen(toolCallId) {
        others.delete(toolCallId);
        timeline.leaveToolOpen(toolCallId);
        consider();
      },
      reportProgress: (data) => timeline.reportProgress(data),
      keepText: () => timeline.keepText(),
      discardText(reason) {
        if (!turn.signal.aborted) timeline.discardText(reason);
      },
      settleAnswer(answer) {
        if (!turn.signal.aborted) timeline.settleAnswer(answer);
      },
      confirmLastPart(lastPart) {
        if (!turn.signal.aborted) timeline.confirmLastPart(lastPart);
      },
      get answer() {
        return timeline.answer;
      },
      get hasTools() {
        return timeline.hasTools;
      },
      get isTooLong() {
        return timeline.isTooLong;
      },
      close: () => timeline.close(),
    },

    call(toolName, input) {
      if (isClosed) return Promise.resolve(pending);
      const { promise, resolve } = Promise.withResolvers<CallAnswer>();
      // When it is stopped, Claude Code repeats the waiting calls. These get no answer either.
      const isRepeated = turn.signal.aborted;
      if (!isRepeated) {
        inputBytes += Buffer.byteLength(JSON.stringify(input));
        if (calls.length >= MAX_CALLS || inputBytes > MAX_INPUT_BYTES) return Promise.resolve(tooMuch);
        const toolCallId = `call_${randomUUID().replaceAll("-", "")}`;
        calls.push({ toolCallId, toolName, input });
        timeline.startTool(toolCallId, toolName, input);
      }
      held.add(resolve);
      consider();
      return promise;
    },
    noteOutput: consider,
    turnOver: turn.signal,
    calls,
    close() {
      isClosed = true;
      clearTimeout(timer);
      release();
    },
  };
}
