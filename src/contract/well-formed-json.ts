/** Serializes a value for another program: `JSON.stringify`, with U+FFFD in place of unpaired surrogates. */
export const stringifyWellFormed = (value: unknown): string => toWellFormedJson(JSON.stringify(value));

/**
 * Replaces unpaired surrogates, such as half of an emoji that a tool has cut, in a text that `JSON.stringify` has written. `JSON.stringify`
 * writes them as escapes, such as `\ud83d`, and strict parsers reject a text with such an escape.
 */
export const toWellFormedJson = (json: string): string =>
  // The search for a fixed text is several times as fast as the regular expression, and most texts have no such escape.
  json.includes("\\ud") && surrogate.test(json) ? json.replaceAll(escapes, (found) => (surrogate.test(found) ? "\ufffd" : found)) : json;

const surrogate = /\\ud[89a-f]/;
const escapes = /\\(?:u[0-9a-f]{4}|[^u])/g;
