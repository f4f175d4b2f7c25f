const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const UPPER_E = 0x45;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const LOWER_E = 0x65;
const OPENING_BRACE = 0x7b;
const SPACE = 0x20;

/** What a JSON text contains, outside of strings. */
export interface JsonScan {
  /** The outermost value, each member of an object, and each element of an array. */
  values: number;
  /** Names of members. An object that `JSON.parse` returns has fewer if one is repeated. */
  names: number;
  /** Whether a number has so many digits, or such an exponent, that a double may not hold its value. */
  hasLongNumber: boolean;
}

/** Numbers with fewer characters before the point, or before a positive exponent, are below 2^53 or have at most 15 digits. */
const LONG_INTEGER_CHARACTERS = 16;
/** Numbers with fewer characters before an exponent of at most two digits are within the range of a double. */
const LONG_NUMBER_CHARACTERS = 200;

/**
 * Scans a JSON text without parsing it. Stops above `maxValues`. The result for a text that is not JSON does not matter, because the parser
 * rejects it.
 */
export function scanJson(bytes: Uint8Array, maxValues: number): JsonScan {
  // Every value but the first follows a comma, or opens a container.
  let values = 1;
  let names = 0;
  let hasLongNumber = false;
  const { length } = bytes;
  for (let index = 0; index < length && values <= maxValues; index += 1) {
    let byte = bytes[index] as number;
    const start = index;
    // Digits, signs and colons are most of the bytes outside of strings.
    while (byte > COMMA && byte <= COLON) {
      index += 1;
      byte = bytes[index] as number;
    }
    if (index - start >= LONG_INTEGER_CHARACTERS && isLongNumber(bytes, start, index)) hasLongNumber = true;
    if (byte === QUOTE) {
      index = findEndOfString(bytes, index + 1);
      if (bytes[findEndOfSpace(bytes, index + 1)] === COLON) names += 1;
    } else if (byte === COMMA) values += 1;
    else if (byte === OPENING_BRACKET || byte === OPENING_BRACE) {
      index = findEndOfSpace(bytes, index + 1) - 1;
      if (!isClosing(bytes[index + 1])) values += 1;
    } else if ((byte === LOWER_E || byte === UPPER_E) && index > start && isLongExponent(bytes, index + 1, index - start))
      hasLongNumber = true;
  }
  return { values, names, hasLongNumber };
}

const isClosing = (byte: number | undefined): boolean => byte === 0x5d || byte === 0x7d;

function isLongNumber(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start >= LONG_NUMBER_CHARACTERS) return true;
  for (let index = start; index < start + LONG_INTEGER_CHARACTERS; index += 1) if (bytes[index] === POINT) return false;
  return true;
}

/** Whether the exponent can turn many digits into an integer above 2^53, or has the three digits that exceed the range of a double. */
function isLongExponent(bytes: Uint8Array, start: number, digits: number): boolean {
  if (digits >= LONG_INTEGER_CHARACTERS && bytes[start] !== MINUS) return true;
  const first = bytes[start] === PLUS || bytes[start] === MINUS ? start + 1 : start;
  return isDigit(bytes[first]) && isDigit(bytes[first + 1]) && isDigit(bytes[first + 2]);
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= NINE;

/** Maximum string length that is read byte by byte. For longer strings, a native search for the quote is faster. */
const SHORT_STRING_BYTES = 64;

/** Finds the closing quote of a string whose content begins at `start`. */
export function findEndOfString(bytes: Uint8Array, start: number): number {
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
