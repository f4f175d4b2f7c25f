import type { Logger } from "pino";
import type { ExecutionResult, RepositoryOutcome } from "#contract";
import type { Repositories } from "../../repositories/repository.ts";
import type { Store } from "../../store/store.ts";
import type { Task, TaskRepository } from "../../task.ts";

interface TreeEndOptions {
  store: Pick<Store, "endTaskRepository">;
  /** Null without repositories. */
  repositories: Pick<Repositories, "finish" | "release"> | null;
  /** The id of this node. */
  ownNode: string;
  logger: Pick<Logger, "error">;
}

/** A task that may have a work tree. */
type EndingTask = Pick<Task, "tenant" | "taskId" | "agentId" | "createdAt" | "node" | "startedAt" | "request">;

export type TreeEnds = ReturnType<typeof createTreeEnds>;

/** Creates what happens to the work tree of a task at its end, whatever the end is. Tasks without a repository need nothing. */
export function createTreeEnds({ store, repositories, ownNode, logger }: TreeEndOptions) {
  const releasing = new Set<Promise<void>>();

  async function remove(task: EndingTask, repository: TaskRepository): Promise<void> {
    await repositories
      ?.release({ ...task, repository })
      .catch((err: unknown) =>
        logger.error({ err, taskId: task.taskId, tenant: task.tenant }, "failed to delete the files of a work tree"),
      );
  }

  async function finish(task: EndingTask, repository: TaskRepository): Promise<RepositoryOutcome> {
    const outcome = (await repositories?.finish({ ...task, repository })) ?? createEmptyOutcome(repository);
    if (task.startedAt === null || task.node === null || task.node === ownNode || outcome.headCommit !== null) return outcome;
    return { ...outcome, error: "The node that ran the task is not running. Bridge stores the changes when that node starts again." };
  }

  return {
    /**
     * Stores the changes of a task, before its end is stored, and adds them to its result. Can be repeated. Rejects if the store is closed,
     * so that the end of the task is not stored.
     */
    async end(task: EndingTask, result: ExecutionResult): Promise<ExecutionResult> {
      const { repository } = task.request;
      if (repository === undefined) return result;
      const outcome = await finish(task, repository);
      await storeChanges(store, { ...task, repository }, outcome);
      return { ...result, repository: outcome };
    },
    /** Removes the work tree of a task, after its end is stored and its runtime has ended. Never rejects. */
    async release(task: EndingTask): Promise<void> {
      const { repository } = task.request;
      if (repository === undefined) return;
      const removing = remove(task, repository);
      releasing.add(removing);
      await removing;
      releasing.delete(removing);
    },
    /** Resolves when the trees of ended tasks are removed. */
    async whenReleased(): Promise<void> {
      while (releasing.size > 0) await Promise.all(releasing);
    },
  };
}

/** Stores what a task has changed, for lists of tasks and branches. */
export async function storeChanges(
  store: Pick<Store, "endTaskRepository">,
  { tenant, taskId, repository: { name, branch, keep } }: Pick<Task, "tenant" | "taskId"> & { repository: TaskRepository },
  outcome: RepositoryOutcome,
): Promise<void> {
  await store.endTaskRepository({ tenant, taskId, repository: name, branch }, { outcome, keepsBranch: keep === "branch" });
}

/** The outcome of a task without a tree on this node. */
const createEmptyOutcome = ({ name, branch, baseCommit }: TaskRepository): RepositoryOutcome => ({
  ...{ name, branch, baseCommit, headCommit: null, commits: 0, files: 0, insertions: 0, deletions: 0, pushed: false, conflicts: null },
});
