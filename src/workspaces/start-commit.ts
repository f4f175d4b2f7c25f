import { hash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isInside, makePrivateDirectory, readFileInside } from "@hak2i/nofollow-fs";
import { type Task, type TaskIdentity, taskHandle } from "../task.ts";

/** Recorded commits of one agent after the oldest were removed. */
const MAX_START_COMMITS = 1000;
/** About one in 256 records removes the oldest ones, because listing them takes about 1 ms. */
const REMOVES_OLDEST = /00$/;
/** Bridge reads `packed-refs` before a task starts, so a larger file would delay other tasks. */
const MAX_PACKED_REFS_BYTES = 1024 * 1024;
const MAX_REF_BYTES = 4096;
const MAX_SYMBOLIC_REFS = 5;

/** The commit that a git work tree had checked out when a task started. */
export interface StartCommit {
  commit: string;
  /** The directory of the work tree, relative to the workspace; empty for the workspace itself. */
  directory: string;
}

/** A task whose start commit is recorded. A later task with the same id differs by its `createdAt`. */
export type RecordedTask = Pick<TaskIdentity, "tenant" | "taskId" | "agentId"> & Pick<Task, "createdAt">;

/**
 * Records the commit of the work tree that a task starts in, in a file that tasks in a sandbox cannot see. Without a work tree, records
 * nothing. A task that runs again after a restart keeps its first commit.
 */
export function recordStartCommit(filesDir: string, task: RecordedTask, { workspace, cwd }: { workspace: string; cwd: string }): void {
  const found = findStartCommit(workspace, cwd);
  if (found === null) return;
  const directory = directoryOf(filesDir, task);
  try {
    makePrivateDirectory(directory);
    const record = nameOf(task);
    writeFileSync(path.join(directory, record), JSON.stringify(found), { flag: "wx", mode: 0o600 });
    if (!REMOVES_OLDEST.test(record)) return;
    // The names begin with the time, so the first ones are the oldest.
    const surplus = readdirSync(directory).sort().slice(0, -MAX_START_COMMITS);
    for (const name of surplus) rmSync(path.join(directory, name), { force: true });
  } catch {
    // A task runs without its record: only its diff is unavailable.
  }
}

/** Returns the recorded commit of a task; null if there is none. */
export function readStartCommit(filesDir: string, task: RecordedTask): StartCommit | null {
  try {
    const { commit, directory } = JSON.parse(readFileSync(path.join(directoryOf(filesDir, task), nameOf(task)), "utf8")) as StartCommit;
    return COMMIT.test(commit) && typeof directory === "string" ? { commit, directory } : null;
  } catch {
    return null;
  }
}

/** The id of a commit: SHA-1 or SHA-256. */
export const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

const directoryOf = (filesDir: string, { tenant, agentId }: RecordedTask): string => path.join(filesDir, "commits", tenant, agentId);
const nameOf = (task: RecordedTask): string => `${task.createdAt}-${hash("sha256", taskHandle(task)).slice(0, 24)}`;

/** Finds the innermost directory with a repository, from the working directory up to the workspace. */
function findStartCommit(workspace: string, cwd: string): StartCommit | null {
  try {
    // Most workspaces have no repository, and the check takes a sixth of the time of finding the real path.
    if (cwd === workspace && lstatSync(path.join(workspace, ".git"), { throwIfNoEntry: false }) === undefined) return null;
    const root = realpathSync(workspace);
    for (let directory = realpathSync(cwd); isInside(root, directory); directory = path.dirname(directory)) {
      const gitDirectory = path.join(directory, ".git");
      const stats = lstatSync(gitDirectory, { throwIfNoEntry: false });
      if (stats === undefined) continue;
      const commit = stats.isDirectory() ? readHead(gitDirectory) : null;
      return commit === null ? null : { commit, directory: path.relative(root, directory) };
    }
    return null;
  } catch {
    return null;
  }
}

/** Returns the commit that HEAD of a repository names; null if there is none. Does not start git, because every task waits for it. */
export function readHead(gitDirectory: string): string | null {
  let text = readText(gitDirectory, "HEAD", MAX_REF_BYTES);
  for (let count = 0; count < MAX_SYMBOLIC_REFS && text !== null; count += 1) {
    if (COMMIT.test(text)) return text;
    const ref = /^ref: (refs\/\S+)$/.exec(text)?.[1];
    if (ref === undefined || ref.split("/").includes("..")) return null;
    text = readText(gitDirectory, ref, MAX_REF_BYTES) ?? findPackedRef(gitDirectory, ref);
  }
  return null;
}

/** Searches the bytes, because splitting a file of short lines takes 100 times as long. */
function findPackedRef(gitDirectory: string, ref: string): string | null {
  const bytes = readBytes(gitDirectory, "packed-refs", MAX_PACKED_REFS_BYTES);
  const end = bytes?.indexOf(` ${ref}\n`) ?? -1;
  if (bytes === null || end < 0) return null;
  return bytes.toString("latin1", bytes.lastIndexOf("\n", end) + 1, end);
}

const readText = (gitDirectory: string, name: string, limitBytes: number): string | null =>
  readBytes(gitDirectory, name, limitBytes)?.toString("utf8").trim() ?? null;

function readBytes(gitDirectory: string, name: string, limitBytes: number): Buffer | null {
  try {
    const reading = readFileInside(gitDirectory, path.join(gitDirectory, name), limitBytes);
    return "content" in reading ? reading.content : null;
  } catch {
    return null;
  }
}
