import type { BigIntStats } from "node:fs";
import { type FileHandle, realpath } from "node:fs/promises";
import { createTurns } from "@hak2i/async-kit";
import { holdDirectory, nullIfAbsent, openFileInside } from "@hak2i/nofollow-fs";
import { BridgeError } from "../errors.ts";
import { readListedPath, skippedDirectories } from "../requests/workspace-path.ts";
import type { Store } from "../store/store.ts";
import type { TaskProgress } from "../task.ts";
import { type WalkedFiles, walkFiles } from "./walk-files.ts";
import type { Workspaces } from "./workspace-directories.ts";

export type { FoundFile } from "./walk-files.ts";

/** File timestamps have the resolution of a kernel tick, so a file that is created right after the start can seem one tick older. */
const FILE_CLOCK_TICK_MS = 10;

/** An open file of a task. The caller closes it. */
export interface OpenTaskFile {
  handle: FileHandle;
  stats: BigIntStats;
  /** The last name of its path. */
  name: string;
  /** False while the task runs, because the file may still change. */
  isFinal: boolean;
}

/** A page of the files of a task. */
interface FilePage {
  after: string | null;
  limit: number;
  /** Nothing is read after it has aborted. */
  signal?: AbortSignal;
}

export type TaskFiles = ReturnType<typeof createTaskFiles>;

/**
 * Creates the access to the files that tasks left in their workspaces. A file belongs to a task if it last changed while the task ran. So
 * its content is the one at the end of the task, and a file that a later task has changed belongs to the later task.
 */
export function createTaskFiles({
  store,
  workspaces,
}: {
  store: Pick<Store, "findTaskProgress" | "readTaskStatuses">;
  workspaces: Pick<Workspaces, "workspaceOf">;
}) {
  // A walk holds the names of a whole directory, so hundreds of concurrent walks would exhaust the memory and slow each other down.
  const turns = createTurns();

  async function find(tenant: string, taskId: string): Promise<TaskProgress> {
    const task = await store.findTaskProgress(tenant, taskId);
    if (task === null) throw new BridgeError("not_found", "There is no such task.");
    return task;
  }

  /** Whether the task runs in a work tree of a repository, and so leaves nothing in the workspace. */
  const hasTree = async ({ seq }: TaskProgress): Promise<boolean> => {
    const status = (await store.readTaskStatuses([seq])).get(seq);
    return status !== undefined && status.repository !== null;
  };

  return {
    /** Lists the files of a task. Throws BridgeError: not_found. */
    async list(tenant: string, taskId: string, { after, limit, signal }: FilePage): Promise<WalkedFiles> {
      const task = await find(tenant, taskId);
      const walk = async (): Promise<WalkedFiles> => {
        const isInWorkspace = task.startedAt !== null && !(await hasTree(task));
        const workspace = !isInWorkspace ? null : await nullIfAbsent(realpath(workspaces.workspaceOf(tenant, task.agentId)));
        const root = workspace === null ? null : holdDirectory(workspace);
        if (root === null) return { files: [], next: null, truncated: false };
        const isWanted = ({ changedAt }: { changedAt: number }) => compareToRun(task, changedAt) === "during";
        return walkFiles(root, { after, limit, skip: skippedDirectories, isWanted }).finally(root.close);
      };
      return turns.take(tenant, walk, signal);
    },

    /** Opens a file of a task. Throws BridgeError: not_found, with the reason. */
    async open(tenant: string, taskId: string, path: string): Promise<OpenTaskFile> {
      const task = await find(tenant, taskId);
      if (await hasTree(task)) throw new BridgeError("not_found", "The task has a separate work tree. Read its diff or its patch instead.");
      const names = readListedPath(path);
      const handle = names === null ? null : await openFileInside(workspaces.workspaceOf(tenant, task.agentId), names);
      if (names === null || handle === null) throw createFileNotFound();
      try {
        const stats = await handle.stat({ bigint: true });
        const time = compareToRun(task, Number(stats.ctimeMs));
        if (time === "before") throw createFileNotFound();
        if (time === "after") throw new BridgeError("not_found", "The file was changed after the end of the task.");
        return { handle, stats, name: names.at(-1) ?? "", isFinal: task.finishedAt !== null };
      } catch (error) {
        await handle.close();
        throw error;
      }
    },
  };
}

const createFileNotFound = () => new BridgeError("not_found", "The task has no file at this path.");

function compareToRun({ startedAt, finishedAt, ran }: TaskProgress, changedAt: number): "before" | "during" | "after" {
  const { from, to } = ran ?? { from: startedAt, to: finishedAt };
  if (from === null || changedAt < from - FILE_CLOCK_TICK_MS) return "before";
  return to !== null && changedAt > to ? "after" : "during";
}
