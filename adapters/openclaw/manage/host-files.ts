import { lstat, realpath } from "node:fs/promises";
import path from "node:path";
import {
  holdInside,
  makeDirectoryInside,
  makePrivateDirectory,
  NotADirectory,
  openFileInside,
  readFileInside,
  removeInside,
  writeFileInside,
} from "@hak2i/nofollow-fs";
import { ManagementError } from "#contract";
import { createTextEtag } from "./etag.ts";

// Operations that the gateway's API does not offer, in workspaces and skill directories on its host. They never change its private state.

/** Maximum size of a skill file. */
const MAX_FILE_BYTES = 16 * 1024 ** 2;

/** Returns whether a path is inside a directory, and not the directory itself. Does not resolve links. */
export function isInside(directory: string, file: string): boolean {
  const relative = path.relative(directory, file);
  return relative !== "" && !path.isAbsolute(relative) && relative.split(path.sep)[0] !== "..";
}

/** Removes a file in a directory if its content has the etag that the gateway returned. */
export async function removeFile(directory: string, name: string, etag: string): Promise<void> {
  const isEntry = path.dirname(path.join(directory, name)) === path.resolve(directory);
  await using file = isEntry ? await openFileInside(directory, [name]) : null;
  if (file === null || createTextEtag(await file.readFile()) !== etag) throw createHostError();
  await removeInside(directory, name);
}

/** Reads a file that is inside the directory after links are resolved; null if it does not exist. */
export function readInside(directory: string, file: string): string | null {
  const reading = readFileInside(directory, file, MAX_FILE_BYTES);
  if ("content" in reading) return reading.content.toString("utf8");
  if (reading.fault === "missing") return null;
  if (reading.fault === "too_large")
    throw new ManagementError(
      "conflict",
      `${path.basename(file)} is larger than ${MAX_FILE_BYTES / 1024 ** 2} MiB, so Bridge does not read it.`,
    );
  if (reading.fault === "no_file") throw Object.assign(new Error("The path is not a regular file."), { code: "EISDIR", syscall: "read" });
  throw createLinkError();
}

/** Writes a file atomically, in a directory below the root. Follows no links below the root. */
export async function writeInside(root: string, directory: string, name: string, content: string): Promise<void> {
  makePrivateDirectory(root);
  const opening = makeDirectoryInside(root, splitPathBelow(root, directory), { mode: 0o777 });
  using parent = await opening.catch((error: unknown) => {
    throw error instanceof NotADirectory ? createLinkError() : error;
  });
  const existing = await lstat(path.join(parent.path, name)).catch(() => null);
  if (existing?.isFile() === false) throw createLinkError();
  await writeFileInside(parent, name, content, { mode: 0o644 });
}

/** Removes a directory below the root. Follows no links below the root. */
export async function removeDirectory(root: string, directory: string): Promise<void> {
  const names = splitPathBelow(root, directory);
  const last = names.at(-1) ?? "";
  if ((await lstat(directory).catch(() => null)) === null) throw createHostError();
  using parent = holdInside(root, names.slice(0, -1));
  if (parent === null || !(await lstat(path.join(parent.path, last))).isDirectory()) throw createLinkError();
  await removeInside(parent, last);
}

/** Splits the path from the root to the directory, without resolving links. Throws if the directory is not below the root. */
function splitPathBelow(root: string, directory: string): string[] {
  if (!isInside(root, directory)) throw createLinkError();
  return path.relative(root, directory).split(path.sep);
}

/**
 * Returns whether both paths resolve to the same directory on this host. A path that does not exist is compared without resolving links.
 */
export async function isSameDirectory(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map((directory) => realpath(directory).catch(() => path.resolve(directory))));
  return first === second;
}

const createLinkError = () =>
  new ManagementError("conflict", "The path contains a link that leads out of its directory. Bridge does not follow such links.");

const createHostError = () =>
  new ManagementError(
    "not_supported",
    "The files that the gateway reports do not exist on this host. Unset BRIDGE_OPENCLAW_STATE_DIR if the gateway runs on another host, or in a container with separate directories.",
  );
