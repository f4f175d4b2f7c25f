import { mkdir, unlink } from "node:fs/promises";
import { codeOf, entryPath, type HeldDirectory, holdDirectory, holdRoot } from "./held-directory.ts";

/** Number of attempts while another program keeps changing the name. */
const MAX_TRIES = 100;

/** How to treat a file or a link that has the name of a directory, or a directory that has the name of a file. */
export type ObstacleHandling = "refuse" | "remove";

/** Something other than a directory has the name of a directory. */
export class NotADirectory extends Error {
  override readonly name = "NotADirectory";
  readonly code = "ENOTDIR";
  /** Name without the path. */
  readonly entry: string;

  constructor(entry: string) {
    super(`${entry} is not a directory: a file or a link has its name.`);
    this.entry = entry;
  }
}

/**
 * Creates a directory below a trusted root, name by name, and opens it. If a name of the path belongs to a link or a
 * file, rejects with `NotADirectory`; with `obstacles: "remove"`, removes the link or the file instead. Never changes
 * the target of a link.
 */
export async function makeDirectoryInside(
  root: string | HeldDirectory,
  names: readonly string[],
  { mode = 0o700, obstacles = "refuse" }: { mode?: number; obstacles?: ObstacleHandling } = {},
): Promise<HeldDirectory> {
  let directory = holdRoot(root);
  for (const name of names) {
    using parent = directory;
    directory = await makeEntry(parent, name, mode, obstacles);
  }
  return directory;
}

async function makeEntry(parent: HeldDirectory, name: string, mode: number, obstacles: ObstacleHandling): Promise<HeldDirectory> {
  const pathname = entryPath(parent, name);
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    await mkdir(pathname, { mode }).catch(rethrowUnlessCode("EEXIST"));
    const directory = holdDirectory(pathname);
    if (directory !== null) return directory;
    if (obstacles === "refuse") break;
    // The removal fails if the name has become a directory; the next try opens it.
    await unlink(pathname).catch(rethrowUnlessCode("ENOENT", "EISDIR", "EPERM"));
  }
  throw new NotADirectory(name);
}

/** Returns a handler that throws an error again unless it has one of these codes. */
export const rethrowUnlessCode =
  (...codes: readonly string[]) =>
  (error: unknown): void => {
    if (!codes.includes(String(codeOf(error)))) throw error;
  };
