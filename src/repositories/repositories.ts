import type { Logger } from "pino";
import type { RunGit } from "../workspaces/isolated-git.ts";
import { createBaseCommits } from "./base-commits.ts";
import { createDiskLimit } from "./disk-limit.ts";
import { createFailedOutcome, describeCause } from "./end-tree.ts";
import { createHostGit, GitFault, type RunHost } from "./host-git.ts";
import { createMirrors } from "./mirrors.ts";
import { createPaths } from "./paths.ts";
import { openRepositoriesFile } from "./repositories-file.ts";
import type { Repositories, Repository, RepositorySummary, TreeTask } from "./repository.ts";
import type { RunSetup } from "./set-up-tree.ts";
import { createStoredChanges } from "./stored-changes.ts";
import { createSweep } from "./sweep-trees.ts";
import { createTenantCommits } from "./tenant-commits.ts";
import { createTrees } from "./trees.ts";

/** Options of `createRepositories`. */
export interface RepositoriesOptions {
  /** The file of the operator; null for no repositories. */
  file: string | null;
  /** The directory of repositories and trees. */
  filesDir: string;
  /** Whether other nodes use the same directory. */
  sharedFiles: boolean;
  /** The maximum size of all repositories and trees; null for no limit. */
  maxBytes: number | null;
  /** How long a dispatch waits for a fetch. */
  fetchSeconds: number;
  /** Bridge's environment, which git needs for its credentials. */
  environment: Readonly<Record<string, string | undefined>>;
  runGit: RunGit;
  runHost: RunHost;
  runSetup: RunSetup;
  withScratch<T>(act: (scratch: string) => Promise<T>): Promise<T>;
  logger: Logger;
  pollMs?: number;
}

/** Creates the repositories of the operator and the work trees of tasks. Throws ConfigError. */
export function createRepositories({ file, filesDir, pollMs = 1000, logger, ...options }: RepositoriesOptions): Repositories {
  const opened = file === null ? null : openRepositoriesFile({ file, logger, pollMs });
  const repositories = (): readonly Repository[] => opened?.repositories() ?? [];
  const paths = createPaths(filesDir);
  const git = createHostGit({ ...options, paths });
  const disk = createDiskLimit({ ...options, directories: [paths.repositories, paths.trees] });
  const mirrors = createMirrors({ paths, git, disk });
  const commits = createTenantCommits({ paths, git });
  const stored = createStoredChanges({ commits, git });
  const listOf = (tenant: string): Repository[] => repositories().filter(({ tenants }) => tenants === null || tenants.includes(tenant));

  const { resolve, prepareBase } = createBaseCommits({
    paths,
    git,
    disk,
    mirrors,
    commits,
    listOf,
    logger,
    fetchSeconds: options.fetchSeconds,
  });
  const trees = createTrees({
    ...{ ...options, paths, git, commits, logger, prepareBase },
    findRepository: (name) => repositories().find((repository) => repository.name === name) ?? null,
  });

  const closing = new AbortController();
  const sweeps = createSweep({ ...options, paths, trees, mirrors, commits, closing: closing.signal, logger });

  return {
    isConfigured: () => opened !== null,
    faults: () => opened?.faults() ?? [],
    listWarnings() {
      const { length } = opened?.faults() ?? [];
      return length === 0 ? [] : [`BRIDGE_REPOSITORIES_FILE: ${length} fault(s), previous repositories stay in force`];
    },
    describe: () => repositories(),
    list: (tenant) => Promise.all(listOf(tenant).map(summarize)),
    resolve,
    open: trees.open,
    reset: trees.reset,
    finish: (task) =>
      trees.finish(task).catch((error: unknown) => {
        logNull(task)(error);
        return createFailedOutcome({ ...task, baseCommit: null }, paths.hide(describeCause(error)));
      }),
    release: async (task) => void (await trees.release(task).catch(logNull(task))),
    readDiff: async (task, signal) => (await trees.readDiff(task, signal)) ?? (await stored.readDiff(task, signal)),
    readPatch: stored.readPatch,
    prepare: sweeps.prepare,
    sweep: sweeps.sweep,
    async close() {
      opened?.close();
      mirrors.close();
      closing.abort(new GitFault("Bridge is shutting down.", null));
      await sweeps.settle();
      await trees.settle();
    },
  };

  async function summarize({ name, defaultRef, push }: Repository): Promise<RepositorySummary> {
    return { name, defaultRef, push, lastFetchAt: await mirrors.lastFetchAt(name) };
  }

  function logNull({ taskId, repository }: TreeTask) {
    return (error: unknown): null => {
      logger.error({ err: error, taskId, repository: repository.name }, "failed to end a work tree");
      return null;
    };
  }
}
