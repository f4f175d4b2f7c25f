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
 * Whether a double holds the value of a JSON number: an integer with all its digits as JavaScript writes it, and any other number within
 * the range of a double. Digits of a fraction beyond the precision of a double do not count, because programs write fractions from doubles.
 */
export function isExactNumber(literal: string): boolean {
  const value = Number(literal);
  if (!Number.isFinite(value)) return false;
  if (value === 0) return !/^[^eE]*[1-9]/.test(literal);
  return Number.isSafeInteger(value) || /[.eE]/.test(literal) || isWrittenAs(value, literal);
}

/** Whether JavaScript writes the value with the digits of this integer, possibly with an exponent in place of zeros. */
function isWrittenAs(value: number, integer: string): boolean {
  const written = String(value);
  const exponent = written.indexOf("e");
  if (exponent === -1) return written === integer;
  const digits = written.slice(0, exponent).replace(".", "");
  return integer.startsWith(digits) && /^0*$/.test(integer.slice(digits.length));
}

/**
 * Matches every text with an inexact number, and few others: integers of 16 or more digits, exponents of three digits, and very long
 * numbers. The bounds keep the regular expression from backtracking over a text of megabytes.
 */
const possiblyInexact = /(?:^|[\s:,[])-?(?:\d{16}\d{0,283}(?![\d.eE])|[\d.]{300}|[\d.]{1,299}[eE][+-]?\d{3})/;

const { rawJSON } = JSON as JSON & { rawJSON(text: string): unknown };
