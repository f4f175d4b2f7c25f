import { BridgeError } from "../../errors.ts";
import type { Repositories, TreeTask } from "../../repositories/repository.ts";
import type { Store } from "../../store/store.ts";
import { type Task, taskHandle } from "../../task.ts";
import { readAgentFile } from "../../workspaces/prompt-files.ts";
import type { Workspaces } from "../../workspaces/workspace-directories.ts";
import { resolveTimeoutSeconds } from "../admission/resolve-defaults.ts";
import type { createOutcome } from "./outcome.ts";
import type { createRunRecord } from "./run-record.ts";
import type { TaskClocks } from "./task-clocks.ts";

/** The parts that give tasks their work trees. */
export interface RunTreeOptions {
  store: Pick<Store, "setBaseCommit">;
  /** Null without repositories. */
  repositories: Repositories | null;
  workspaces: Workspaces;
  /** The work tree in which the parent of a task runs; null if it runs in none. */
  findParentTree(task: Task): string | null;
  /** Cancels the children of a task, which can run in its tree. Resolves when their runtimes have ended. */
  endChildren(task: Task): Promise<void>;
}

interface RunParts {
  outcome: ReturnType<typeof createOutcome>;
  record: ReturnType<typeof createRunRecord>;
  clocks: TaskClocks;
}

/** The work tree of a run, which all its attempts use. */
export interface RunTree {
  /** The directory of the tree; null if the task runs in the workspace of its agent, and until the tree is opened. */
  directory(): string | null;
  /** Opens the tree, or replaces it by a new one for another attempt. Null if the task runs in the workspace of its agent. */
  open: (() => Promise<string>) | null;
}

/** Creates the work tree of a run: that of the repository of the task, or that of its parent. */
export function createRunTree(task: Task, options: RunTreeOptions, { outcome, record, clocks }: RunParts): RunTree {
  const { store, repositories, workspaces } = options;
  const { repository } = task.request;
  const inherited = repository === undefined ? options.findParentTree(task) : null;
  /** A task that waited for a usage limit begins again. One that was interrupted goes on. */
  const beginsAgain = task.request.whenLimited === "wait" && task.restarts === 0;
  let directory: string | null = inherited;
  let isOpened = beginsAgain;

  function report(data: Record<string, unknown>): void {
    if (!outcome.isDecided()) record.add({ type: "execution.progress", taskId: taskHandle(task), data });
  }

  async function open(tree: TreeTask): Promise<string> {
    if (repositories === null) throw new BridgeError("unknown_repository", `This node has no repository ${tree.repository.name}.`);
    // The command that sets up the tree takes time of the task.
    const timeoutSeconds = resolveTimeoutSeconds(task.request, readAgentFile(workspaces.workspaceOf(task.tenant, task.agentId)));
    clocks.start({ timeoutSeconds, idleSeconds: 0 });
    const { home, tmp } = workspaces.prepareHome(task);
    if (isOpened) await options.endChildren(task);
    const act = isOpened ? repositories.reset : repositories.open;
    const opened = await act(tree, { signal: outcome.signal(), onOutput: (text) => report({ setup: text }), home, tmp });
    isOpened = true;
    const { name, ref, baseCommit } = tree.repository;
    if (baseCommit === null) {
      await store.setBaseCommit(task.tenant, task.taskId, opened.baseCommit);
      report({ repository: { name, ref, baseCommit: opened.baseCommit } });
    }
    directory = opened.directory;
    return directory;
  }

  return {
    directory: () => directory,
    open: repository !== undefined ? () => open({ ...task, repository }) : inherited === null ? null : async () => inherited,
  };
}
