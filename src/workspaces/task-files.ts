import type { BigIntStats } from "node:fs";
import { type FileHandle, realpath } from "node:fs/promises";
import { createTurns } from "@hak2i/async-kit";
import { holdDirectory, nullIfAbsent, openFileInside } from "@hak2i/nofollow-fs";
import { BridgeError } from "../errors.ts";
import { readListedPath, skippedDirectories } from "../requests/workspace-path.ts";
import type { Store } from "../store/store.ts";
import type { TaskProgress } from "../task.ts";
import { type WalkedFiles, walkFiles } from "./walk-files.ts";
import type { Workspaces } from "./workspace.ts";

export type { FoundFile } from "./walk-files.ts";

/** The clock of files is read once a tick: a file made right after the start can seem a tick older than it. */
const FILE_CLOCK_TICK_MS = 10;

/** A file that a task left, open; whoever takes it closes it. */
export interface OpenTaskFile {
  handle: FileHandle;
  stats: BigIntStats;
  /** The last name of its path. */
  name: string;
  /** False while the task runs: then the file may go on changing under its reader. */
  isFinal: boolean;
}

/** What tasks left in the workspaces of their agents, looked up at the moment of asking. */
export interface TaskFiles {
  /** Throws BridgeError: not_found. */
  list(tenant: string, taskId: string, page: { after: string | null; limit: number }): Promise<WalkedFiles>;
  /** Throws BridgeError: not_found, with the reason in words. */
  open(tenant: string, taskId: string, path: string): Promise<OpenTaskFile>;
}

/**
 * A task left a file when the file last changed while the task ran. So a file that is listed is, byte for byte, what lay there when the
 * task ended, and one that a later task has changed is that one's.
 */
export function createTaskFiles({
  store,
  workspaces,
}: {
  store: Pick<Store, "findTaskProgress">;
  workspaces: Pick<Workspaces, "workspaceOf">;
}): TaskFiles {
  // A walk holds the names of a whole directory: hundreds at once would fill the memory, and each would take longer for all the others.
  const turns = createTurns();

  async function find(tenant: string, taskId: string): Promise<TaskProgress> {
    const task = await store.findTaskProgress(tenant, taskId);
    if (task === null) throw new BridgeError("not_found", "There is no such task.");
    return task;
  }

  return {
    async list(tenant, taskId, { after, limit }) {
      const task = await find(tenant, taskId);
      return turns.take(tenant, async () => {
        const workspace = task.startedAt === null ? null : await nullIfAbsent(realpath(workspaces.workspaceOf(tenant, task.agentId)));
        const root = workspace === null ? null : holdDirectory(workspace);
        if (root === null) return { files: [], next: null, truncated: false };
        const wanted = ({ changedAt }: { changedAt: number }) => placeInTime(task, changedAt) === "during";
        return walkFiles(root, { after, limit, skip: skippedDirectories, wanted }).finally(root.close);
      });
    },

    async open(tenant, taskId, path) {
      const task = await find(tenant, taskId);
      const names = readListedPath(path);
      const handle = names === null ? null : await openFileInside(workspaces.workspaceOf(tenant, task.agentId), names);
      if (names === null || handle === null) throw noSuchFile();
      try {
        const stats = await handle.stat({ bigint: true });
        const place = placeInTime(task, Number(stats.ctimeMs));
        if (place === "before") throw noSuchFile();
        if (place === "after") throw new BridgeError("not_found", "The file has been changed since the task ended.");
        return { handle, stats, name: names.at(-1) ?? "", isFinal: task.finishedAt !== null };
      } catch (error) {
        await handle.close();
        throw error;
      }
    },
  };
}

const noSuchFile = () => new BridgeError("not_found", "The task left no such file.");

function placeInTime({ startedAt, finishedAt }: TaskProgress, changedAt: number): "before" | "during" | "after" {
  if (startedAt === null || changedAt < startedAt - FILE_CLOCK_TICK_MS) return "before";
  return finishedAt !== null && changedAt > finishedAt ? "after" : "during";
}
