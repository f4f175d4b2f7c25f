import { randomUUID } from "node:crypto";
import { rename } from "node:fs/promises";
import path from "node:path";
import { nullIfAbsent, removeInside } from "@hak2i/nofollow-fs";
import type { Logger } from "pino";
import type { RunHost } from "./host-git.ts";
import type { RepositoryPaths } from "./paths.ts";

/** The prefix of trees that are being removed. */
export const REMOVED_PREFIX = ".removed-";
/** A tree can have millions of files. */
const REMOVE_MS = 600_000;

/** Options of `createTreeRemoval`. */
export interface TreeRemovalOptions {
  paths: RepositoryPaths;
  runHost: RunHost;
  /** The names of trees that this process creates or removes. */
  busy: Set<string>;
  logger: Logger;
}

/** Creates the functions that remove trees. */
export function createTreeRemoval({ paths, runHost, busy, logger }: TreeRemovalOptions) {
  const removals = new Set<Promise<void>>();

  async function removeFiles(name: string): Promise<void> {
    // `rm` is ten times as fast, but does not remove what a task has protected by permissions.
    const argv = ["rm", "-rf", "--", path.join(paths.trees, name)];
    await runHost({ argv, env: {}, input: "", stdoutBytes: 1024, signal: AbortSignal.timeout(REMOVE_MS) });
    await removeInside(paths.trees, name);
  }

  return {
    /** Renames a tree, so that a new tree of the same branch need not wait, and begins to remove it. */
    async remove(key: string): Promise<void> {
      const name = `${REMOVED_PREFIX}${randomUUID()}`;
      busy.add(name);
      const renaming = rename(path.join(paths.trees, key), path.join(paths.trees, name)).then(() => true);
      const isRenamed = await nullIfAbsent(renaming).catch((error: unknown) => {
        busy.delete(name);
        throw error;
      });
      const removing = (isRenamed === null ? Promise.resolve() : removeFiles(name))
        .catch((error: unknown) => logger.error({ err: error, tree: name }, "failed to delete the files of a work tree"))
        .finally(() => {
          removals.delete(removing);
          busy.delete(name);
        });
      removals.add(removing);
    },
    /** Resolves when all trees that are being removed are removed. */
    settle: async (): Promise<void> => void (await Promise.all(removals)),
  };
}
