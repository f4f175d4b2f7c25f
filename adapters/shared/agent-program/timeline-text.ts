import type { ExecutionEventListener } from "#contract";
import { measureEncodedSize } from "../process/encoded-size.ts";
import { createSurrogateJoiner } from "../process/surrogate-joiner.ts";
import { createTextLimit } from "../process/text-limit.ts";

/** Options of the text of a timeline. */
export interface TimelineTextOptions {
  /** False: text is only collected for the answer, and no text event is emitted. */
  streaming: boolean;
  /** Maximum text, in bytes as JSON encodes it. */
  maxBytes?: number;
  /** Called once, when the text exceeds `maxBytes`. */
  onTooLong?(): void;
  /** Receives the text that is not emitted because the runtime does not stream. */
  onUnstreamedText?(text: string): void;
}

/** Collects the text of a task's answer and emits its text events. Discards text that the runtime withdraws or replaces later. */
export function createTimelineText(
  taskId: string,
  emit: ExecutionEventListener,
  { streaming, maxBytes = Number.POSITIVE_INFINITY, onTooLong, onUnstreamedText }: TimelineTextOptions,
) {
  let answer = "";
  /** Text from before a tool call that ended late. It is the answer if no text follows. */
  let answerBeforeLateEnd = "";
  /** Length of the part of the answer that `discard` keeps. */
  let keptLength = 0;
  const isWithinLimit = createTextLimit(maxBytes);
  let isTooLong = false;
  const surrogates = createSurrogateJoiner();
  let closed = false;

  const current = (): string => (answer === "" ? answerBeforeLateEnd : answer);

  /** `isRepeated`: the runtime has reported the text before, so that it is in the conversation. */
  function appendWhole(text: string, isRepeated = false): void {
    const whole = text.toWellFormed();
    if (whole === "" || closed || isTooLong) return;
    if (!isWithinLimit(measureEncodedSize(whole))) {
      isTooLong = true;
      onTooLong?.();
      return;
    }
    answer += whole;
    if (streaming) emit({ type: "assistant.text", taskId, data: { content: whole } });
    else if (!isRepeated) onUnstreamedText?.(whole);
  }

  const flush = (): void => appendWhole(surrogates.take());

  function discard(reason: string): void {
    surrogates.take();
    if (closed || answer.length === keptLength) return;
    answer = answer.slice(0, keptLength);
    if (!streaming) return;
    emit({ type: "assistant.text_discarded", taskId, data: { reason } });
    // The event withdraws all text since the last tool call, so the kept part is emitted again.
    if (answer !== "") emit({ type: "assistant.text", taskId, data: { content: answer } });
  }

  function settle(reported: string): void {
    flush();
    const whole = reported.toWellFormed();
    if (whole === current()) return;
    // Text before the late end of a tool call is the answer only if no other text follows.
    if (answer === "" && answerBeforeLateEnd !== "" && streaming)
      emit({ type: "assistant.text_discarded", taskId, data: { reason: OTHER_ANSWER } });
    answerBeforeLateEnd = "";
    if (!whole.startsWith(answer)) {
      keptLength = 0;
      discard(OTHER_ANSWER);
    }
    appendWhole(whole.slice(answer.length), true);
  }

  function restart(before: string): void {
    if (closed) return;
    [answerBeforeLateEnd, answer, keptLength] = [before, "", 0];
  }

  return {
    /** Appends text. The first half of a surrogate pair waits for the second. */
    append: (text: string): void => appendWhole(surrogates.join(text)),
    /** Emits an unpaired surrogate as U+FFFD, as a decoder would. */
    flush,
    /** Starts a new answer: the text so far preceded a tool call. */
    restart: (): void => restart(""),
    /** Starts a new answer after the late end of a tool call. The text so far remains the answer if no text follows. */
    restartAfterLateEnd: (): void => restart(current()),
    /** Marks the end of a message: a later `discard` keeps the text so far. */
    keep(): void {
      keptLength = answer.length;
    },
    /** Withdraws the text of the current message, for example because the runtime's stream broke. */
    discard,
    /** Sets the whole answer that the runtime reports: discards streamed text that does not match its beginning and appends the rest. */
    settle,
    /** Checks the last part of the answer that the runtime reports: if the text does not end with it, it becomes the answer. */
    confirmLastPart(lastPart: string): void {
      flush();
      if (!current().trimEnd().endsWith(lastPart.toWellFormed().trim())) settle(lastPart);
    },
    /** Returns the text after the last tool call, without discarded text. */
    current,
    isTooLong: (): boolean => isTooLong,
    /** Ignores further text. */
    close(): void {
      closed = true;
    },
  };
}

const OTHER_ANSWER = "The runtime reports another answer.";
