import { chmodSync, mkdirSync, statSync } from "node:fs";
import path from "node:path";

const PRIVATE = 0o700;

/**
 * Makes a directory at a trusted path and the directories above it, for their owner only; throws the error of the system when it cannot.
 * `mkdir` of Node with `recursive` never returns below a directory that refuses new entries with ENOENT, such as /proc.
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
    mkdirSync(directory, PRIVATE);
  } catch (error) {
    // Another process has made it in between.
    if ((error as NodeJS.ErrnoException).code === "EEXIST" && isDirectory(directory)) return;
    throw error;
  }
  // A umask can take bits away that the next directory needs.
  chmodSync(directory, PRIVATE);
}

const isDirectory = (directory: string): boolean => statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true;
