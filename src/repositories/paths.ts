import { existsSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { RECORD_FILE, type TreeRecord } from "./tree-record.ts";

/** The prefix of directories that are not complete yet. No branch has such a name, so it is not a part of a repository. */
export const DRAFT_PREFIX = ".new-";

export type RepositoryPaths = ReturnType<typeof createPaths>;

/** Returns the paths of all repositories and trees below the directory of files. */
export function createPaths(filesDir: string) {
  const repositories = path.join(filesDir, "repositories");
  const trees = path.join(filesDir, "trees");
  const mirror = (name: string): string => path.join(repositories, name, "source.git");
  const tenantRepository = (name: string, tenant: string): string => path.join(repositories, name, "tenants", `${tenant}.git`);
  return {
    /** Replaces the directory of files in a text for clients. */
    hide: (text: string): string => text.replaceAll(filesDir, "BRIDGE_FILES_DIR"),
    repositories,
    trees,
    /** Everything of one repository. */
    repository: (name: string): string => path.join(repositories, name),
    /** The mirror of the source. Nothing of tasks is ever in it. */
    mirror,
    /** The commits of the tasks of one tenant. It borrows the objects of the mirror. */
    tenantRepository,
    tenantRepositories: (name: string): string => path.join(repositories, name, "tenants"),
    /** The objects that the trees of a tenant borrow. */
    borrowedObjects: (name: string, tenant: string): string[] => [
      path.join(tenantRepository(name, tenant), "objects"),
      path.join(mirror(name), "objects"),
    ],
  };
}

/**
 * Returns the directories that a program may read if it may write to these: the objects that trees borrow. They follow from the record next
 * to a tree, which tasks cannot change.
 */
export function listBorrowedObjects(filesDir: string, writable: readonly string[]): string[] {
  const paths = createPaths(filesDir);
  const roots = existsSync(paths.trees) ? new Set([paths.trees, realpathSync(paths.trees)]) : new Set<string>();
  return writable
    .filter((directory) => roots.has(path.dirname(path.dirname(directory))))
    .flatMap((directory) => {
      const { repository, tenant } = JSON.parse(readFileSync(path.join(path.dirname(directory), RECORD_FILE), "utf8")) as TreeRecord;
      return paths.borrowedObjects(repository.name, tenant);
    })
    .filter((directory) => existsSync(directory));
}
