import { lstat, realpath } from "node:fs/promises";
import path from "node:path";
import { createTurns } from "@hak2i/async-kit";
import { isInside, nullIfAbsent } from "@hak2i/nofollow-fs";
import { BridgeError } from "../errors.ts";
import type { Store } from "../store/store.ts";
import { type DiffCut, diffWorkTree } from "./diff-work-tree.ts";
import type { RunGit } from "./isolated-git.ts";
import type { StartCommit } from "./start-commit.ts";
import type { Workspaces } from "./workspace-directories.ts";

/** Maximum time for a diff, including the wait for its turn. Shorter than the time that the console waits for a response. */
const LIMIT_MS = 25_000;
/** Each lane computes one diff at a time. A tenant uses one lane at a time. */
const LANES = ["1", "2", "3", "4"];

/** The changes of a work tree since a task started. */
export interface TaskDiff extends StartCommit {
  /** The text of the diff, in which U+FFFD replaces each byte that is not UTF-8. */
  diff: string;
  /** The exact bytes of the diff, in base64; null if `diff` contains them. */
  diffBase64: string | null;
  /** Why the diff is not complete; null if it is. */
  truncated: DiffCut | null;
  /** Files that are too large to be compared. */
  omitted: string[];
}

/** What a request for a diff provides. */
export interface DiffRequest {
  /** Reserves memory for the answer. Called when it is the turn of the tenant. Throws BridgeError: overloaded. */
  reserve(): Promise<void>;
  signal: AbortSignal;
}

/**
 * Creates the access to the diffs of tasks. A diff compares the start commit of a task with the files that are in its work tree now, so it
 * also contains what later tasks have changed.
 */
export function createTaskDiffs({
  store,
  workspaces,
  runGit,
}: {
  store: Pick<Store, "findTaskProgress">;
  workspaces: Pick<Workspaces, "workspaceOf" | "startCommitOf" | "withScratch">;
  runGit: RunGit;
}) {
  const turns = createTurns();
  const lanes = createTurns();
  let count = 0;

  /** A tenant waits for its own turn first, so that it takes at most one place among all tenants. */
  function inTurn<T>(tenant: string, { reserve, signal }: DiffRequest, act: () => Promise<T>): Promise<T> {
    const chooseLane = () => LANES.find((lane) => !lanes.isTaken(lane)) ?? (LANES[count++ % LANES.length] as string);
    const takeLane = async () => {
      await reserve();
      return lanes.take(chooseLane(), act, signal);
    };
    return turns.take(tenant, takeLane, signal);
  }

  return {
    /** Returns the diff of a task. Throws BridgeError: not_found, invalid_state, not_supported, overloaded. */
    async read(tenant: string, taskId: string, { reserve, signal }: DiffRequest): Promise<TaskDiff> {
      const task = await store.findTaskProgress(tenant, taskId);
      if (task === null) throw new BridgeError("not_found", "There is no such task.");
      if (task.startedAt === null)
        throw new BridgeError("invalid_state", "The task has not started, so there is no commit to compare with. Try again later.");
      const start = workspaces.startCommitOf(task);
      if (start === null) throw new BridgeError("invalid_state", NO_START_COMMIT);
      const limited = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
      const compare = async () => {
        // After the wait, because a task can replace every directory in its workspace.
        const workspace = await findWorkspace(workspaces.workspaceOf(tenant, task.agentId), start.directory);
        return workspaces.withScratch((scratch) => diffWorkTree({ ...start, workspace, scratch, runGit, signal: limited }));
      };
      const compared = await inTurn(tenant, { reserve, signal: limited }, compare).catch((error: unknown) => {
        if (error instanceof BridgeError || !limited.aborted) throw error;
        throw new BridgeError("overloaded", "Too many diffs were requested at the same time. Try again later.");
      });
      return { ...start, ...compared };
    },
  };
}

/** Returns the real path of a workspace. Throws BridgeError: invalid_state, if it has no such work tree, or one that borrows objects. */
async function findWorkspace(workspace: string, directory: string): Promise<string> {
  const root = await nullIfAbsent(realpath(workspace));
  const workTree = path.join(root ?? workspace, directory);
  if (root === null || !isInside(root, workTree) || !(await isRealDirectory(path.join(workTree, ".git", "objects"))))
    throw new BridgeError("invalid_state", "The git work tree in which the task started no longer exists.");
  if ((await nullIfAbsent(lstat(path.join(workTree, ".git/objects/info/alternates")))) !== null)
    throw new BridgeError(
      "invalid_state",
      "The repository of the workspace borrows objects from another one (objects/info/alternates), which Bridge does not read. Run `git repack -a -d` there and remove the file.",
    );
  return root;
}

/** Returns whether the path names a directory without any link. */
async function isRealDirectory(directory: string): Promise<boolean> {
  const isDirectory = (await nullIfAbsent(lstat(directory)))?.isDirectory() === true;
  return isDirectory && (await nullIfAbsent(realpath(directory))) === directory;
}

const NO_START_COMMIT =
  "Bridge recorded no commit when the task started. A diff needs a workspace, or a `metadata.cwd`, in a git repository that has a commit. `.git` must be a directory of the workspace, not a file or a link.";
