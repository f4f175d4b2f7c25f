import { closest, distance } from "fastest-levenshtein";

/** Maximum edit distance at which an unknown name is likely to be a misspelled one. */
const MAX_TYPOS = 3;

/** Returns the known name that was probably meant; null if none is similar. In a short name, fewer typos count as similar. */
export function findNearestName(name: string, known: readonly string[]): string | null {
  if (known.length === 0) return null;
  const nearest = closest(name, known);
  return distance(name, nearest) <= Math.min(MAX_TYPOS, Math.ceil(nearest.length / 3)) ? nearest : null;
}
