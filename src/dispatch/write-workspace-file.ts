import { makeDirectoryInside, NotADirectory, writeFileInside } from "@hak2i/nofollow-fs";
import { BridgeError } from "../errors.ts";

/**
 * Writes a file of a workspace, whole or not at all, with the directories above it. No link is followed: a link that has the name of the file is
 * replaced, one that has the name of a directory is refused. Throws BridgeError: invalid_state, storage_unavailable.
 */
export async function writeWorkspaceFile(workspace: string, names: readonly string[], content: Uint8Array): Promise<void> {
  try {
    using directory = await makeDirectoryInside(workspace, names.slice(0, -1));
    await writeFileInside(directory, names.at(-1) ?? "", content);
  } catch (error) {
    throw explainWrite(error, names.join("/"));
  }
}

/** What the caller can do about a failed write, without the paths of this machine. */
export function explainWrite(error: unknown, path: string): unknown {
  if (error instanceof NotADirectory)
    return new BridgeError("invalid_state", `${path} cannot be written: a file or a link has the name of the directory ${error.entry}.`);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const reason = reasons[code];
  if (reason !== undefined) return new BridgeError("invalid_state", `${path} cannot be written: ${reason}.`);
  if (fullDisk.has(code)) return new BridgeError("storage_unavailable", "The disk of the workspace is full.", { cause: error });
  return error;
}

const fullDisk: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

const reasons: Readonly<Record<string, string>> = {
  EISDIR: "a directory has its name",
  ENOTEMPTY: "a directory has its name",
  EEXIST: "a directory has its name",
  EACCES: "its directory does not permit it",
  EPERM: "its directory does not permit it",
  EROFS: "its file system is read-only",
};
