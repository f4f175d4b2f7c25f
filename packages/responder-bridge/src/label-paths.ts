import path from "node:path";

/**
 * A short name for each path: its last part, and as many parts before it as it takes to tell it from the others. The rest of a path is the
 * machine's, and stays there.
 */
export function labelPaths(paths: readonly string[]): string[] {
  const parts = paths.map((one) => one.split(path.sep).filter((part) => part !== ""));
  const end = (of: readonly string[], length: number): string => of.slice(-length).join("/");
  return parts.map((own) => {
    let length = 1;
    const isShared = (): boolean => parts.filter((other) => end(other, length) === end(own, length)).length > 1;
    while (length < own.length && isShared()) length += 1;
    return printable(end(own, length));
  });
}

/** A name may hold a line break, which would end the label. */
const printable = (name: string): string => name.replace(/[\p{Cc}\u2028\u2029]/gu, "\u{fffd}");
