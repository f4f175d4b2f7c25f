/** Text since the last tool call, with times. The telemetry log shows only after the task which part of it Gemini discarded. */
export interface AnswerText {
  /** Adds text that arrived at this time, in ms since the epoch. */
  add(text: string, at: number): void;
  /** Removes the text so far, because text before a tool call is not part of the answer. */
  clear(): void;
  /** Returns the text that arrived at this time or later. */
  since(time: number): string;
}

/** Creates the recorder for the answer of one task. */
export function createAnswerText(): AnswerText {
  let pieces: { text: string; at: number }[] = [];
  return {
    add: (text, at) => void pieces.push({ text, at }),
    clear() {
      pieces = [];
    },
    since: (time) =>
      pieces
        .filter(({ at }) => at >= time)
        .map(({ text }) => text)
        .join(""),
  };
}
