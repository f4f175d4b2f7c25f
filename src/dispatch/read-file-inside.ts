import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync, statSync } from "node:fs";
import { isInside } from "./workspace.ts";

/** The content of a file, or why it is not read. */
export type FileReading = { content: Buffer } | { fault: "missing" | "no_file" | "too_large" | "outside" };

/**
 * Reads a file of a workspace, links followed but not out of it. Tasks may write there at the same moment, so what counts is what
 * was opened, not what bore the name a moment before: a pipe in its place must not hold up Bridge, a link not lead it away.
 */
export function readFileInside(workspace: string, file: string, limitBytes: number): FileReading {
  // Opening a device can have effects of its own; it is not even tried.
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return { fault: "missing" };
  if (!found.isFile()) return { fault: "no_file" };
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const opened = fstatSync(descriptor);
    if (!opened.isFile()) return { fault: "no_file" };
    if (opened.size > limitBytes) return { fault: "too_large" };
    const real = realpathSync(file);
    const named = statSync(real);
    const isSame = named.ino === opened.ino && named.dev === opened.dev;
    if (!isSame || !isInside(realpathSync(workspace), real)) return { fault: "outside" };
    // Of an empty file Node would read whatever has been written by now.
    return { content: opened.size === 0 ? Buffer.alloc(0) : readFileSync(descriptor) };
  } finally {
    closeSync(descriptor);
  }
}
