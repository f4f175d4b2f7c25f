/** Maximum number of opening braces to try, which bounds the time for a text of braces only. */
const MAX_OPENINGS = 500;
/** Maximum number of characters to read in all tries together. */
const MAX_READ = 16 * 1024 * 1024;

const fence = /```[a-z]*[ \t]*\r?\n([\s\S]*?)```/gi;

/** Finds JSON objects in the text of a model: fenced ones before those in prose, and later ones before earlier ones. */
export function* findJsonObjects(text: string): Iterable<Record<string, unknown>> {
  const fenced = [...text.matchAll(fence)].map(([, block = ""]) => block).reverse();
  for (const candidate of [...fenced, text]) {
    const object = parseObject(candidate);
    if (object !== null) yield object;
  }
  yield* [...objectsInProse(text)].reverse();
}

function* objectsInProse(text: string): Iterable<Record<string, unknown>> {
  let read = 0;
  let start = text.indexOf("{");
  for (let opening = 0; start >= 0 && opening < MAX_OPENINGS && read < MAX_READ; opening += 1) {
    const end = endOfObject(text, start);
    read += (end ?? text.length) - start;
    const object = end === null ? null : parseObject(text.slice(start, end));
    if (object !== null) yield object;
    start = text.indexOf("{", object === null || end === null ? start + 1 : end);
  }
}

/** Returns the exclusive end of the object at `start`; null if it is not closed. */
function endOfObject(text: string, start: number): number | null {
  let depth = 0;
  let inString = false;
  for (let index = start; index < text.length; index += 1) {
    const character = text[index];
    if (inString) {
      if (character === "\\") index += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{") depth += 1;
    else if (character === "}") {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return null;
}

function parseObject(text: string): Record<string, unknown> | null {
  // This check is much cheaper than a failing parse, and a text may contain thousands of fences.
  if (!text.includes("{")) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Returns whether a JSON value is an object. */
export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
