/** A JSON object and the text that it was parsed from, without anything around it. */
export interface FoundObject {
  json: string;
  object: Record<string, unknown>;
}

/** Finds the last JSON object of a text: in a fenced block, else the whole text, else the last one inside prose. */
export function findLastJsonObject(text: string): FoundObject | undefined {
  const fenced = [...text.matchAll(fence)].map((match) => match[1] ?? "").reverse();
  for (const block of [...fenced, text]) {
    const found = parseObject(block);
    if (found !== undefined) return found;
  }
  const end = text.lastIndexOf("}");
  let widest: FoundObject | undefined;
  let tried = 0;
  for (
    let start = text.lastIndexOf("{", end), tries = 0;
    start >= 0 && tries < OPENING_LIMIT && tried < TRIED_LIMIT_CHARACTERS;
    tries += 1
  ) {
    // The same end with an earlier opening is the enclosing object.
    widest = parseObject(text.slice(start, end + 1)) ?? widest;
    tried += end + 1 - start;
    if (start === 0) break;
    start = text.lastIndexOf("{", start - 1);
  }
  return widest;
}

const fence = /```(?:json|JSON)?[ \t]*\r?\n([\s\S]*?)```/g;
/** A text without fences is searched for objects from its end; more openings than this are not tried. */
const OPENING_LIMIT = 200;
/** Maximum text that all tries parse together. Without it, a long text with many valid openings would take a minute. */
const TRIED_LIMIT_CHARACTERS = 16 * 1024 * 1024;

function parseObject(text: string): FoundObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    return { json: text.trim(), object: value as Record<string, unknown> };
  } catch {
    return undefined;
  }
}
