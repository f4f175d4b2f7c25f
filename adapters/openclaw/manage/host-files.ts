import { randomUUID } from "node:crypto";
import { lstat, mkdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { ManagementError } from "#contract";
import { textEtag } from "./etag.ts";

// What the gateway has no call for, done on its own host: in workspaces and directories of skills, never in its state.

/** Is a path inside a directory, and not the directory itself? Both as they are written. */
export function isInside(directory: string, file: string): boolean {
  const relative = path.relative(directory, file);
  return relative !== "" && !path.isAbsolute(relative) && relative.split(path.sep)[0] !== "..";
}

/** Removes a file of a directory, if it is the one that the gateway has read. */
export async function removeFile(directory: string, name: string, etag: string): Promise<void> {
  const file = path.join(directory, name);
  const here = path.dirname(file) === path.resolve(directory) ? await readPlainFile(file) : null;
  if (here === null || textEtag(here) !== etag) throw otherHost();
  await rm(file);
}

/** Reads a file that is, links resolved, inside the directory; null: there is none. */
export async function readInside(directory: string, file: string): Promise<string | null> {
  try {
    if (!isInside(await realpath(directory), await realpath(file))) throw leadsOut();
    return await readFile(file, "utf8");
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Writes a file whole or not at all, in a directory that is, links resolved, inside the root. */
export async function writeInside(root: string, directory: string, name: string, content: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await expectInside(root, directory);
  const file = path.join(directory, name);
  const there = await lstat(file).catch(() => null);
  if (there?.isFile() === false) throw leadsOut();
  const written = `${file}.${randomUUID()}`;
  try {
    await writeFile(written, content, { flag: "wx" });
    await rename(written, file);
  } finally {
    await rm(written, { force: true });
  }
}

/** Removes a directory that is, links resolved, inside the root; links in it are removed, not followed. */
export async function removeInside(root: string, directory: string): Promise<void> {
  await expectInside(root, directory);
  await rm(directory, { recursive: true });
}

/** Is it the same directory on this host, whatever links lead there? One that does not exist yet goes by its name. */
export async function isSameDirectory(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map((directory) => realpath(directory).catch(() => path.resolve(directory))));
  return first === second;
}

async function expectInside(root: string, directory: string): Promise<void> {
  if ((await lstat(directory).catch(() => null)) === null) throw otherHost();
  if ((await lstat(directory)).isSymbolicLink()) throw leadsOut();
  if (!isInside(await realpath(root), await realpath(directory))) throw leadsOut();
}

async function readPlainFile(file: string): Promise<Buffer | null> {
  const there = await lstat(file).catch(() => null);
  return there?.isFile() === true && there.nlink === 1 ? await readFile(file) : null;
}

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";

const leadsOut = () =>
  new ManagementError("conflict", "A link leads out of the directory that this belongs to; Bridge does not follow it.");

const otherHost = () =>
  new ManagementError(
    "not_supported",
    "What the gateway has is not on this host as it says. Take BRIDGE_OPENCLAW_STATE_DIR away where the gateway runs on another host, or in a container with directories of its own.",
  );
