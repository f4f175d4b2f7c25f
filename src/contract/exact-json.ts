/**
 * Parses JSON like `JSON.parse`, except that a number whose value a double cannot hold becomes the object of `JSON.rawJSON`, which
 * `JSON.stringify` writes as the number was. `mapText` converts each string value. Throws SyntaxError.
 */
export function parseExactJson(text: string, mapText?: (value: string) => string): unknown {
  // Most texts need no reviver, which takes several times as long.
  if (mapText === undefined && !mayBeInexact(text)) return JSON.parse(text);
  const revive = (_key: string, value: unknown, { source }: { source?: string }): unknown => {
    if (typeof value === "string") return mapText?.(value) ?? value;
    return typeof value === "number" && source !== undefined && !isExactNumber(source) ? rawJSON(source) : value;
  };
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
}

/** Whether a JSON text may contain a number that a double cannot hold. False for most texts without one. */
export const mayBeInexact = (text: string): boolean => possiblyInexact.test(text);

/**
 * Whether a double keeps the value of a JSON number. A number beyond the range of a double is not exact. Other numbers up to 2^53 are exact
 * with any number of digits, because programs write fractions from doubles. A number above 2^53 is exact in any notation if it has the
 * digits with which programs write its double.
 */
export function isExactNumber(literal: string): boolean {
  const value = Number(literal);
  if (!Number.isFinite(value)) return false;
  if (value === 0) return !/^[^eE]*[1-9]/.test(literal);
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return true;
  return /[.eE]/.test(literal) ? isPrintedFrom(value, literal) : isWrittenAs(value, literal);
}

/** Whether JavaScript writes the value with the digits of this integer, possibly with an exponent in place of zeros. */
function isWrittenAs(value: number, integer: string): boolean {
  const written = String(value);
  const exponent = written.indexOf("e");
  if (exponent === -1) return written === integer;
  const digits = written.slice(0, exponent).replace(".", "");
  return integer.startsWith(digits) && /^0*$/.test(integer.slice(digits.length));
}

/** Whether programs write the double with the digits of this number: with as few digits as JavaScript, or with 17. */
function isPrintedFrom(value: number, literal: string): boolean {
  const digits = readDigits(literal);
  // A double keeps 15 digits.
  return digits.length <= 15 || digits === readDigits(String(value)) || digits === readDigits(value.toExponential(16));
}

/** Returns the digits without the sign, the point, the exponent, and zeros at both ends. A loop, because the number can be very long. */
function readDigits(literal: string): string {
  const exponent = literal.search(/[eE]/);
  let start = 0;
  let end = exponent === -1 ? literal.length : exponent;
  while (start < end && !isSignificant(literal.charCodeAt(start))) start += 1;
  while (end > start && !isSignificant(literal.charCodeAt(end - 1))) end -= 1;
  return literal.slice(start, end).replace(".", "");
}

/** Whether a character is a digit from 1 to 9. */
const isSignificant = (code: number): boolean => code > 0x30 && code <= 0x39;

/**
 * Matches every text with an inexact number, and few other texts. Matches 16 or more digits before the point or with a positive exponent,
 * exponents of three digits, and very long numbers. The bounds keep the regular expression from backtracking over a text of megabytes.
 */
const possiblyInexact = /(?:^|[\s:,[])-?(?:\d{16}|[\d.]{200}|[\d.]{16,199}[eE]\+?\d|[\d.]{1,199}[eE][+-]?\d{3})/;

const { rawJSON } = JSON as JSON & { rawJSON(text: string): unknown };
