/** A JSON object and the exact text that it was parsed from. */
export interface FoundObject {
  json: string;
  object: Record<string, unknown>;
}

/** Finds the last JSON object of a text: in a fenced block, else the whole text, else the last one within the text. */
export function findLastJsonObject(text: string): FoundObject | undefined {
  const fenced = [...text.matchAll(fence)].map((match) => match[1] ?? "").reverse();
  for (const block of [...fenced, text]) {
    const found = parseObject(block);
    if (found !== undefined) return found;
  }
  const end = text.lastIndexOf("}");
  let widest: FoundObject | undefined;
  let triedCharacters = 0;
  for (
    let start = text.lastIndexOf("{", end), tries = 0;
    start >= 0 && tries < MAX_OPENING_BRACES && triedCharacters < MAX_TRIED_CHARACTERS;
    tries += 1
  ) {
    // An object with an earlier start and the same end encloses the one found before.
    widest = parseObject(text.slice(start, end + 1)) ?? widest;
    triedCharacters += end + 1 - start;
    if (start === 0) break;
    start = text.lastIndexOf("{", start - 1);
  }
  return widest;
}

const fence = /```(?:json|JSON)?[ \t]*\r?\n([\s\S]*?)```/g;
/** Maximum number of opening braces to try, from the end of the text. */
const MAX_OPENING_BRACES = 200;
/** Maximum text that all tries parse in total. Without it, a long text with many opening braces would take a minute. */
const MAX_TRIED_CHARACTERS = 16 * 1024 * 1024;

function parseObject(text: string): FoundObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    return { json: text.trim(), object: value as Record<string, unknown> };
  } catch {
    return undefined;
  }
}
