import path from "node:path";
import { createTurns } from "@hak2i/async-kit";
import type { Logger } from "pino";
import type { RepositoryOutcome } from "#contract";
import { BridgeError } from "../errors.ts";
import type { RunGit } from "../workspaces/isolated-git.ts";
import type { TaskDiff } from "../workspaces/task-diffs.ts";
import { createTree } from "./create-tree.ts";
import { diffTree } from "./diff-tree.ts";
import { createTreeEnd } from "./end-tree.ts";
import type { HostGit, RunHost } from "./host-git.ts";
import type { RepositoryPaths } from "./paths.ts";
import type { OpenedTree, Repository, TreeRun, TreeTask } from "./repository.ts";
import { type RunSetup, setUpTree } from "./set-up-tree.ts";
import type { TenantCommits } from "./tenant-commits.ts";
import { createRecord, isRecordOf, readRecord, readRecordOf, type TreeRecord, treeKeyOf, writeRecord } from "./tree-record.ts";
import { createTreeRemoval } from "./tree-removal.ts";

/** Options of `createTrees`. */
export interface TreesOptions {
  paths: RepositoryPaths;
  git: HostGit;
  commits: TenantCommits;
  runGit: RunGit;
  runHost: RunHost;
  runSetup: RunSetup;
  withScratch<T>(act: (scratch: string) => Promise<T>): Promise<T>;
  /** Returns a repository of the operator's file; null if it is not there any more. */
  findRepository(name: string): Repository | null;
  /** Finds the base of a task that was accepted without one, and checks the disk limit. */
  prepareBase(task: TreeTask, signal: AbortSignal): Promise<string>;
  logger: Logger;
}

type OutcomeListener = (outcome: RepositoryOutcome) => Promise<void>;

export type Trees = ReturnType<typeof createTrees>;

/** Creates the access to the trees of tasks. All operations on one tree happen one after the other. */
export function createTrees(options: TreesOptions) {
  const { paths, git, commits, runGit, runSetup, withScratch, findRepository, prepareBase } = options;
  const turns = createTurns();
  /** The names of trees that this process creates or removes. */
  const busy = new Set<string>();
  const { remove, settle } = createTreeRemoval({ ...options, busy });
  const endTree = createTreeEnd(options);
  const directoryOf = (key: string): string => path.join(paths.trees, key);

  /** Returns the record of a complete tree of this task. Removes a tree of an earlier task whose changes are stored. */
  async function findOwn(task: TreeTask, key: string): Promise<TreeRecord | null> {
    const record = await readRecord(directoryOf(key));
    if (record === null || isRecordOf(record, task)) return record;
    if (!record.isStored) throw createConflict(record);
    await remove(key);
    return null;
  }

  async function openInTurn(task: TreeTask, key: string, run: TreeRun): Promise<OpenedTree> {
    const repository = findRepository(task.repository.name);
    if (repository === null)
      throw new BridgeError("invalid_state", `The repository ${task.repository.name} is no longer in BRIDGE_REPOSITORIES_FILE.`);
    let record = await findOwn(task, key);
    if (record === null) {
      const baseCommit = await prepareBase(task, run.signal);
      await commits.pinBase(task, baseCommit);
      record = createRecord(task, baseCommit, repository.setup === null);
      await createTree({ paths, git, runGit, withScratch, drafts: busy, key, record, signal: run.signal });
    }
    const tree = path.join(directoryOf(key), task.repository.name);
    if (!record.isSetUp) await setUpTree(task, repository, { tree, runSetup, run });
    // A task that runs again can have ended already, before a crash prevented that its end was stored.
    if (!record.isSetUp || record.endedAt !== null) await writeRecord(directoryOf(key), createRecord(task, record.baseCommit, true));
    return { directory: tree, baseCommit: record.baseCommit };
  }

  async function finish(key: string, task: TreeTask, signal: AbortSignal): Promise<RepositoryOutcome | null> {
    const record = await readRecordOf(directoryOf(key), task);
    if (record === null) return null;
    return record.isStored && record.outcome !== null ? record.outcome : await endTree(directoryOf(key), record, signal);
  }

  async function release(key: string, task: TreeTask, discards = false): Promise<void> {
    const record = await readRecordOf(directoryOf(key), task);
    if (record !== null && (record.isStored || discards)) await remove(key);
  }

  const inTurn = <T>(task: TreeTask, act: (key: string) => Promise<T>, signal?: AbortSignal): Promise<T> =>
    turns.take(treeKeyOf(task), () => act(treeKeyOf(task)), signal);

  return {
    /** Opens the tree of a task: the one that an earlier run left, or a new one. */
    open: (task: TreeTask, run: TreeRun): Promise<OpenedTree> => inTurn(task, (key) => openInTurn(task, key, run), run.signal),
    /** Replaces the tree of a task by a new one. */
    reset: (task: TreeTask, run: TreeRun): Promise<OpenedTree> => {
      const replace = async (key: string) => {
        const record = await findOwn(task, key);
        if (record !== null) await remove(key);
        const baseCommit = record?.baseCommit ?? task.repository.baseCommit;
        return await openInTurn({ ...task, repository: { ...task.repository, baseCommit } }, key, run);
      };
      return inTurn(task, replace, run.signal);
    },
    /** Stores the changes of a task. Null if there is no tree of it. */
    finish: (task: TreeTask): Promise<RepositoryOutcome | null> => inTurn(task, (key) => finish(key, task, new AbortController().signal)),
    /** Removes the tree of a task whose changes are stored. */
    async release(task: TreeTask): Promise<void> {
      await inTurn(task, (key) => release(key, task));
      await settle();
    },
    /**
     * Removes the tree that an earlier process left. Before, stores its changes, and calls the function with the outcome; null if the task
     * is not stored any more. Does nothing if the tree belongs to another task by now.
     */
    endLeftover: (key: string, task: TreeTask, onFinished: OutcomeListener | null, signal: AbortSignal): Promise<void> =>
      turns.take(key, async () => {
        if (onFinished === null) return await release(key, task, true);
        const outcome = await finish(key, task, signal);
        if (outcome !== null) await onFinished(outcome);
        await release(key, task);
      }),
    /** Removes what has the name of a tree, but no record. */
    removeIncomplete: (key: string): Promise<void> =>
      turns.take(key, async () => {
        if ((await readRecord(directoryOf(key))) === null) await remove(key);
      }),
    settle,
    /** Whether this process is creating or removing the tree with this name. */
    isInUse: (name: string): boolean => busy.has(name),
    /** Returns the diff of the base and the tree of a task that has not ended; null if there is no such tree. */
    async readDiff(task: TreeTask, signal: AbortSignal): Promise<TaskDiff | null> {
      const directory = directoryOf(treeKeyOf(task));
      const record = await readRecordOf(directory, task);
      if (record === null || record.isStored) return null;
      const borrowed = paths.borrowedObjects(task.repository.name, task.tenant);
      return await diffTree({ directory, record, borrowed, runGit, withScratch, signal });
    },
  };
}

const createConflict = ({ taskId, repository }: TreeRecord): BridgeError =>
  new BridgeError(
    "invalid_state",
    `The work tree of task ${taskId}, which also uses the branch ${repository.branch}, still exists, because its changes are not stored yet. Use another branch.`,
  );
