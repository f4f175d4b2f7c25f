import type { RepositoryOutcome } from "#contract";

/** In which repositories tasks work, and their branches. A branch belongs to one task of its tenant at a time. */
export interface RepositoryStore {
  /**
   * Stores the repository of a task before the task itself, and reserves its branch unless the task continues that of an earlier one.
   * Returns null if it is stored, also by an earlier call for the same task; otherwise the id of the task that has the branch. A branch is
   * free again if its task was not stored within `UNUSED_MS`.
   */
  insertTaskRepositoryIfFree(repository: NewTaskRepository): Promise<string | null>;
  /** Deletes the repository of a task that was not stored. */
  deleteTaskRepositoryIfUnused(tenant: string, taskId: string): Promise<void>;
  /** Stores the base of a task whose ref was resolved after its dispatch. */
  setBaseCommit(tenant: string, taskId: string, baseCommit: string): Promise<void>;
  /**
   * Stores what a task has changed, before the end of the task itself. If `keepsBranch` is true, the branch belongs to the task until it is
   * deleted, and no longer to the task that it continues, whose head is its base. A branch that another task has continued stays with that
   * task. Without `keepsBranch`, the branch is free. Can be repeated.
   */
  endTaskRepository(task: TaskBranch, end: { outcome: RepositoryOutcome; keepsBranch: boolean }): Promise<void>;
  /** The task that has a branch, whether it has ended or not; null if the branch is free. */
  findBranchTask(branch: Omit<TaskBranch, "taskId">): Promise<string | null>;
  /** The newest branches of each repository that ended tasks of a tenant have left, by repository and name. */
  listBranches(tenant: string): Promise<KeptBranch[]>;
}

/** Time after which a branch is free again if its task was not stored. */
export const UNUSED_MS = 60_000;

/** Maximum branches of a repository in a list. */
export const MAX_LISTED_BRANCHES = 100;

/** A branch and its task. */
export interface TaskBranch {
  tenant: string;
  taskId: string;
  /** The name of the repository. */
  repository: string;
  branch: string;
}

/** The repository of a task that is about to be stored. */
export interface NewTaskRepository extends TaskBranch {
  baseCommit: string | null;
  continuesBranch: boolean;
}

/** A branch that an ended task has left. */
export interface KeptBranch extends Pick<TaskBranch, "taskId" | "repository" | "branch"> {
  headCommit: string;
}

/** The repository of a task, as lists show it. `outcome` is null until the task ends. */
export interface StoredTaskRepository {
  name: string;
  branch: string;
  baseCommit: string | null;
  outcome: RepositoryOutcome | null;
}
