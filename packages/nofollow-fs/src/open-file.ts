import { constants } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import { entryPath, hasDescriptorPaths, holdInside, nullIfAbsent, O_PATH } from "./held-directory.ts";

/**
 * Opens a regular file below a directory, name by name, without following links, even if another process replaces a
 * directory by a link at that moment. Returns null if there is no such file, and for a file with several hard links,
 * because the others may be outside.
 */
export async function openFileInside(root: string, names: readonly string[]): Promise<FileHandle | null> {
  const opening = async () => holdInside(root, names.slice(0, -1));
  using directory = await nullIfAbsent(opening());
  return directory === null ? null : await openSingleFile(entryPath(directory, names.at(-1) ?? ""));
}

/**
 * Opens a file for reading; null if its last name is a link or not a regular file. Rejects if it does not exist or
 * permission is denied. Does not open devices and does not wait for pipes.
 */
export async function openRegularFile(file: string): Promise<FileHandle | null> {
  const pathHandle = await open(file, O_PATH | constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  let opened: FileHandle | null = null;
  try {
    if (!(await pathHandle.stat()).isFile()) return null;
    opened = hasDescriptorPaths ? await open(`/proc/self/fd/${pathHandle.fd}`, constants.O_RDONLY) : pathHandle;
    return opened;
  } finally {
    if (opened !== pathHandle) await pathHandle.close();
  }
}

async function openSingleFile(file: string): Promise<FileHandle | null> {
  const handle = await nullIfAbsent(openRegularFile(file));
  if (handle === null) return null;
  const stats = await handle.stat();
  if (stats.nlink === 1 && (hasDescriptorPaths || (await isStillThere(file, stats)))) return handle;
  await handle.close();
  return null;
}

/** For systems without descriptor paths: returns whether the path still refers to the open file without a link. */
async function isStillThere(file: string, opened: { dev: number; ino: number }): Promise<boolean> {
  const current = await nullIfAbsent(lstat(file));
  return current?.dev === opened.dev && current.ino === opened.ino && (await nullIfAbsent(realpath(file))) === file;
}
