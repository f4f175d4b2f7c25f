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
import { textEtag } from "./etag.ts";

// What the gateway has no call for, done on its own host: in workspaces and directories of skills, never in its state.

/** Maximum size of a file of a skill. */
const MAX_FILE_BYTES = 16 * 1024 ** 2;

/** Is a path inside a directory, and not the directory itself? Both as they are written. */
export function isInside(directory: string, file: string): boolean {
  const relative = path.relative(directory, file);
  return relative !== "" && !path.isAbsolute(relative) && relative.split(path.sep)[0] !== "..";
}

/** Removes a file of a directory, if it is the one that the gateway has read. */
export async function removeFile(directory: string, name: string, etag: string): Promise<void> {
  const isEntry = path.dirname(path.join(directory, name)) === path.resolve(directory);
  await using file = isEntry ? await openFileInside(directory, [name]) : null;
  if (file === null || textEtag(await file.readFile()) !== etag) throw notOnThisHost();
  await removeInside(directory, name);
}

/** Reads a file that is, links resolved, inside the directory; null: there is none. */
export function readInside(directory: string, file: string): string | null {
  const reading = readFileInside(directory, file, MAX_FILE_BYTES);
  if ("content" in reading) return reading.content.toString("utf8");
  if (reading.fault === "missing") return null;
  if (reading.fault === "too_large")
    throw new ManagementError(
      "conflict",
      `${path.basename(file)} has more than ${MAX_FILE_BYTES / 1024 ** 2} MiB; Bridge does not read it.`,
    );
  if (reading.fault === "no_file")
    throw Object.assign(new Error("Something else has the name of a file."), { code: "EISDIR", syscall: "read" });
  throw linkOutside();
}

/** Writes a file whole or not at all, in a directory below the root. No link below the root is followed. */
export async function writeInside(root: string, directory: string, name: string, content: string): Promise<void> {
  makePrivateDirectory(root);
  const opening = makeDirectoryInside(root, namesBelow(root, directory), { mode: 0o777 });
  using parent = await opening.catch((error: unknown) => {
    throw error instanceof NotADirectory ? linkOutside() : error;
  });
  const there = await lstat(path.join(parent.path, name)).catch(() => null);
  if (there?.isFile() === false) throw linkOutside();
  await writeFileInside(parent, name, content, { mode: 0o644 });
}

/** Removes a directory below the root. No link below the root is followed. */
export async function removeDirectory(root: string, directory: string): Promise<void> {
  const names = namesBelow(root, directory);
  const last = names.at(-1) ?? "";
  if ((await lstat(directory).catch(() => null)) === null) throw notOnThisHost();
  using parent = holdInside(root, names.slice(0, -1));
  if (parent === null || !(await lstat(path.join(parent.path, last))).isDirectory()) throw linkOutside();
  await removeInside(parent, last);
}

/** Both paths as the gateway reports them, links not resolved. */
function namesBelow(root: string, directory: string): string[] {
  if (!isInside(root, directory)) throw linkOutside();
  return path.relative(root, directory).split(path.sep);
}

/** Is it the same directory on this host, whatever links lead there? One that does not exist yet goes by its name. */
export async function isSameDirectory(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map((directory) => realpath(directory).catch(() => path.resolve(directory))));
  return first === second;
}

const linkOutside = () =>
  new ManagementError("conflict", "A link leads out of the directory that this belongs to; Bridge does not follow it.");

const notOnThisHost = () =>
  new ManagementError(
    "not_supported",
    "What the gateway has is not on this host as it says. Take BRIDGE_OPENCLAW_STATE_DIR away where the gateway runs on another host, or in a container with directories of its own.",
  );
