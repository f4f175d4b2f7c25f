import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { hasDescriptorPaths, O_PATH } from "./held-directory.ts";

/** Content of a file, or the reason why it was not read. */
export type FileReading = { content: Buffer } | { fault: "missing" | "no_file" | "too_large" | "outside" };

/** Returns whether `inner` is the directory `outer` or an entry below it. Both are absolute real paths. */
export const isInside = (outer: string, inner: string): boolean =>
  inner === outer || inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);

/**
 * Reads a file below a trusted root. Links are followed, but not out of the root. Programs may write there at the same
 * time, so the checks use the open file and not its path. Does not open devices and does not wait for pipes.
 */
export function readFileInside(root: string, file: string, limitBytes: number): FileReading {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return { fault: "missing" };
  const descriptor = openSync(file, O_PATH | constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(descriptor).isFile()) return { fault: "no_file" };
    const real = pathOfOpenFile(descriptor, file);
    if (real === null || !isInside(realpathSync(root), real)) return { fault: "outside" };
    return hasDescriptorPaths
      ? readAndClose(openSync(`/proc/self/fd/${descriptor}`, constants.O_RDONLY), limitBytes)
      : read(descriptor, limitBytes);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Returns the real path of an open file. `file` is the path that it was opened with. Without descriptor paths, null if
 * that path now refers to another file.
 */
export function pathOfOpenFile(descriptor: number, file: string): string | null {
  if (hasDescriptorPaths) return readlinkSync(`/proc/self/fd/${descriptor}`);
  const opened = fstatSync(descriptor);
  const real = realpathSync(file);
  const current = statSync(real);
  return current.ino === opened.ino && current.dev === opened.dev ? real : null;
}

function readAndClose(descriptor: number, limitBytes: number): FileReading {
  try {
    return read(descriptor, limitBytes);
  } finally {
    closeSync(descriptor);
  }
}

function read(descriptor: number, limitBytes: number): FileReading {
  const { size } = fstatSync(descriptor);
  if (size > limitBytes) return { fault: "too_large" };
  // `readFileSync` would read a file of size 0 until its end, and the file may have grown since the check.
  return { content: size === 0 ? Buffer.alloc(0) : readFileSync(descriptor) };
}
