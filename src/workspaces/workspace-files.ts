import { lstat, realpath } from "node:fs/promises";
import path from "node:path";
import { createTurns } from "@hak2i/async-kit";
import { holdInside, makePrivateDirectory, nullIfAbsent, removeFileInside } from "@hak2i/nofollow-fs";
import { BridgeError } from "../errors.ts";
import { readWritablePath } from "../requests/workspace-path.ts";
import { fileTag } from "./file-tag.ts";
import type { Workspaces } from "./workspace-directories.ts";
import { explainWrite, writeWorkspaceFile } from "./write-workspace-file.ts";

/** A precondition of a write or a deletion. */
export interface FileCondition {
  /** The file must have one of these tags. `any`: it must exist. null: no condition. */
  ifMatch: "any" | readonly string[] | null;
  /** The file must not exist. */
  mustBeNew: boolean;
}

/** A file in the workspace of an agent. */
export interface WorkspaceFile {
  tenant: string;
  agentId: string;
  path: string;
}

export type WorkspaceFiles = ReturnType<typeof createWorkspaceFiles>;

/**
 * Creates the writer of workspace files for callers. Its methods throw BridgeError: invalid_request, invalid_state, stale_write, not_found.
 */
export function createWorkspaceFiles({ workspaces }: { workspaces: Workspaces }) {
  // Serializes requests, so that no other request changes the workspace between the check of a condition and the write.
  const turns = createTurns();

  return {
    /** Creates or replaces a file, also while a task runs in the workspace. The task reads either the old or the new content. */
    put(file: WorkspaceFile, content: Uint8Array, condition: FileCondition): Promise<{ isNew: boolean; tag: string }> {
      const names = parsePath(file);
      const workspace = workspaces.workspaceOf(file.tenant, file.agentId);
      return turns.take(workspace, async () => {
        makeWorkspace(workspace, file.agentId);
        const previous = await findEntry(workspace, names);
        checkCondition(condition, previous);
        await writeWorkspaceFile(workspace, names, content);
        const written = await findEntry(workspace, names);
        // A task has removed or replaced the file since the write.
        if (written?.tag == null)
          throw new BridgeError("invalid_state", `${file.path} was replaced by another program while Bridge wrote it. Write it again.`);
        return { isNew: previous?.tag == null, tag: written.tag };
      });
    },

    delete(file: WorkspaceFile, condition: FileCondition): Promise<void> {
      const names = parsePath(file);
      const workspace = workspaces.workspaceOf(file.tenant, file.agentId);
      return turns.take(workspace, async () => {
        const entry = await findEntry(workspace, names);
        checkCondition(condition, entry);
        if (entry?.tag == null || !(await removeFile(workspace, names)))
          throw new BridgeError("not_found", `The workspace has no file ${file.path}.`);
      });
    },
  };
}

/** Creates the workspace if it does not exist. */
function makeWorkspace(workspace: string, agentId: string): void {
  try {
    makePrivateDirectory(workspace);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST")
      throw new BridgeError(
        "invalid_state",
        `The workspace of ${agentId} is not a directory. Remove the file at its path on Bridge's host.`,
      );
    throw explainWrite(error, `The workspace of ${agentId}`);
  }
}

function parsePath({ path: text }: WorkspaceFile): string[] {
  const read = readWritablePath(text);
  if ("names" in read) return read.names;
  throw new BridgeError("invalid_request", `The path ${read.fault}.`, { errors: [{ path: "path", message: read.fault }] });
}

/** Finds the entry at this path; `tag` is null if it is not a regular file. */
async function findEntry(workspace: string, names: readonly string[]): Promise<{ tag: string | null } | null> {
  const root = await nullIfAbsent(realpath(workspace));
  if (root === null) return null;
  const opening = async () => holdInside(root, names.slice(0, -1));
  using directory = await nullIfAbsent(opening());
  if (directory === null) return null;
  const stats = await nullIfAbsent(lstat(path.join(directory.path, names.at(-1) ?? ""), { bigint: true }));
  return stats && { tag: stats.isFile() ? fileTag(stats) : null };
}

async function removeFile(workspace: string, names: readonly string[]): Promise<boolean> {
  try {
    using directory = holdInside(workspace, names.slice(0, -1));
    return directory !== null && (await removeFileInside(directory, names.at(-1) ?? ""));
  } catch (error) {
    throw explainWrite(error, names.join("/"));
  }
}

function checkCondition({ ifMatch, mustBeNew }: FileCondition, entry: { tag: string | null } | null): void {
  if (mustBeNew && entry !== null)
    throw new BridgeError("stale_write", "The file already exists. To replace it, send If-Match with its ETag instead of If-None-Match.");
  if (ifMatch === null) return;
  const tag = entry?.tag ?? null;
  if (tag === null) throw new BridgeError("stale_write", "The file does not exist. To create it, omit If-Match.");
  if (ifMatch !== "any" && !ifMatch.includes(tag))
    throw new BridgeError("stale_write", "The file has changed since it was read. Read it again and send its new ETag in If-Match.");
}
