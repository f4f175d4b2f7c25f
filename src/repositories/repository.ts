import type { RepositoryOutcome } from "#contract";
import type { Task, TaskRepository } from "../task.ts";
import type { TaskDiff } from "../workspaces/task-diffs.ts";

/** A repository of the operator's file. */
export interface Repository {
  name: string;
  /** The path or the URL that Bridge clones, fetches from and pushes to. */
  source: string;
  /** The tenants whose tasks may use it; null for all. */
  tenants: readonly string[] | null;
  /** Whether a dispatch may have `push`, with which Bridge pushes the branch to the source. */
  push: boolean;
  /** The ref of a dispatch that names none. `HEAD` is the default branch of the source. */
  defaultRef: string;
  /** A command that prepares each work tree; null for none. */
  setup: readonly string[] | null;
  setupSeconds: number;
}

/** A repository as its tenants see it. Times are in ms since the epoch. */
export interface RepositorySummary extends Pick<Repository, "name" | "defaultRef" | "push"> {
  /** Null if it was not fetched yet. */
  lastFetchAt: number | null;
}

/** A task that has a work tree. A later task with the same id differs by its `createdAt`. */
export interface TreeTask extends Pick<Task, "tenant" | "taskId" | "agentId" | "createdAt"> {
  repository: TaskRepository;
}

/** How a tree is opened. */
export interface TreeRun {
  signal: AbortSignal;
  /** Called with the output of `setup`, line by line. */
  onOutput(text: string): void;
  /** The home of the agent and the temporary directory of the task, for `setup`. */
  home: string;
  tmp: string;
}

/** A tree that a task can run in. */
export interface OpenedTree {
  /** Its directory, absolute. */
  directory: string;
  baseCommit: string;
}

/** The base of a task. `baseCommit` is null if it is not known yet, because the fetch takes too long or has failed. */
export interface ResolvedRef {
  ref: string;
  baseCommit: string | null;
}

/** What `resolve` needs of a dispatch. */
export interface BaseRequest {
  name: string;
  ref?: string | undefined;
  branch: string;
  push?: boolean | undefined;
}

/** What the sweep learns of a task: whether it is stored, and whether it has ended. */
export type TreeTaskState = "unknown" | "open" | "ended";

/** What the sweep asks and reports. */
export interface SweepCallbacks {
  stateOf(task: Pick<TreeTask, "tenant" | "taskId" | "createdAt">): Promise<TreeTaskState>;
  /** Called when the changes of a task were stored after its end, as after a crash of the node that ran it. */
  onEnded(task: TreeTask, outcome: RepositoryOutcome): Promise<void>;
}

/** The repositories of the operator, and the work trees of tasks. */
export interface Repositories {
  /** Whether the operator has a file of repositories. */
  isConfigured(): boolean;
  /** The faults of the newest version of the file; empty if it is valid. */
  faults(): readonly string[];
  /** Reports only how many faults there are, because `/readyz` publishes it without a token. */
  listWarnings(): string[];
  /** The repositories, to compare nodes. */
  describe(): unknown;
  /** The repositories of a tenant. */
  list(tenant: string): Promise<RepositorySummary[]>;
  /**
   * Checks what a dispatch asks for, and finds its base commit. A task that continues a branch starts at the kept head of the branch.
   * Throws BridgeError: unknown_repository, unknown_ref, push_refused, invalid_state (the branch exists in the source), overloaded (the
   * disk limit).
   */
  resolve(tenant: string, asked: BaseRequest, continuesBranch: boolean): Promise<ResolvedRef>;
  /**
   * Creates the tree of a task, or returns the one that an earlier run of it left, and runs `setup` in it. Throws BridgeError, whose
   * message is for clients.
   */
  open(task: TreeTask, run: TreeRun): Promise<OpenedTree>;
  /** Replaces the tree by a new one at the base, for a further attempt. Throws as `open` does. */
  reset(task: TreeTask, run: TreeRun): Promise<OpenedTree>;
  /**
   * Commits what is not committed, stores the commits, and pushes the branch. Returns the same outcome if it is called again. Null if this
   * node has no tree of the task. Never rejects: `error` of the outcome describes what failed, and then the tree stays.
   */
  finish(task: TreeTask): Promise<RepositoryOutcome | null>;
  /** Removes the tree of a finished task. Keeps one whose changes could not be stored. Never rejects. */
  release(task: TreeTask): Promise<void>;
  /** Returns the diff of the base and the tree, or of the base and the stored head. Throws BridgeError: not_found, invalid_state. */
  readDiff(task: TreeTask, signal: AbortSignal): Promise<TaskDiff>;
  /** Returns the commits of an ended task as patches for `git am`. Throws BridgeError: not_found, invalid_state, too_large. */
  readPatch(task: TreeTask, signal: AbortSignal): Promise<Buffer>;
  /** Removes the locks that a crash of git has left. Must end before a task runs. */
  prepare(): Promise<void>;
  /**
   * Finishes and removes the trees that earlier processes left, and removes the commits of tasks that no longer exist. Never rejects.
   */
  sweep(known: SweepCallbacks): Promise<void>;
  close(): Promise<void>;
}
