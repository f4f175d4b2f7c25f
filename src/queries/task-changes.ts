import { createTurns } from "@hak2i/async-kit";
import { BridgeError } from "../errors.ts";
import type { Repositories, TreeTask } from "../repositories/repository.ts";
import type { Store } from "../store/store.ts";
import { isFinal } from "../task.ts";
import type { RunGit } from "../workspaces/isolated-git.ts";
import { createTaskDiffs, type DiffRequest, type TaskDiff } from "../workspaces/task-diffs.ts";
import type { Workspaces } from "../workspaces/workspace-directories.ts";

/** Maximum time for a diff or a patch, including the wait for its turn. Shorter than the time that clients wait for a response. */
const LIMIT_MS = 25_000;

interface TaskChangesOptions {
  store: Pick<Store, "findStoredTask" | "findTaskProgress">;
  repositories: Pick<Repositories, "readDiff" | "readPatch">;
  workspaces: Workspaces;
  runGit: RunGit;
  limitMs?: number;
}

type ReadChanges<T> = (signal: AbortSignal) => Promise<T>;

export type TaskChanges = ReturnType<typeof createTaskChanges>;

/** Creates the access to what tasks have changed: in a work tree of a repository, or in the workspace of their agent. */
export function createTaskChanges({ store, repositories, workspaces, runGit, limitMs = LIMIT_MS }: TaskChangesOptions) {
  /** The diffs of tasks that run in the workspace of their agent. */
  const workspaceDiffs = createTaskDiffs({ store, workspaces, runGit });
  // Each of them runs git, so that a tenant reads one at a time.
  const turns = createTurns();

  /** Null if the task has no repository. Throws BridgeError: not_found. */
  async function findTree(tenant: string, taskId: string): Promise<{ tree: TreeTask; hasEnded: boolean } | null> {
    const { task } = (await store.findStoredTask(tenant, taskId)) ?? {};
    if (task === undefined) throw new BridgeError("not_found", "There is no such task.");
    const { repository } = task.request;
    if (repository === undefined) return null;
    const { agentId, createdAt } = task;
    const baseCommit = task.result?.repository?.baseCommit ?? repository.baseCommit;
    return { tree: { tenant, taskId, agentId, createdAt, repository: { ...repository, baseCommit } }, hasEnded: isFinal(task.state) };
  }

  /** Reads when it is the turn of the tenant. Throws BridgeError: overloaded, with the advice, if it takes too long. */
  async function readInTurn<T>(tenant: string, { reserve, signal }: DiffRequest, read: ReadChanges<T>, advice: string): Promise<T> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
    const act = async () => {
      await reserve();
      return await read(limited);
    };
    return await turns.take(tenant, act, limited).catch((error: unknown) => {
      if (error instanceof BridgeError || !limited.aborted || signal.aborted) throw error;
      throw new BridgeError(
        "overloaded",
        `Bridge did not finish it within ${limitMs / 1000} s, including the wait for its turn. ${advice}`,
      );
    });
  }

  return {
    /** Throws BridgeError: not_found, invalid_state, not_supported, overloaded. */
    async readDiff(tenant: string, taskId: string, request: DiffRequest): Promise<TaskDiff> {
      const found = await findTree(tenant, taskId);
      if (found === null) return workspaceDiffs.read(tenant, taskId, request);
      const { tree, hasEnded } = found;
      const read = (signal: AbortSignal) =>
        repositories.readDiff(tree, signal).catch((error: unknown) => {
          if (hasEnded || !(error instanceof BridgeError) || error.code !== "not_found") throw error;
          throw new BridgeError("invalid_state", "The work tree of the task does not exist yet. Try again later.");
        });
      return await readInTurn(tenant, request, read, "Try again later.");
    },
    /** Throws BridgeError: not_found, invalid_state, too_large, overloaded. */
    async readPatch(tenant: string, taskId: string, request: DiffRequest): Promise<Buffer> {
      const found = await findTree(tenant, taskId);
      if (found === null)
        throw new BridgeError("not_found", "The task has no patch, because its dispatch names no repository. Read its diff instead.");
      if (!found.hasEnded)
        throw new BridgeError("invalid_state", "The task has not ended. /patch is available after its end; /diff already while it runs.");
      const advice = 'Try again later, or dispatch with "push": true, and fetch the branch from the source of the repository.';
      return await readInTurn(tenant, request, (signal) => repositories.readPatch(found.tree, signal), advice);
    },
  };
}
