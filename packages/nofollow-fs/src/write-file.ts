import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { codeOf, entryPath, type HeldDirectory, holdRoot } from "./held-directory.ts";
import { type Replacement, unlessCode } from "./make-directory.ts";
import { removeInside } from "./remove.ts";

/**
 * Writes a file of a directory, whole or not at all. A link or a file of that name is replaced and never written through; a directory of that
 * name is refused, or with "remove" removed.
 */
export async function writeFileInside(
  directory: string | HeldDirectory,
  name: string,
  content: string | Uint8Array,
  { mode = 0o600, obstacles = "refuse" }: { mode?: number; obstacles?: Replacement } = {},
): Promise<void> {
  using held = holdRoot(directory);
  const draft = `.${randomUUID()}`;
  try {
    {
      await using handle = await createFileInside(held, draft, mode);
      await handle.writeFile(content);
    }
    const put = () => rename(entryPath(held, draft), entryPath(held, name));
    await put().catch(async (error: unknown) => {
      if (obstacles === "refuse" || !directoryCodes.has(codeOf(error))) throw error;
      await removeInside(held, name);
      await put();
    });
  } catch (error) {
    await unlink(entryPath(held, draft)).catch(unlessCode("ENOENT"));
    throw error;
  }
}

/** Creates a file of a directory and opens it to write. Rejects with EEXIST when the name is taken, by a link too. */
export async function createFileInside(directory: HeldDirectory, name: string, mode = 0o600): Promise<FileHandle> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  return await open(entryPath(directory, name), flags, mode);
}

/** What `rename` reports when a directory has the name. */
const directoryCodes: ReadonlySet<unknown> = new Set(["EISDIR", "ENOTEMPTY", "EEXIST"]);
