/**
 * Parses JSON like `JSON.parse`, except that a number whose value a double cannot hold becomes the object of `JSON.rawJSON`, which
 * `JSON.stringify` writes as the number was. Throws SyntaxError.
 */
export function parseExactJson(text: string): unknown {
  return possiblyInexact.test(text) ? JSON.parse(text, keepNumber as (key: string, value: unknown) => unknown) : JSON.parse(text);
}

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

function keepNumber(_key: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value === "number" && source !== undefined && !isExactNumber(source) ? rawJSON(source) : value;
}
