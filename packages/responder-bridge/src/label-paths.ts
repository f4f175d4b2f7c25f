import path from "node:path";

/**
 * Returns a short name for each path: its last part, and as many parts before it as needed to make it unique. The rest of the path is not
 * sent to the model.
 */
export function labelPaths(paths: readonly string[]): string[] {
  const parts = paths.map((one) => one.split(path.sep).filter((part) => part !== ""));
  const end = (of: readonly string[], length: number): string => of.slice(-length).join("/");
  return parts.map((own) => {
    let length = 1;
    const isShared = (): boolean => parts.filter((other) => end(other, length) === end(own, length)).length > 1;
    while (length < own.length && isShared()) length += 1;
    return replaceControlCharacters(end(own, length));
  });
}

/** Replaces control characters: a line break in a name would end the label. */
const replaceControlCharacters = (name: string): string => name.replace(/[\p{Cc}\u2028\u2029]/gu, "\u{fffd}");
