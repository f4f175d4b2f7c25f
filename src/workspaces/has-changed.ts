import { chmod, lstat, opendir, realpath } from "node:fs/promises";
import path from "node:path";
import { sleep } from "@hak2i/async-kit";
import { type HeldDirectory, holdDirectory } from "@hak2i/nofollow-fs";

/** Limits of the walk. What is beyond them counts as changed. */
const MAX_ENTRIES = 200_000;
const MAX_DEPTH = 64;

/**
 * Returns the time by the clock of the file system, in ms since the epoch, after all changes that were made before the call. It advances in
 * steps of some milliseconds, so this waits for the next one. Only the workspace itself gets this time.
 */
export async function markTime(workspace: string): Promise<number> {
  using held = holdDirectory(await realpath(workspace));
  if (held === null) throw new Error("The workspace is not a directory.");
  const root = `${held.path}/.`;
  const { mode } = await lstat(root);
  const touch = async (): Promise<number> => {
    await chmod(root, mode);
    return (await lstat(root)).ctimeMs;
  };
  const first = await touch();
  for (;;) {
    const now = await touch();
    if (now > first) return now;
    await sleep(1);
  }
}

/**
 * Whether an entry below the workspace was changed, created, renamed or deleted since a time that `markTime` has returned, or may have
 * been: what cannot be read counts as changed. A program cannot set the time that counts, the `ctime`.
 */
export async function hasChanged(workspace: string, since: number): Promise<boolean> {
  let entries = 0;

  async function visit(directory: HeldDirectory | null, depth: number): Promise<boolean> {
    if (directory === null || depth > MAX_DEPTH) return true;
    using held = directory;
    // The entries of a directory are also its content.
    const { ctimeMs } = await lstat(`${held.path}/.`);
    if (depth === 0 ? ctimeMs > since : ctimeMs >= since) return true;
    for await (const entry of await opendir(held.path)) {
      entries += 1;
      if (entries > MAX_ENTRIES) return true;
      const name = path.join(held.path, entry.name);
      if (entry.isDirectory() ? await visit(holdDirectory(name), depth + 1) : (await lstat(name)).ctimeMs >= since) return true;
    }
    return false;
  }

  try {
    return await visit(holdDirectory(await realpath(workspace)), 0);
  } catch {
    return true;
  }
}
