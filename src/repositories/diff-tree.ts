import { lstat } from "node:fs/promises";
import path from "node:path";
import { nullIfAbsent, openFileInside } from "@hak2i/nofollow-fs";
import { BridgeError } from "../errors.ts";
import { diffWorkTree } from "../workspaces/diff-work-tree.ts";
import type { RunGit } from "../workspaces/isolated-git.ts";
import type { TaskDiff } from "../workspaces/task-diffs.ts";
import { INDEX_FILE } from "./create-tree.ts";
import type { TreeRecord } from "./tree-record.ts";

const MAX_ALTERNATES_BYTES = 16 * 1024;

/** Options of `diffTree`. */
export interface TreeDiffOptions {
  /** The directory that contains the tree. */
  directory: string;
  record: TreeRecord;
  /** The directories of objects that the tree borrows. */
  borrowed: readonly string[];
  runGit: RunGit;
  withScratch<T>(act: (scratch: string) => Promise<T>): Promise<T>;
  signal: AbortSignal;
}

/** Returns the diff of the base and a tree in which a task runs. Throws BridgeError: invalid_state, not_supported. */
export async function diffTree({ directory, record, borrowed, runGit, withScratch, signal }: TreeDiffOptions): Promise<TaskDiff> {
  const workspace = path.join(directory, record.repository.name);
  if ((await readAlternates(workspace)) !== borrowed.map((name) => `${name}\n`).join(""))
    throw new BridgeError(
      "invalid_state",
      "The task has replaced the repository of its work tree, so the diff is available after its end.",
    );
  const commit = record.baseCommit;
  const index = path.join(directory, INDEX_FILE);
  const compared = await withScratch((scratch) => diffWorkTree({ workspace, directory: "", commit, index, scratch, runGit, signal }));
  return { commit, directory: "", ...compared };
}

/** Returns the list of borrowed objects of a tree, through which git would read elsewhere; null if its repository is not a directory. */
async function readAlternates(tree: string): Promise<string | null> {
  if ((await nullIfAbsent(lstat(path.join(tree, ".git"))))?.isDirectory() !== true) return null;
  await using file = await openFileInside(tree, [".git", "objects", "info", "alternates"]);
  if (file === null || (await file.stat()).size > MAX_ALTERNATES_BYTES) return null;
  return await file.readFile("utf8");
}
