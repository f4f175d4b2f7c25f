import path from "node:path";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { storeChanges } from "../dispatch/run/tree-ends.ts";
import { createRepositories } from "../repositories/repositories.ts";
import type { Repositories } from "../repositories/repository.ts";
import type { Store } from "../store/store.ts";
import { isFinal } from "../task.ts";
import type { RunGit } from "../workspaces/isolated-git.ts";
import type { Workspaces } from "../workspaces/workspace-directories.ts";
import { createRunHost } from "./run-host.ts";
import { createRunSetup } from "./run-setup.ts";
import type { Environment, OpenedSandbox } from "./sandbox.ts";

const GIB_BYTES = 1024 ** 3;
const HOUR_MS = 3_600_000;

interface RepositoryParts {
  environment: Environment;
  sandbox: OpenedSandbox;
  runGit: RunGit;
  workspaces: Pick<Workspaces, "withScratch">;
  logger: Logger;
}

/** Opens the repositories of the operator. Throws ConfigError. */
export const openRepositories = (
  { repositoriesFile, repositoriesMaxGib, repositoriesFetchSeconds, filesDir, dataDir, node }: Config,
  { environment, sandbox, runGit, workspaces, logger }: RepositoryParts,
): Repositories =>
  createRepositories({
    ...{ file: repositoriesFile, filesDir, sharedFiles: node.files === "shared" },
    maxBytes: repositoriesMaxGib === null ? null : repositoriesMaxGib * GIB_BYTES,
    ...{ fetchSeconds: repositoriesFetchSeconds, environment, runGit, logger, withScratch: workspaces.withScratch },
    runHost: createRunHost({ environment, tmpRoot: path.join(dataDir, "tmp") }),
    runSetup: createRunSetup({ environment, sandbox: sandbox.sandbox }),
  });

interface TreeSweepOptions {
  store: Pick<Store, "findTaskProgress" | "endTaskRepository">;
  repositories: Pick<Repositories, "prepare" | "sweep" | "close">;
}

/** Creates the sweep, which finishes and removes the work trees that earlier processes have left, at the start and once an hour. */
export function createTreeSweep({ store, repositories }: TreeSweepOptions) {
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> | null = null;

  function sweep(): Promise<void> {
    sweeping ??= repositories
      .sweep({
        async stateOf({ tenant, taskId, createdAt }) {
          const task = await store.findTaskProgress(tenant, taskId);
          if (task === null || task.createdAt !== createdAt) return "unknown";
          return isFinal(task.state) ? "ended" : "open";
        },
        onEnded: (task, outcome) => storeChanges(store, task, outcome),
      })
      .finally(() => {
        sweeping = null;
      });
    return sweeping;
  }

  return {
    /** Removes the locks that a crash of git has left, so no task may run before it. The first sweep can take long, and runs meanwhile. */
    async start(): Promise<void> {
      await repositories.prepare();
      void sweep();
      timer = setInterval(() => void sweep(), HOUR_MS).unref();
    },
    /** Ends the sweep, and closes the repositories. */
    async close(): Promise<void> {
      clearInterval(timer);
      await repositories.close();
      await sweeping;
    },
  };
}
