import { closeSync, constants, existsSync, openSync, realpathSync } from "node:fs";
import path from "node:path";

/** An open directory. `path` refers to it even after it was renamed or replaced. */
export interface HeldDirectory extends Disposable {
  path: string;
  close(): void;
}

/** On Linux a path can start at an open directory. On other systems a directory is checked by its real path instead. */
export const hasDescriptorPaths = existsSync("/proc/self/fd");

/** Linux: refers to a file without opening it. Requires no read permission, does not affect a device and does not wait for a pipe. */
export const O_PATH = hasDescriptorPaths ? 0o10000000 : 0;

/** Codes of errors that mean that there is nothing to open. Any other error is a fault of the process or the disk. */
const ABSENCE_CODES: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM", "ENAMETOOLONG", "ENXIO", "ENODEV"]);

/** Resolves with null when the error means that there is nothing to open. */
export async function nullIfAbsent<T>(opening: Promise<T>): Promise<T | null> {
  try {
    return await opening;
  } catch (error) {
    if (ABSENCE_CODES.has(codeOf(error))) return null;
    throw error;
  }
}

/**
 * Opens a directory; null if it does not exist or is a link. The path of its parent must be trusted or be the path of a held directory.
 * Synchronous, because opening a directory with O_PATH takes less time than a call through the thread pool.
 */
export function holdDirectory(directory: string | Buffer): HeldDirectory | null {
  try {
    if (hasDescriptorPaths) return openDirectory(directory, constants.O_NOFOLLOW);
    const real = realpathSync(directory);
    return real === directory.toString() ? holdByPath(real) : null;
  } catch (error) {
    if (ABSENCE_CODES.has(codeOf(error))) return null;
    throw error;
  }
}

/**
 * Opens a trusted directory and follows links. Throws if it does not exist. If `root` is a held directory, closing the
 * result does not close `root`.
 */
export function holdRoot(root: string | HeldDirectory): HeldDirectory {
  if (typeof root !== "string") return holdByPath(root.path);
  return hasDescriptorPaths ? openDirectory(root, 0) : holdByPath(realpathSync(root));
}

/** Opens a directory below a trusted root, name by name; null if it does not exist or a name is a link. */
export function holdInside(root: string | HeldDirectory, names: readonly string[]): HeldDirectory | null {
  let directory: HeldDirectory | null = holdRoot(root);
  for (const name of names) {
    using parent: HeldDirectory = directory;
    directory = holdDirectory(entryPath(parent, name));
    if (directory === null) return null;
  }
  return directory;
}

/** Returns the path of one entry of a directory. Throws a TypeError if the name is not a single file name. */
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

function holdByPath(directory: string): HeldDirectory {
  const close = () => {};
  return { path: directory, close, [Symbol.dispose]: close };
}
