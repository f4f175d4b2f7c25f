import { bridgeUrl } from "./base-url.ts";

/** Quotes a text for a POSIX shell. A word of letters, digits and a few signs stays as it is. */
export const quoteForShell = (text: string): string =>
  /^[\w./:@-]+$/.test(text) && !text.startsWith("-") ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns the command that gets a path of Bridge with the token in `BRIDGE_TOKEN`. */
export const curlGet = (path: string): string =>
  `curl ${quoteForShell(new URL(path.slice(1), bridgeUrl).href)} -H "Authorization: Bearer $BRIDGE_TOKEN"`;
