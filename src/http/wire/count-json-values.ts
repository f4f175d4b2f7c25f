const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
const SPACE = 0x20;

/**
 * Counts the values of a JSON text without parsing it: the outermost value, each member of an object, and each element of an array. Stops
 * above `limit`.
 * The count of a text that is not JSON does not matter, because the parser rejects it.
 */
export function countJsonValues(bytes: Uint8Array, limit: number): number {
  // Every value but the first follows a comma, or opens a container.
  let count = 1;
  const { length } = bytes;
  for (let index = 0; index < length && count <= limit; index += 1) {
    let byte = bytes[index] as number;
    // Digits, signs and colons are most of the bytes outside of strings.
    while (byte > COMMA && byte < OPENING_BRACKET) {
      index += 1;
      byte = bytes[index] as number;
    }
    if (byte === QUOTE) index = findEndOfString(bytes, index + 1);
    else if (byte === COMMA) count += 1;
    else if (byte === OPENING_BRACKET || byte === OPENING_BRACE) {
      index = findEndOfSpace(bytes, index + 1) - 1;
      if (!isClosing(bytes[index + 1])) count += 1;
    }
  }
  return count;
}

const isClosing = (byte: number | undefined): boolean => byte === 0x5d || byte === 0x7d;

/** Maximum string length that is read byte by byte. For longer strings, a native search for the quote is faster. */
const SHORT_STRING_BYTES = 64;

function findEndOfString(bytes: Uint8Array, start: number): number {
  let index = start;
  while (index < bytes.length) {
    const searchEnd = Math.min(index + SHORT_STRING_BYTES, bytes.length);
    while (index < searchEnd) {
      if (bytes[index] === QUOTE) return index;
      index += bytes[index] === BACKSLASH ? 2 : 1;
    }
    const quote = bytes.indexOf(QUOTE, index);
    if (quote === -1) return bytes.length;
    if (!isEscaped(bytes, index, quote)) return quote;
    index = quote + 1;
  }
  return index;
}

/** Whether an odd number of backslashes precedes the quote. Bytes before `start` belong to an earlier character. */
function isEscaped(bytes: Uint8Array, start: number, quote: number): boolean {
  let first = quote;
  while (first > start && bytes[first - 1] === BACKSLASH) first -= 1;
  return (quote - first) % 2 === 1;
}

function findEndOfSpace(bytes: Uint8Array, start: number): number {
  let index = start;
  while (index < bytes.length && (bytes[index] as number) <= SPACE) index += 1;
  return index;
}
