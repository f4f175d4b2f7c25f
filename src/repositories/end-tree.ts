import type { Logger } from "pino";
import type { RepositoryOutcome } from "#contract";
import { BridgeError } from "../errors.ts";
import type { RunGit } from "../workspaces/isolated-git.ts";
import { commitTree } from "./commit-tree.ts";
import { GitFault, type HostGit } from "./host-git.ts";
import type { RepositoryPaths } from "./paths.ts";
import type { Repository, TreeTask } from "./repository.ts";
import type { TenantCommits } from "./tenant-commits.ts";
import { type TreeRecord, writeRecord } from "./tree-record.ts";

/** A task that has ended waits for it. */
const PUSH_MS = 120_000;

/** Options of `createTreeEnd`. */
export interface TreeEndOptions {
  paths: RepositoryPaths;
  git: HostGit;
  commits: TenantCommits;
  runGit: RunGit;
  withScratch<T>(act: (scratch: string) => Promise<T>): Promise<T>;
  /** Returns a repository of the operator's file; null if it is not there any more. */
  findRepository(name: string): Repository | null;
  logger: Logger;
}

/** Messages of git about commits that are damaged, or that it refuses to store. Trying again does not help. */
const DAMAGE = /bad object|could not read|unable to read|missing|corrupt|inflate|fsck|broken|not a (valid|tree|commit)/i;

/**
 * Creates the function that stores the changes in a tree: it commits what is not committed, stores the commits, pushes the branch, and then
 * records the outcome. It can run again after a crash at any step. It rejects only if the signal aborts.
 */
export function createTreeEnd({ paths, git, commits, runGit, withScratch, findRepository, logger }: TreeEndOptions) {
  type EndingRecord = TreeRecord & { endedAt: number };

  const storeCommits = (directory: string, record: EndingRecord, onlyFiles: boolean, signal: AbortSignal) =>
    withScratch(async (scratch) => {
      const borrowed = paths.borrowedObjects(record.repository.name, record.tenant);
      const { counts, fault, ...ended } = await commitTree({ directory, record, borrowed, runGit, onlyFiles, scratch, signal });
      const isKept = record.repository.keep !== "none";
      const branchFault = isKept ? await commits.store(record, ended, signal) : null;
      return { head: ended.head, counts, fault, branchFault };
    });

  /** Stores the commits, or only the files if git cannot store the commits. */
  async function storeWhatIsWhole(directory: string, record: EndingRecord, signal: AbortSignal) {
    try {
      return await storeCommits(directory, record, false, signal);
    } catch (error) {
      if (!(error instanceof GitFault) || !DAMAGE.test(error.message)) throw error;
      const stored = await storeCommits(directory, record, true, signal);
      const damage = `git cannot store the commits of the task, so Bridge has stored its files as one commit: ${error.message}`;
      return { ...stored, branchFault: stored.branchFault ?? damage };
    }
  }

  async function store(directory: string, record: EndingRecord, signal: AbortSignal): Promise<RepositoryOutcome> {
    const { repository, baseCommit } = record;
    const isKept = repository.keep !== "none";
    const { head, counts, fault, branchFault } = await storeWhatIsWhole(directory, record, signal);
    if (!isKept) await commits.forget(record);
    const pushed = repository.push && isKept ? await push(record, head, signal) : { pushed: false };
    const error = fault ?? branchFault;
    const outcome: RepositoryOutcome = {
      ...{ name: repository.name, branch: repository.branch, baseCommit, headCommit: isKept ? head : null },
      ...{ ...counts, ...pushed, conflicts: null },
      ...(error === null ? {} : { error: paths.hide(error) }),
    };
    await writeRecord(directory, { ...record, outcome, isStored: fault === null || !isKept });
    if (error !== null)
      logger.error({ taskId: record.taskId, repository: repository.name, fault: error }, "changes of a task are not stored completely");
    return outcome;
  }

  /** Pushes the branch of a task. A failure is part of the outcome. */
  async function push(task: TreeTask, head: string, signal: AbortSignal): Promise<{ pushed: boolean; pushError?: string }> {
    const repository = findRepository(task.repository.name);
    if (repository?.push !== true) return { pushed: false, pushError: "The operator does not allow pushes to this repository." };
    const refspec = `${head}:refs/heads/${task.repository.branch}`;
    const argv = ["push", "--quiet", "--no-verify", "--no-signed", "--", repository.source, refspec];
    try {
      await git.source(paths.tenantRepository(repository.name, task.tenant), repository, argv, { signal, ms: PUSH_MS });
      return { pushed: true };
    } catch (error) {
      signal.throwIfAborted();
      return { pushed: false, pushError: describeCause(error) };
    }
  }

  return async (directory: string, found: TreeRecord, signal: AbortSignal): Promise<RepositoryOutcome> => {
    const record = { ...found, endedAt: found.endedAt ?? Date.now() };
    try {
      if (found.endedAt === null) await writeRecord(directory, record);
      return await store(directory, record, signal);
    } catch (error) {
      signal.throwIfAborted();
      const { taskId, repository } = record;
      logger.error({ taskId, repository: repository.name, err: error }, "changes of a task could not be stored");
      const outcome = createFailedOutcome(record, paths.hide(describeCause(error)));
      // Nothing of it is kept, so nothing is lost with the tree.
      if (repository.keep === "none") await writeRecord(directory, { ...record, outcome, isStored: true }).catch(() => {});
      return outcome;
    }
  };
}

/** Returns the outcome of a task whose changes could not be stored. */
export const createFailedOutcome = (
  { repository: { name, branch }, baseCommit }: Pick<TreeRecord, "repository" | "baseCommit"> | (TreeTask & { baseCommit: null }),
  error: string,
): RepositoryOutcome => ({
  ...{ name, branch, baseCommit, headCommit: null, commits: 0, files: 0, insertions: 0, deletions: 0 },
  ...{ pushed: false, conflicts: null, error },
});

/** Returns the reason of a failure for clients. The messages of other errors can contain paths of the operator. */
export const describeCause = (error: unknown): string =>
  error instanceof GitFault || error instanceof BridgeError
    ? error.message
    : `Bridge could not read or write a file (${(error as NodeJS.ErrnoException).code ?? "internal error"}). The log of Bridge contains the reason.`;
