import { constants } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import { entryPath, hasDescriptorPaths, holdInside, nullIfAbsent, O_PATH } from "./held-directory.ts";

/**
 * Opens a regular file beneath a directory, name by name, so that no link is followed at all, not even one that a running task puts
 * in the place of a directory at that moment. A file that has other names too is not opened: they may lie outside.
 */
export async function openFileInside(root: string, names: readonly string[]): Promise<FileHandle | null> {
  const opening = async () => holdInside(root, names.slice(0, -1));
  using directory = await nullIfAbsent(opening());
  return directory === null ? null : await openSingleFile(entryPath(directory, names.at(-1) ?? ""));
}

/**
 * Opens a file to read it; null where its last name is a link, or anything else than a regular file. Rejects when there is nothing, or no
 * permission. No device is opened, and no pipe is waited for.
 */
export async function openRegularFile(file: string): Promise<FileHandle | null> {
  const named = await open(file, O_PATH | constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  let opened: FileHandle | null = null;
  try {
    if (!(await named.stat()).isFile()) return null;
    opened = hasDescriptorPaths ? await open(`/proc/self/fd/${named.fd}`, constants.O_RDONLY) : named;
    return opened;
  } finally {
    if (opened !== named) await named.close();
  }
}

async function openSingleFile(file: string): Promise<FileHandle | null> {
  const handle = await nullIfAbsent(openRegularFile(file));
  if (handle === null) return null;
  const opened = await handle.stat();
  if (opened.nlink === 1 && (hasDescriptorPaths || (await isStillThere(file, opened)))) return handle;
  await handle.close();
  return null;
}

/** Without paths of descriptors: is the open file the one that the path leads to, and without a link? */
async function isStillThere(file: string, opened: { dev: number; ino: number }): Promise<boolean> {
  const named = await nullIfAbsent(lstat(file));
  return named?.dev === opened.dev && named.ino === opened.ino && (await nullIfAbsent(realpath(file))) === file;
}
