import { chmodSync, mkdirSync, statSync } from "node:fs";
import path from "node:path";

const PRIVATE_MODE = 0o700;

/**
 * Creates a directory at a trusted path and its parents, for their owner only. Throws the error of the system. Node's
 * `mkdir` with `recursive` is not used, because it never returns below a directory that rejects new entries with
 * ENOENT, such as /proc.
 */
export function makePrivateDirectory(directory: string): void {
  if (isDirectory(directory)) return;
  try {
    make(directory);
  } catch (error) {
    const parent = path.dirname(directory);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || parent === directory) throw error;
    makePrivateDirectory(parent);
    make(directory);
  }
}

function make(directory: string): void {
  try {
    mkdirSync(directory, PRIVATE_MODE);
  } catch (error) {
    // Another process created it in the meantime.
    if ((error as NodeJS.ErrnoException).code === "EEXIST" && isDirectory(directory)) return;
    throw error;
  }
  // A umask may remove permissions that are needed to create the next directory.
  chmodSync(directory, PRIVATE_MODE);
}

const isDirectory = (directory: string): boolean => statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true;
