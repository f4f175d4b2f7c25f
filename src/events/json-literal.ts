/** A string literal in a JSON text. `json.slice(start, end)` includes its quotes. */
export interface Literal {
  start: number;
  end: number;
  bytes: number;
}

/** Finds the string values, not the keys, of a JSON text that take more than `minBytes`, in the order of the text. */
export function findLongLiterals(json: string, minBytes: number): Literal[] {
  const found: Literal[] = [];
  let start = json.indexOf('"');
  while (start !== -1) {
    const end = findClosingQuote(json, start + 1) + 1;
    // A UTF-16 unit takes at most three bytes, so short literals need no counting.
    if ((end - start) * 3 > minBytes && json[end] !== ":") {
      const bytes = Buffer.byteLength(json.slice(start, end));
      if (bytes > minBytes) found.push({ start, end, bytes });
    }
    start = json.indexOf('"', end);
  }
  return found;
}

/**
 * Finds the end of the longest part that starts at `from` and takes at most `maxBytes` of UTF-8. It splits no escape sequence and no
 * character.
 */
export function findCut(json: string, from: number, maxBytes: number): number {
  let bytes = 0;
  let index = from;
  while (index < json.length) {
    const unit = json.charCodeAt(index);
    let [units, size] = [1, 1];
    if (unit === BACKSLASH) units = size = json[index + 1] === "u" ? 6 : 2;
    // Unpaired surrogates have been replaced, so all are pairs.
    else if (unit >= 0xd800 && unit <= 0xdfff) [units, size] = [2, 4];
    else if (unit >= 0x800) size = 3;
    else if (unit >= 0x80) size = 2;
    if (bytes + size > maxBytes) break;
    bytes += size;
    index += units;
  }
  return index;
}

const BACKSLASH = 92;

function findClosingQuote(json: string, from: number): number {
  let quote = json.indexOf('"', from);
  while (isEscaped(json, quote)) quote = json.indexOf('"', quote + 1);
  return quote;
}

function isEscaped(json: string, index: number): boolean {
  let first = index;
  while (json.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (index - first) % 2 === 1;
}
