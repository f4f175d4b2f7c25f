import { randomUUID } from "node:crypto";
import { chmodSync, opendirSync, renameSync, rmdirSync, statSync } from "node:fs";
import { unlink } from "node:fs/promises";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { codeOf, entryPath, type HeldDirectory, holdDirectory, holdRoot } from "./held-directory.ts";

/** Maximum number of passes, because a running program may add entries. */
const MAX_PASSES = 5;

/** Number of directory entries to read at once. */
const READ_ENTRIES = 256;

/**
 * How long one slice may block the event loop, in ms. An operation on a directory takes microseconds, less than a turn
 * of the event loop.
 */
const SLICE_MS = 2;

/**
 * Removes an entry of a directory and everything below it. Does nothing if it does not exist. Removes links without
 * following them, and changes permissions that prevent the removal. Rejects with the first error after removing
 * everything else.
 */
export async function removeInside(parent: string | HeldDirectory, name: string): Promise<void> {
  const pathname = Buffer.from(entryPath(typeof parent === "string" ? { path: path.resolve(parent) } : parent, name));
  let fault: unknown = null;
  for (let passes = 0; passes < MAX_PASSES; passes += 1) {
    if (await removeEmpty(pathname)) return;
    using tree = holdDirectory(pathname);
    if (tree !== null) fault = await emptyTree(tree);
  }
  if (!(await removeEmpty(pathname))) throw fault ?? new Error(`${name} cannot be removed: a program keeps adding files to it.`);
}

/**
 * Removes a file or a link in a directory, not the target of the link; false if it does not exist. Rejects with EISDIR
 * or EPERM, depending on the system, if it is a directory.
 */
export async function removeFileInside(directory: string | HeldDirectory, name: string): Promise<boolean> {
  using held = holdRoot(directory);
  try {
    await unlink(entryPath(held, name));
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Removes a file, a link or an empty directory; false if it is a directory with entries. */
async function removeEmpty(pathname: Buffer): Promise<boolean> {
  try {
    return removeEmptyDirectory(pathname);
  } catch (error) {
    if (codeOf(error) !== "ENOTDIR") throw error;
    await unlink(pathname);
    return true;
  }
}

function removeEmptyDirectory(pathname: Buffer): boolean {
  try {
    rmdirSync(pathname);
  } catch (error) {
    if (NOT_EMPTY_CODES.has(codeOf(error))) return false;
    if (codeOf(error) !== "ENOENT") throw error;
  }
  return true;
}

/** Codes of `rmdir` for a directory with entries. */
const NOT_EMPTY_CODES: ReadonlySet<unknown> = new Set(["ENOTEMPTY", "EEXIST"]);

/**
 * Removes all entries of a directory and returns the first error. Each directory found below is moved to the top of the
 * tree with a new name and emptied later, so any depth needs only two open directories and short paths.
 */
async function emptyTree(tree: HeldDirectory): Promise<unknown> {
  const prefix = `${randomUUID()}-`;
  const nameOf = (number: number) => Buffer.from(entryPath(tree, prefix + number));
  let movedCount = 0;
  let fault: unknown = null;
  let sliceStart = performance.now();

  async function attempt(work: () => void | Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (codeOf(error) !== "ENOENT") fault ??= error;
    }
    if (performance.now() - sliceStart < SLICE_MS) return;
    await nextTurn();
    sliceStart = performance.now();
  }

  async function removeEntry(pathname: Buffer, isDirectory: boolean): Promise<void> {
    // Asynchronous, because removing a large file takes long.
    if (!isDirectory) return await unlink(pathname);
    if (removeEmptyDirectory(pathname)) return;
    using directory = holdDirectory(pathname);
    if (directory !== null) permitChanges(directory);
    renameSync(pathname, nameOf(movedCount));
    movedCount += 1;
  }

  async function removeEntries(directory: HeldDirectory): Promise<void> {
    // latin1 maps every byte to a character, so names that are not UTF-8 are preserved.
    const entries = opendirSync(directory.path, { encoding: "latin1", bufferSize: READ_ENTRIES });
    try {
      for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
        const { name } = entry;
        if (name.startsWith(prefix)) continue;
        const isDirectory = entry.isDirectory();
        const pathname = Buffer.concat([Buffer.from(`${directory.path}/`), Buffer.from(name, "latin1")]);
        await attempt(() => removeEntry(pathname, isDirectory));
      }
    } finally {
      entries.closeSync();
    }
  }

  await attempt(() => permitChanges(tree));
  await attempt(() => removeEntries(tree));
  for (let number = 0; number < movedCount; number += 1) {
    await attempt(async () => {
      {
        using directory = holdDirectory(nameOf(number));
        if (directory !== null) await removeEntries(directory);
      }
      await removeEmpty(nameOf(number));
    });
  }
  return fault;
}

const OWNER_PERMISSIONS = 0o700;

/** Grants the permissions that are needed to empty and move a directory. */
function permitChanges(directory: HeldDirectory): void {
  // Most directories have these permissions already, and checking costs less than changing.
  if ((statSync(directory.path).mode & OWNER_PERMISSIONS) !== OWNER_PERMISSIONS) chmodSync(directory.path, OWNER_PERMISSIONS);
}
