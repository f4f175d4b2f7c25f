/**
 * Text since the last tool call, with its arrival times. They are needed because only the telemetry log shows which part of the text Gemini
 * discarded, and Bridge reads this log after the task.
 */
export interface AnswerText {
  /** Adds text that arrived at this time, in ms since the epoch. */
  add(text: string, arrivedAt: number): void;
  /** Removes the text so far, because text before a tool call is not part of the answer. */
  clear(): void;
  /** Returns the text that arrived at this time or later. */
  getTextSince(time: number): string;
}

/** Creates the recorder for the answer of one task. */
export function createAnswerText(): AnswerText {
  let pieces: { text: string; arrivedAt: number }[] = [];
  return {
    add: (text, arrivedAt) => void pieces.push({ text, arrivedAt }),
    clear() {
      pieces = [];
    },
    getTextSince: (time) =>
      pieces
        .filter(({ arrivedAt }) => arrivedAt >= time)
        .map(({ text }) => text)
        .join(""),
  };
}
