/** Texts that share more than this are about the same thing. */
export const SAME_OVER = 0.7;

/** The share of the shorter text's words that the other one has, too: 0 to 1. Case and punctuation do not count. */
export function overlap(left: string, right: string): number {
  const [a, b] = [wordsOf(left), wordsOf(right)];
  const [shorter, longer] = a.size <= b.size ? [a, b] : [b, a];
  if (shorter.size === 0) return 0;
  let shared = 0;
  for (const word of shorter) if (longer.has(word)) shared += 1;
  return shared / shorter.size;
}

const wordsOf = (text: string): Set<string> =>
  new Set(
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s]/gu, "")
      .split(/\s+/)
      .filter((word) => word !== ""),
  );
