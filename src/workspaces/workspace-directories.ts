import { hash, randomUUID } from "node:crypto";
import { existsSync, realpathSync, statSync } from "node:fs";
import { readdir, rename } from "node:fs/promises";
import path from "node:path";
import { isInside, makePrivateDirectory, removeInside } from "@hak2i/nofollow-fs";
import type { ExecutionRequest } from "#contract";
import { BridgeError } from "../errors.ts";
import { type TaskIdentity, taskHandle } from "../task.ts";

/** Where tasks live on disk. Names of tenants and agents are single path segments by their schemas. */
export interface Workspaces {
  workspaceOf(tenant: string, agentId: string): string;
  /** Makes the workspace of one task; returns its path. */
  makeWorkspace(task: Pick<TaskIdentity, "tenant" | "agentId">): string;
  /** Makes workspace and home of one task. Synchronous, because a few small calls cost less than turns through the thread pool. */
  prepare(task: TaskIdentity, cwd: string | undefined): ExecutionRequest["directories"];
  /** Removes the task's own temporary directory. */
  release(task: TaskIdentity): Promise<void>;
  /**
   * Renames the temporary directories that a crash left behind, so that no new task gets one of them. The result removes them, which can take
   * minutes, and returns the errors of those that cannot be removed.
   */
  setAside(): Promise<() => Promise<unknown[]>>;
}

/** Lays out workspaces, homes and temporary directories under the two roots of the configuration. */
export function createWorkspaces({ dataDir, workspacesDir }: { dataDir: string; workspacesDir: string }): Workspaces {
  const tmpRoot = path.join(dataDir, "tmp");
  const workspaceOf = (tenant: string, agentId: string) => path.join(workspacesDir, tenant, agentId);
  const homeOf = (task: TaskIdentity) => path.join(dataDir, "homes", task.tenant, task.agentId);
  // Short and free of characters that programs stumble over, whatever the task is called.
  const tmpOf = (task: TaskIdentity) => path.join(tmpRoot, hash("sha256", taskHandle(task)).slice(0, 24));

  function makeWorkspace({ tenant, agentId }: Pick<TaskIdentity, "tenant" | "agentId">): string {
    const workspace = workspaceOf(tenant, agentId);
    makePrivateDirectory(workspace);
    return workspace;
  }

  return {
    workspaceOf,
    makeWorkspace,
    prepare(task, cwd) {
      const workspace = makeWorkspace(task);
      const directories = { workspace, home: homeOf(task), tmp: tmpOf(task) };
      makePrivateDirectory(directories.home);
      return { ...directories, cwd: cwd === undefined ? workspace : resolveDirectoryInside(workspace, cwd) };
    },
    async release(task) {
      const directory = tmpOf(task);
      if (existsSync(directory)) await removeInside(tmpRoot, path.basename(directory));
    },
    async setAside() {
      const left = existsSync(tmpRoot) ? await readdir(tmpRoot) : [];
      const renamed = await Promise.all(left.map((name) => renameEntry(tmpRoot, name)));
      return async () => {
        const faults: unknown[] = [];
        for (const name of renamed) await removeInside(tmpRoot, name).catch((error: unknown) => faults.push(error));
        return faults;
      };
    },
  };
}

/** Gives an entry of a directory a name of its own; returns the name that it has then. */
async function renameEntry(directory: string, name: string): Promise<string> {
  const aside = `earlier-${randomUUID()}`;
  try {
    await rename(path.join(directory, name), path.join(directory, aside));
    return aside;
  } catch {
    // What cannot be renamed cannot be removed either: the removal reports why.
    return name;
  }
}

/** `metadata.cwd`: an existing directory inside the workspace, links followed. */
export function resolveDirectoryInside(workspace: string, relative: string): string {
  const refuse = (message: string): never => {
    throw new BridgeError("invalid_request", `metadata.cwd ${message}.`, { errors: [{ path: "metadata.cwd", message }] });
  };
  if (path.isAbsolute(relative) || relative.includes("\0")) refuse("must be a path relative to the workspace");
  const wanted = path.resolve(workspace, relative);
  if (!isInside(workspace, wanted)) refuse("must lie inside the workspace");
  if (statSync(wanted, { throwIfNoEntry: false })?.isDirectory() !== true) refuse("must be an existing directory of the workspace");
  const real = realpathSync(wanted);
  if (!isInside(realpathSync(workspace), real)) refuse("leads out of the workspace by a link");
  return real;
}

/** The `path` of a file output: inside the workspace, by name and, as far as it exists, by link. */
export function resolveFileInside(workspace: string, relative: string): string {
  const refuse = (message: string): never => {
    throw new BridgeError("invalid_request", `outputStrategy.path ${message}.`, { errors: [{ path: "outputStrategy.path", message }] });
  };
  if (path.isAbsolute(relative) || relative.includes("\0")) refuse("must be a path relative to the workspace");
  const wanted = path.resolve(workspace, relative);
  if (wanted === workspace || !isInside(workspace, wanted)) refuse("must name a file inside the workspace");
  if (existsSync(workspace)) {
    let existing = wanted;
    while (!existsSync(existing)) existing = path.dirname(existing);
    if (!isInside(realpathSync(workspace), realpathSync(existing))) refuse("leads out of the workspace by a link");
  }
  return wanted;
}
