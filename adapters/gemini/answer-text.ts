/** The text since the last tool, with times. Which part was discarded is known only after the end of the task. */
export interface SpokenText {
  /** `at` in ms since the epoch. */
  say(text: string, at: number): void;
  /** Reports that a tool was used: earlier text is not part of the answer. */
  clear(): void;
  /** The text from this time on. */
  since(time: number): string;
}

/** Creates the recorder for the text of one task. */
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
