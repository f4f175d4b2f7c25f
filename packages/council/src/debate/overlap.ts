/** Texts that share more than this fraction of their words count as similar. */
export const SIMILARITY_THRESHOLD = 0.7;

/** Maximum number of words to compare, because each finding is compared with each other and may be long. */
const MAX_COMPARED_WORDS = 500;

/** Returns the share of the shorter text's words that the other text contains, from 0 to 1. Case and punctuation are ignored. */
export const measureOverlap = (left: string, right: string): number => shareOf(wordsOf(left), wordsOf(right), 0);

/** Like `measureOverlap`, for sets of words. Stops counting as soon as the share is at most `threshold`. */
export function shareOf(a: ReadonlySet<string>, b: ReadonlySet<string>, threshold: number): number {
  const [shorter, longer] = a.size <= b.size ? [a, b] : [b, a];
  if (shorter.size === 0) return 0;
  let shared = shorter.size;
  for (const word of shorter) {
    if (longer.has(word)) continue;
    shared -= 1;
    if (shared / shorter.size <= threshold) break;
  }
  return shared / shorter.size;
}

/** Returns the distinct words of a text. */
export const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s]/gu, "")
      .split(/\s+/)
      .filter((word) => word !== "")
      .slice(0, MAX_COMPARED_WORDS),
  );
