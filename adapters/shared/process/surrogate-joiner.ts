/** Joins surrogate pairs that a program has split between two deltas of text: holds the first half back until more text arrives. */
export function createSurrogateJoiner() {
  let highSurrogate = "";

  /** Returns the half that is held back, or an empty text. */
  function take(): string {
    const half = highSurrogate;
    highSurrogate = "";
    return half;
  }

  return {
    /** Returns the text that precedes a first half at the end, after the half that was held back before. */
    join(delta: string): string {
      const text = take() + delta;
      highSurrogate = /[\ud800-\udbff]$/.exec(text)?.[0] ?? "";
      return text.slice(0, text.length - highSurrogate.length);
    },
    take,
  };
}
