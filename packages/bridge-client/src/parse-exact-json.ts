/** Absent in browsers before Chrome 114, Firefox 135 and Safari 18.4. */
const { rawJSON } = JSON as JSON & { rawJSON?: (text: string) => unknown };

/**
 * Parses JSON like `JSON.parse`, but keeps each number that JavaScript would write in another way, such as 653247040368672769 or 1.0, as an
 * object of `JSON.rawJSON`. `JSON.stringify` writes this object with the original characters. Browsers without `JSON.rawJSON` round the
 * number. Throws SyntaxError.
 */
export const parseExactJson = (text: string): unknown =>
  rawJSON === undefined || !mayContainChangedNumber.test(text)
    ? JSON.parse(text)
    : JSON.parse(text, keepNumber as (key: string, value: unknown) => unknown);

/**
 * A number with 16 digits, a fraction, an exponent or a minus before 0, at a place where JSON has a value. JavaScript writes all others as
 * they are. Most texts contain none, and `JSON.parse` takes five times as long with a function as without.
 */
const mayContainChangedNumber = /(?:"\s*:|[[,]|^)\s*-?(?:\d{16}|\d{1,15}[.eE]|(?<=-)0)/;

const keepNumber = (_key: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === "number" && source !== undefined && String(value) !== source ? rawJSON?.(source) : value;
