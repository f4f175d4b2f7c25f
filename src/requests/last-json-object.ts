import { createJsonCounter, isJsonObject, MAX_MESSAGE_VALUES } from "#contract";

/** A JSON object and the exact text that it was parsed from. */
export interface FoundObject {
  json: string;
  object: Record<string, unknown>;
}

/** Thrown for an object with so many values that parsing it would take too long. */
export class TooManyValuesError extends Error {}

/**
 * Finds the last JSON object of a text: in a fenced block, else the whole text, else the last one within the text. Throws
 * TooManyValuesError.
 */
export function findLastJsonObject(text: string): FoundObject | undefined {
  const fenced: string[] = [];
  for (const [, block = ""] of text.matchAll(fence)) {
    fenced.push(block);
    if (fenced.length > MAX_BLOCKS) fenced.shift();
  }
  for (const block of [...fenced.toReversed(), text]) {
    if (hasTooManyValues(block)) throw new TooManyValuesError();
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
    const slice = text.slice(start, end + 1);
    if (hasTooManyValues(slice)) break;
    // An object with an earlier start and the same end encloses the one found before.
    widest = parseObject(slice) ?? widest;
    triedCharacters += end + 1 - start;
    if (start === 0) break;
    start = text.lastIndexOf("{", start - 1);
  }
  return widest;
}

const fence = /```(?:json|JSON)?[ \t]*\r?\n([\s\S]*?)```/g;
/** Maximum number of fenced blocks to try, from the end of the text. */
const MAX_BLOCKS = 200;
/** The values of a shorter text are not counted, because its parsing takes little time. */
const COUNTED_CHARACTERS = 256 * 1024;
/** Maximum number of opening braces to try, from the end of the text. */
const MAX_OPENING_BRACES = 200;
/** Maximum text that all tries parse in total. Without it, a long text with many opening braces would take a minute. */
const MAX_TRIED_CHARACTERS = 16 * 1024 * 1024;

const hasTooManyValues = (text: string): boolean =>
  text.length > COUNTED_CHARACTERS && /^\s*\{/.test(text) && createJsonCounter().add(Buffer.from(text)) > MAX_MESSAGE_VALUES;

function parseObject(text: string): FoundObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? { json: text.trim(), object: value } : undefined;
  } catch {
    return undefined;
  }
}
