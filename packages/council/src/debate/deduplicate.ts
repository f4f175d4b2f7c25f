import { type Output, rankSeverity } from "../types.ts";
import { SIMILARITY_THRESHOLD, shareOf, wordsOf } from "./overlap.ts";

/** One output that was merged into a similar one. */
export interface Merge {
  keptId: string;
  droppedId: string;
}

type OutputText = Pick<Output, "title" | "description">;

/** Returns whether two outputs are similar, regardless of their domains. */
export const areAlike = (left: OutputText, right: OutputText): boolean =>
  shareOf(findWords(left), findWords(right), SIMILARITY_THRESHOLD) > SIMILARITY_THRESHOLD;

/**
 * Finds the earlier similar outputs of each output. Counts shared words with an index, so that texts without common
 * words are never compared.
 */
export function findAlike<T extends OutputText>(outputs: readonly T[]): ReadonlyMap<T, readonly T[]> {
  const sets = outputs.map(findWords);
  const indexesByWord = new Map<string, number[]>();
  const shared = new Uint16Array(outputs.length);
  return new Map(
    outputs.map((output, index) => {
      const words = sets[index] ?? new Set();
      shared.fill(0, 0, index);
      for (const word of words) {
        const earlier = indexesByWord.get(word);
        if (earlier === undefined) indexesByWord.set(word, [index]);
        else {
          for (const other of earlier) shared[other] = (shared[other] ?? 0) + 1;
          earlier.push(index);
        }
      }
      const isAlike = (_: T, other: number): boolean =>
        (shared[other] ?? 0) / Math.min(words.size, sets[other]?.size ?? 0) > SIMILARITY_THRESHOLD;
      return [output, outputs.slice(0, index).filter(isAlike)];
    }),
  );
}

/** Cache of word sets, because each output is compared with many others and rarely changes. */
const wordCache = new WeakMap<OutputText, OutputText & { words: ReadonlySet<string> }>();

function findWords(output: OutputText): ReadonlySet<string> {
  const { title, description } = output;
  const cached = wordCache.get(output);
  if (cached?.title === title && cached.description === description) return cached.words;
  const words = wordsOf(`${title} ${description}`);
  wordCache.set(output, { title, description, words });
  return words;
}

/** Merges similar outputs of one domain. Keeps the most severe one, or the first of equals, in the original order. */
export function deduplicate<T extends Output>(outputs: readonly T[]): { kept: T[]; merges: Merge[] } {
  const kept = new Set<T>();
  const merges: Merge[] = [];
  // Most severe first, so that a kept output is never dropped later.
  const mostSevereFirst = outputs.toSorted((left, right) => rankSeverity(left.severity) - rankSeverity(right.severity));
  for (const [output, alike] of findAlike(mostSevereFirst)) {
    const known = alike.find((candidate) => kept.has(candidate) && candidate.domain === output.domain);
    if (known === undefined) kept.add(output);
    else merges.push({ keptId: known.id, droppedId: output.id });
  }
  return { kept: outputs.filter((output) => kept.has(output)), merges };
}
