import { createHash } from "node:crypto";
import { existsSync, realpathSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { isInside, makePrivateDirectory, removeInside } from "@hak2i/nofollow-fs";
import type { ExecutionRequest } from "#contract";
import { BridgeError } from "../errors.ts";
import { type TaskIdentity, taskHandle } from "../task.ts";

/** Where tasks live on disk. Names of tenants and agents are single path segments by their schemas. */
export interface Workspaces {
  workspaceOf(tenant: string, agentId: string): string;
  /** Makes workspace and home of one task. Synchronous, because a few small calls cost less than turns through the thread pool. */
  prepare(task: TaskIdentity, cwd: string | undefined): ExecutionRequest["directories"];
  /** Removes the task's own temporary directory. */
  release(task: TaskIdentity): Promise<void>;
  /** Removes the temporary directories that a crash left behind; answers why those that stay cannot be removed. */
  sweep(): Promise<unknown[]>;
}

/** Lays out workspaces, homes and temporary directories under the two roots of the configuration. */
export function createWorkspaces({ dataDir, workspacesDir }: { dataDir: string; workspacesDir: string }): Workspaces {
  const tmpRoot = path.join(dataDir, "tmp");
  const workspaceOf = (tenant: string, agentId: string) => path.join(workspacesDir, tenant, agentId);
  const homeOf = (task: TaskIdentity) => path.join(dataDir, "homes", task.tenant, task.agentId);
  // Short and free of characters that programs stumble over, whatever the task is called.
  const tmpOf = (task: TaskIdentity) => path.join(tmpRoot, createHash("sha256").update(taskHandle(task)).digest("hex").slice(0, 24));

  return {
    workspaceOf,
    prepare(task, cwd) {
      const workspace = workspaceOf(task.tenant, task.agentId);
      const directories = { workspace, home: homeOf(task), tmp: tmpOf(task) };
      for (const directory of [workspace, directories.home]) makePrivateDirectory(directory);
      return { ...directories, cwd: cwd === undefined ? workspace : resolveDirectoryInside(workspace, cwd) };
    },
    async release(task) {
      const directory = tmpOf(task);
      if (existsSync(directory)) await removeInside(tmpRoot, path.basename(directory));
    },
    async sweep() {
      const faults: unknown[] = [];
      for (const name of existsSync(tmpRoot) ? await readdir(tmpRoot) : []) {
        await removeInside(tmpRoot, name).catch((error: unknown) => faults.push(error));
      }
      return faults;
    },
  };
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
