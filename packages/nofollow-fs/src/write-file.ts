import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { codeOf, entryPath, type HeldDirectory, holdRoot } from "./held-directory.ts";
import { type ObstacleHandling, rethrowUnlessCode } from "./make-directory.ts";
import { removeInside } from "./remove.ts";

/**
 * Writes a file in a directory atomically. Replaces a link or a file of that name without writing through it. If a
 * directory has that name, rejects; with `obstacles: "remove"`, removes the directory instead.
 */
export async function writeFileInside(
  directory: string | HeldDirectory,
  name: string,
  content: string | Uint8Array,
  { mode = 0o600, obstacles = "refuse" }: { mode?: number; obstacles?: ObstacleHandling } = {},
): Promise<void> {
  using held = holdRoot(directory);
  const temporaryName = `.${randomUUID()}`;
  try {
    {
      await using handle = await createFileInside(held, temporaryName, mode);
      await handle.writeFile(content);
    }
    const replaceTarget = () => rename(entryPath(held, temporaryName), entryPath(held, name));
    await replaceTarget().catch(async (error: unknown) => {
      if (obstacles === "refuse" || !DIRECTORY_CODES.has(codeOf(error))) throw error;
      await removeInside(held, name);
      await replaceTarget();
    });
  } catch (error) {
    await unlink(entryPath(held, temporaryName)).catch(rethrowUnlessCode("ENOENT"));
    throw error;
  }
}

/** Creates a file in a directory and opens it for writing. Rejects with EEXIST if a file or a link has that name. */
export async function createFileInside(directory: HeldDirectory, name: string, mode = 0o600): Promise<FileHandle> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  return await open(entryPath(directory, name), flags, mode);
}

/** Codes of `rename` if a directory has the name. */
const DIRECTORY_CODES: ReadonlySet<unknown> = new Set(["EISDIR", "ENOTEMPTY", "EEXIST"]);
