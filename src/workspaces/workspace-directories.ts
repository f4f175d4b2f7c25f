import { hash, randomUUID } from "node:crypto";
import { existsSync, realpathSync, statSync } from "node:fs";
import { readdir, rename } from "node:fs/promises";
import path from "node:path";
import { isInside, makePrivateDirectory, removeInside } from "@hak2i/nofollow-fs";
import type { ExecutionRequest } from "#contract";
import { BridgeError } from "../errors.ts";
import { type TaskIdentity, taskHandle } from "../task.ts";
import { type RecordedTask, readStartCommit, recordStartCommit, type StartCommit } from "./start-commit.ts";

export type Workspaces = ReturnType<typeof createWorkspaces>;

/**
 * Creates the manager of workspaces, homes and temporary directories below the configured directories. Names of tenants and agents are
 * single path segments. Temporary directories stay on this node.
 */
export function createWorkspaces({
  dataDir,
  filesDir = dataDir,
  workspacesDir,
}: {
  dataDir: string;
  /** For homes and the start commits of tasks. Default: `dataDir`. */
  filesDir?: string;
  workspacesDir: string;
}) {
  const tmpRoot = path.join(dataDir, "tmp");
  // With a separator at the end, because `path.join` takes six times as long, and these names need no normalization.
  const workspacesPrefix = path.join(workspacesDir, path.sep);
  const homesPrefix = path.join(filesDir, "homes", path.sep);
  const workspaceOf = (tenant: string, agentId: string) => `${workspacesPrefix}${tenant}${path.sep}${agentId}`;
  const homeOf = (task: TaskIdentity) => `${homesPrefix}${task.tenant}${path.sep}${task.agentId}`;
  // A hash is short and has no special characters, which some programs do not support in paths.
  const tmpOf = (task: TaskIdentity) => `${tmpRoot}${path.sep}${hash("sha256", taskHandle(task)).slice(0, 24)}`;

  /** Creates the workspace of a task; returns its path. */
  function makeWorkspace({ tenant, agentId }: Pick<TaskIdentity, "tenant" | "agentId">): string {
    const workspace = workspaceOf(tenant, agentId);
    makePrivateDirectory(workspace);
    return workspace;
  }

  /** Creates the home of a task; returns it and the path of the temporary directory. */
  function prepareHome(task: TaskIdentity): Pick<ExecutionRequest["directories"], "home" | "tmp"> {
    const home = homeOf(task);
    makePrivateDirectory(home);
    return { home, tmp: tmpOf(task) };
  }

  return {
    workspaceOf,
    makeWorkspace,
    prepareHome,
    /**
     * Creates the workspace and home of a task, and records its start commit unless the task runs in a work tree. Synchronous, because a
     * few small system calls take less time than asynchronous ones.
     */
    prepare(task: TaskIdentity & RecordedTask, cwd: string | undefined, tree: string | null = null): ExecutionRequest["directories"] {
      const own = makeWorkspace(task);
      const workspace = tree ?? own;
      const directories = { workspace, ...prepareHome(task) };
      const prepared = { ...directories, cwd: cwd === undefined ? workspace : resolveDirectoryInside(workspace, cwd) };
      if (tree === null) recordStartCommit(filesDir, task, prepared);
      return prepared;
    },
    /** Returns the commit that the work tree of a task had when the task started; null if there was none. */
    startCommitOf: (task: RecordedTask): StartCommit | null => readStartCommit(filesDir, task),
    /** Calls a function with a new directory, and removes the directory after it. */
    async withScratch<T>(act: (directory: string) => Promise<T>): Promise<T> {
      const name = `scratch-${randomUUID()}`;
      const directory = path.join(tmpRoot, name);
      makePrivateDirectory(directory);
      try {
        return await act(directory);
      } finally {
        await removeInside(tmpRoot, name);
      }
    },
    /** Removes the temporary directory of a task. */
    async release(task: TaskIdentity): Promise<void> {
      const directory = tmpOf(task);
      if (existsSync(directory)) await removeInside(tmpRoot, path.basename(directory));
    },
    /**
     * Renames temporary directories that a crash left behind, so that no new task uses them. Returns a function that removes them, which
     * can take minutes, and resolves with the errors of those that it could not remove.
     */
    async setAsideLeftovers(): Promise<() => Promise<unknown[]>> {
      const leftovers = existsSync(tmpRoot) ? await readdir(tmpRoot) : [];
      const renamed = await Promise.all(leftovers.map((name) => renameEntry(tmpRoot, name)));
      return async () => {
        const faults: unknown[] = [];
        for (const name of renamed) await removeInside(tmpRoot, name).catch((error: unknown) => faults.push(error));
        return faults;
      };
    },
  };
}

/** Renames an entry of a directory to a unique name. Returns its new name, or its old one if it cannot be renamed. */
async function renameEntry(directory: string, name: string): Promise<string> {
  const newName = `earlier-${randomUUID()}`;
  try {
    await rename(path.join(directory, name), path.join(directory, newName));
    return newName;
  } catch {
    // An entry that cannot be renamed cannot be removed either, and the removal reports the reason.
    return name;
  }
}

/** Resolves `metadata.cwd` to the real path of an existing directory in the workspace. Throws BridgeError: invalid_request. */
export function resolveDirectoryInside(workspace: string, relative: string): string {
  const reject = (message: string): never => {
    throw new BridgeError("invalid_request", `metadata.cwd ${message}.`, { errors: [{ path: "metadata.cwd", message }] });
  };
  if (path.isAbsolute(relative) || relative.includes("\0")) reject("must be a path relative to the workspace");
  const resolved = path.resolve(workspace, relative);
  if (!isInside(workspace, resolved)) reject("must be inside the workspace");
  if (statSync(resolved, { throwIfNoEntry: false })?.isDirectory() !== true) reject("must be an existing directory of the workspace");
  const real = realpathSync(resolved);
  if (!isInside(realpathSync(workspace), real)) reject("must not lead out of the workspace through a link");
  return real;
}

/**
 * Resolves the `path` of a file output. Neither the path nor its existing links may leave the workspace. Throws BridgeError:
 * invalid_request.
 */
export function resolveFileInside(workspace: string, relative: string): string {
  const reject = (message: string): never => {
    throw new BridgeError("invalid_request", `outputStrategy.path ${message}.`, { errors: [{ path: "outputStrategy.path", message }] });
  };
  if (path.isAbsolute(relative) || relative.includes("\0")) reject("must be a path relative to the workspace");
  const resolved = path.resolve(workspace, relative);
  if (resolved === workspace || !isInside(workspace, resolved)) reject("must name a file inside the workspace");
  if (existsSync(workspace)) {
    let existing = resolved;
    while (!existsSync(existing)) existing = path.dirname(existing);
    if (!isInside(realpathSync(workspace), realpathSync(existing))) reject("must not lead out of the workspace through a link");
  }
  return resolved;
}
