import { randomUUID } from "node:crypto";
import { chmod, opendir, rename, rmdir, unlink } from "node:fs/promises";
import { codeOf, entryPath, type HeldDirectory, holdDirectory, holdRoot } from "./held-directory.ts";

/** How often a tree is emptied again because a program that still runs adds to it. */
const MAX_PASSES = 5;

/** Directory entries that are read at once. */
const READ_ENTRIES = 256;

/**
 * Removes an entry of a directory with everything below it; does nothing when there is none. Links are removed and never followed, and
 * permissions that forbid it are changed. Rejects with the first error when something cannot be removed; the rest is removed all the same.
 */
export async function removeInside(parent: string | HeldDirectory, name: string): Promise<void> {
  await using directory = await holdRoot(parent);
  const place = Buffer.from(entryPath(directory, name));
  let fault: unknown = null;
  for (let passes = 0; passes < MAX_PASSES; passes += 1) {
    if (await removeEmpty(place)) return;
    await using tree = await holdDirectory(place);
    if (tree !== null) fault = await emptyTree(tree);
  }
  if (!(await removeEmpty(place))) throw fault ?? new Error(`${name} cannot be removed: a program adds to it all the time.`);
}

/** Removes a file, a link or an empty directory; false when it is a directory that holds something. */
async function removeEmpty(place: Buffer): Promise<boolean> {
  try {
    await rmdir(place).catch(async (error: unknown) => {
      if (codeOf(error) !== "ENOTDIR") throw error;
      await unlink(place);
    });
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    if (filledCodes.has(codeOf(error))) return false;
    throw error;
  }
}

/** What `rmdir` reports about a directory that holds something. */
const filledCodes: ReadonlySet<unknown> = new Set(["ENOTEMPTY", "EEXIST"]);

/**
 * Removes everything in a directory and returns the first error. Each directory that is found below moves up into the tree under a new name,
 * and is emptied there later. So any depth is removed with two open directories and short paths.
 */
async function emptyTree(tree: HeldDirectory): Promise<unknown> {
  const prefix = `${randomUUID()}-`;
  const nameOf = (number: number) => Buffer.from(entryPath(tree, prefix + number));
  let found = 0;
  let fault: unknown = null;

  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (codeOf(error) !== "ENOENT") fault ??= error;
    }
  }

  async function removeEntry(place: Buffer, isDirectory: boolean): Promise<void> {
    if (!isDirectory) return await unlink(place);
    if (await removeEmpty(place)) return;
    await permitChanges(place);
    await rename(place, nameOf(found));
    found += 1;
  }

  async function removeEntries(directory: HeldDirectory): Promise<void> {
    for await (const entry of await opendir(directory.path, { encoding: "latin1", bufferSize: READ_ENTRIES })) {
      if (entry.name.startsWith(prefix)) continue;
      // In latin1 every byte is a character, so a name that is not UTF-8 is found again.
      const place = Buffer.concat([Buffer.from(`${directory.path}/`), Buffer.from(entry.name, "latin1")]);
      await attempt(() => removeEntry(place, entry.isDirectory()));
    }
  }

  await attempt(async () => {
    await chmod(tree.path, CHANGEABLE);
    await removeEntries(tree);
  });
  for (let number = 0; number < found; number += 1) {
    await attempt(async () => {
      {
        await using directory = await holdDirectory(nameOf(number));
        if (directory !== null) await removeEntries(directory);
      }
      if (!(await removeEmpty(nameOf(number)))) throw new Error("A directory could not be emptied.");
    });
  }
  return fault;
}

const CHANGEABLE = 0o700;

/** Whoever may write to a directory can empty it, and move it elsewhere. */
async function permitChanges(place: Buffer): Promise<void> {
  await using directory = await holdDirectory(place);
  if (directory !== null) await chmod(directory.path, CHANGEABLE);
}
