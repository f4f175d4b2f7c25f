/** Quotes a text for a POSIX shell. A word of letters, digits and a few signs stays as it is. */
export const quoteForShell = (text: string): string =>
  /^[\w./:@-]+$/.test(text) && !text.startsWith("-") ? text : `'${text.replaceAll("'", `'\\''`)}'`;
