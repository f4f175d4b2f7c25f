import { constants, existsSync } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import path from "node:path";

/** A directory that is held: `path` leads to itself, whatever bears its name by now. */
export interface HeldDirectory {
  path: string;
  close(): Promise<void>;
}

/** Linux lets a path begin at an open directory, which is how files are opened beneath it without following its name again. */
const hasDescriptorPaths = existsSync("/proc/self/fd");

/** What means that there is nothing that can be opened, rather than that something is wrong with Bridge or its disk. */
const absences: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM", "ENAMETOOLONG", "ENXIO", "ENODEV"]);

/** Answers null where there is nothing to open. */
export async function nullIfAbsent<T>(opening: Promise<T>): Promise<T | null> {
  try {
    return await opening;
  } catch (error) {
    if (absences.has((error as NodeJS.ErrnoException).code)) return null;
    throw error;
  }
}

/** Holds a directory; null when there is none, or a link in its place. Its parent's path must be real, or that of a held directory. */
export async function holdDirectory(directory: string): Promise<HeldDirectory | null> {
  if (!hasDescriptorPaths) {
    const real = await nullIfAbsent(realpath(directory));
    return real === directory ? { path: directory, close: async () => {} } : null;
  }
  const handle = await nullIfAbsent(open(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW));
  return handle === null ? null : { path: `/proc/self/fd/${handle.fd}`, close: () => handle.close() };
}

/**
 * Opens a regular file beneath a directory, name by name, so that no link is followed at all, not even one that a running task puts
 * in the place of a directory at that moment. A file that has other names too is not opened: they may lie outside.
 */
export async function openFileInside(root: string, names: readonly string[]): Promise<FileHandle | null> {
  const real = await nullIfAbsent(realpath(root));
  let directory = real === null ? null : await holdDirectory(real);
  for (const name of names.slice(0, -1)) {
    if (directory === null) return null;
    const parent: HeldDirectory = directory;
    directory = await holdDirectory(path.join(parent.path, name)).finally(parent.close);
  }
  if (directory === null) return null;
  try {
    return await openRegularFile(path.join(directory.path, names.at(-1) ?? ""));
  } finally {
    await directory.close();
  }
}

async function openRegularFile(file: string): Promise<FileHandle | null> {
  // Opening a device or a pipe can have effects of its own; it is not even tried.
  const named = await nullIfAbsent(lstat(file));
  if (named?.isFile() !== true) return null;
  const handle = await nullIfAbsent(open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK));
  if (handle === null) return null;
  const opened = await handle.stat();
  if (opened.isFile() && opened.nlink === 1 && (hasDescriptorPaths || (await isStillThere(file, opened)))) return handle;
  await handle.close();
  return null;
}

/** Without paths of descriptors: is the open file the one that the path leads to, and without a link? */
async function isStillThere(file: string, opened: { dev: number; ino: number }): Promise<boolean> {
  const named = await nullIfAbsent(lstat(file));
  return named?.dev === opened.dev && named.ino === opened.ino && (await nullIfAbsent(realpath(file))) === file;
}
