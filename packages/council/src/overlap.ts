/** Texts that share more than this are about the same thing. */
export const SAME_OVER = 0.7;

/** Words of a text that are compared: a council compares each finding with each, and one may be long. */
const COMPARED_WORDS = 500;

/** The share of the shorter text's words that the other one has, too: 0 to 1. Case and punctuation do not count. */
export const overlap = (left: string, right: string): number => shareOf(wordsOf(left), wordsOf(right), 0);

/** The same, of words that were taken apart before; it stops counting once the share is `enough` or less. */
export function shareOf(a: ReadonlySet<string>, b: ReadonlySet<string>, enough: number): number {
  const [shorter, longer] = a.size <= b.size ? [a, b] : [b, a];
  if (shorter.size === 0) return 0;
  let shared = shorter.size;
  for (const word of shorter) {
    if (longer.has(word)) continue;
    shared -= 1;
    if (shared / shorter.size <= enough) break;
  }
  return shared / shorter.size;
}

/** The different words of a text. */
export const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s]/gu, "")
      .split(/\s+/)
      .filter((word) => word !== "")
      .slice(0, COMPARED_WORDS),
  );
