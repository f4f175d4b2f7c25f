import { SAME_OVER, shareOf, wordsOf } from "./overlap.ts";
import { type Output, severityRank } from "./words.ts";

/** One output that gave way to another that says the same. */
export interface Merge {
  keptId: string;
  droppedId: string;
}

/** Do two outputs say the same of the same domain? */
const isSame = (left: Output, right: Output): boolean => left.domain === right.domain && areAlike(left, right);

type Worded = Pick<Output, "title" | "description">;

/** Do two outputs say the same, whatever their domains? */
export const areAlike = (left: Worded, right: Worded): boolean => shareOf(knownWords(left), knownWords(right), SAME_OVER) > SAME_OVER;

/** Each output is compared with many, and seldom reworded. */
const known = new WeakMap<Worded, Worded & { words: ReadonlySet<string> }>();

function knownWords(output: Worded): ReadonlySet<string> {
  const { title, description } = output;
  const found = known.get(output);
  if (found?.title === title && found.description === description) return found.words;
  const words = wordsOf(`${title} ${description}`);
  known.set(output, { title, description, words });
  return words;
}

/**
 * Keeps, of outputs that say the same, the one of the highest severity, and of equals the first; the kept ones stay in their order.
 * `same` says which ones are meant.
 */
export function deduplicate<T extends Output>(
  outputs: readonly T[],
  same: (left: T, right: T) => boolean = isSame,
): { kept: T[]; merges: Merge[] } {
  const kept: T[] = [];
  const merges: Merge[] = [];
  // Worst first: what is kept never has to give way later.
  for (const output of [...outputs].sort((left, right) => severityRank(left.severity) - severityRank(right.severity))) {
    const known = kept.find((candidate) => same(candidate, output));
    if (known === undefined) kept.push(output);
    else merges.push({ keptId: known.id, droppedId: output.id });
  }
  const survivors = new Set(kept);
  return { kept: outputs.filter((output) => survivors.has(output)), merges };
}
