import { makeDirectoryInside, NotADirectory, writeFileInside } from "@hak2i/nofollow-fs";
import { BridgeError } from "../errors.ts";

/**
 * Writes a file of a workspace atomically, and creates missing directories. Follows no links: it replaces a link at the path of the file,
 * and rejects a link at the path of a directory. Throws BridgeError: invalid_state, storage_unavailable.
 */
export async function writeWorkspaceFile(workspace: string, names: readonly string[], content: Uint8Array): Promise<void> {
  try {
    using directory = await makeDirectoryInside(workspace, names.slice(0, -1));
    await writeFileInside(directory, names.at(-1) ?? "", content);
  } catch (error) {
    throw explainWrite(error, names.join("/"));
  }
}

/** Converts the error of a failed write to one for the caller, without paths of the host. */
export function explainWrite(error: unknown, path: string): unknown {
  if (error instanceof NotADirectory)
    return new BridgeError("invalid_state", `${path} cannot be written: ${error.entry} is a file or a link, not a directory.`);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const reason = reasons[code];
  if (reason !== undefined) return new BridgeError("invalid_state", `${path} cannot be written: ${reason}.`);
  if (fullDisk.has(code))
    return new BridgeError("storage_unavailable", "The disk of the workspace is full. Free space on Bridge's host.", { cause: error });
  return error;
}

const fullDisk: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

const reasons: Readonly<Record<string, string>> = {
  EISDIR: "a directory has its name",
  ENOTEMPTY: "a directory has its name",
  EEXIST: "a directory has its name",
  EACCES: "Bridge lacks the permission to write to its directory",
  EPERM: "Bridge lacks the permission to write to its directory",
  EROFS: "its file system is read-only",
};
