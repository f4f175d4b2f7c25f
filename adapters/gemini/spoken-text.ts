/** The text since the last tool, and when it was said: which of it was thrown away is known only after the end of the task. */
export interface SpokenText {
  /** `at` in ms since the epoch. */
  say(text: string, at: number): void;
  /** A tool was used: what was said before is not part of the answer. */
  clear(): void;
  /** What was said at this time or later. */
  since(time: number): string;
}

/** Begins to note the text of one task. */
export function createSpokenText(): SpokenText {
  let pieces: { text: string; at: number }[] = [];
  return {
    say: (text, at) => void pieces.push({ text, at }),
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
