import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { hasDescriptorPaths, O_PATH } from "./held-directory.ts";

/** The content of a file, or why it is not read. */
export type FileReading = { content: Buffer } | { fault: "missing" | "no_file" | "too_large" | "outside" };

/** Is `inner` the directory itself or something below it? Both absolute, links resolved. */
export const isInside = (outer: string, inner: string): boolean =>
  inner === outer || inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);

/**
 * Reads a file below a trusted root. Links are followed, but not out of the root. Programs may write there at the same time, so the
 * check is made on the open file and not on its name: no device is opened, no pipe is waited for.
 */
export function readFileInside(root: string, file: string, limitBytes: number): FileReading {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return { fault: "missing" };
  const named = openSync(file, O_PATH | constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(named).isFile()) return { fault: "no_file" };
    const real = pathOfOpenFile(named, file);
    if (real === null || !isInside(realpathSync(root), real)) return { fault: "outside" };
    return hasDescriptorPaths ? readOpen(openSync(`/proc/self/fd/${named}`, constants.O_RDONLY), limitBytes) : read(named, limitBytes);
  } finally {
    closeSync(named);
  }
}

/** The real path of an open file. `file` is the path that it was opened with. Without descriptor paths, returns null when that path leads elsewhere by now. */
export function pathOfOpenFile(descriptor: number, file: string): string | null {
  if (hasDescriptorPaths) return readlinkSync(`/proc/self/fd/${descriptor}`);
  const opened = fstatSync(descriptor);
  const real = realpathSync(file);
  const named = statSync(real);
  return named.ino === opened.ino && named.dev === opened.dev ? real : null;
}

function readOpen(descriptor: number, limitBytes: number): FileReading {
  try {
    return read(descriptor, limitBytes);
  } finally {
    closeSync(descriptor);
  }
}

function read(descriptor: number, limitBytes: number): FileReading {
  const { size } = fstatSync(descriptor);
  if (size > limitBytes) return { fault: "too_large" };
  // Node would read data that is written to an empty file after the check.
  return { content: size === 0 ? Buffer.alloc(0) : readFileSync(descriptor) };
}
