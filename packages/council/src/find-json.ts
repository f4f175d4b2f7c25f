/** More openings than this are not tried: a text of nothing but braces would take for ever. */
const MAX_OPENINGS = 500;
/** Nor is more text than this read in all tries together, in characters. */
const MAX_READ = 16 * 1024 * 1024;

const fence = /```[a-z]*[ \t]*\r?\n([\s\S]*?)```/gi;

/** Finds JSON objects in what a model has said: fenced ones first, then those inside prose; the last ones come first. */
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

/** Where the object that begins at `start` ends, exclusive; null when it does not. */
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
  // A failing parser costs much more than this look, and a text may have many thousand fences.
  if (!text.includes("{")) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
