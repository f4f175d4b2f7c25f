import { closeSync, constants, existsSync, openSync, realpathSync } from "node:fs";
import path from "node:path";

/** An open directory. `path` leads to this directory, even after it was renamed or another one has taken its name. */
export interface HeldDirectory extends Disposable {
  path: string;
  close(): void;
}

/** On Linux a path may begin at an open directory. Other systems have no such path, so there a directory is checked by its real path. */
export const hasDescriptorPaths = existsSync("/proc/self/fd");

/** Linux: refers to a file without opening it. Needs no read permission, has no effect on a device and does not wait for a pipe. */
export const O_PATH = hasDescriptorPaths ? 0o10000000 : 0;

/** Errors that mean there is nothing to open. Any other error is a fault of the process or of the disk. */
const absences: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM", "ENAMETOOLONG", "ENXIO", "ENODEV"]);

/** Resolves with null when the error means that there is nothing to open. */
export async function nullIfAbsent<T>(opening: Promise<T>): Promise<T | null> {
  try {
    return await opening;
  } catch (error) {
    if (absences.has(codeOf(error))) return null;
    throw error;
  }
}

/**
 * Opens a directory; null when there is none, or when its name is a link. The path of its parent must be trusted or be that of a held directory.
 * Synchronous: to open a directory by O_PATH takes less time than a turn through the thread pool.
 */
export function holdDirectory(directory: string | Buffer): HeldDirectory | null {
  try {
    if (hasDescriptorPaths) return openDirectory(directory, constants.O_NOFOLLOW);
    const real = realpathSync(directory);
    return real === directory.toString() ? heldByPath(real) : null;
  } catch (error) {
    if (absences.has(codeOf(error))) return null;
    throw error;
  }
}

/** Opens a trusted directory, links followed; throws when there is none. A held directory stays open after the result is closed. */
export function holdRoot(root: string | HeldDirectory): HeldDirectory {
  if (typeof root !== "string") return heldByPath(root.path);
  return hasDescriptorPaths ? openDirectory(root, 0) : heldByPath(realpathSync(root));
}

/** Opens a directory below a trusted root, name by name; null when there is none, or when a name is a link. */
export function holdInside(root: string | HeldDirectory, names: readonly string[]): HeldDirectory | null {
  let directory: HeldDirectory | null = holdRoot(root);
  for (const name of names) {
    using parent: HeldDirectory = directory;
    directory = holdDirectory(entryPath(parent, name));
    if (directory === null) return null;
  }
  return directory;
}

/** The path of one entry of a directory. */
export function entryPath(directory: Pick<HeldDirectory, "path">, name: string): string {
  if (name === "" || name === "." || name === ".." || name.includes("/") || name.includes(path.sep) || name.includes("\0"))
    throw new TypeError(`${JSON.stringify(name)} is not a file name.`);
  return `${directory.path}/${name}`;
}

export const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);

function openDirectory(directory: string | Buffer, flag: number): HeldDirectory {
  const descriptor = openSync(directory, O_PATH | constants.O_RDONLY | constants.O_DIRECTORY | flag);
  const close = () => closeSync(descriptor);
  return { path: `/proc/self/fd/${descriptor}`, close, [Symbol.dispose]: close };
}

function heldByPath(directory: string): HeldDirectory {
  const close = () => {};
  return { path: directory, close, [Symbol.dispose]: close };
}
