import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { Callback, Page, Store, TaskFilter } from "../store/store.ts";
import type { ListedTask, Task, TaskProgress } from "../task.ts";

export type { Callback, Page } from "../store/store.ts";

/** A task with what else its readers want to know of it. */
export interface TaskSnapshot<Shown extends ListedTask | Task = Task> {
  task: Shown;
  callback: Callback | null;
  /** Time of its last event, in ms since the epoch. */
  lastProgressAt: number | null;
  /** A tool call waits for an answer. */
  isApprovalPending: boolean;
  /** Whether the task is queued and a limit on the running tasks of its tenant or agent is reached. */
  isHeldByQuota: boolean;
  /** Reads a long result, which the task then lacks, as JSON text in parts. */
  readResult?: (() => AsyncIterable<string>) | undefined;
}

/** Reads tasks for those outside, within one tenant: what belongs to another does not exist. */
export interface TaskReader {
  /** How far the task is, without its request and result, which may be long. */
  findProgress(tenant: string, taskId: string): Promise<TaskProgress | null>;
  find(tenant: string, taskId: string): Promise<TaskSnapshot | null>;
  /** Memory in bytes that an answer with the task's result takes, determined without reading the result. */
  resultBytes(tenant: string, taskId: string): Promise<number>;
  list(filter: TaskFilter, page: Page): Promise<TaskSnapshot<ListedTask>[]>;
}

export function createTaskReader(
  store: Pick<
    Store,
    "findTaskProgress" | "findStoredTask" | "resultBytes" | "listTasks" | "findCallback" | "lastProgressAt" | "hasPendingApproval"
  >,
  dispatcher: Pick<Dispatcher, "isHeldByQuota">,
): TaskReader {
  const look = async <Shown extends ListedTask | Task>(task: Shown): Promise<TaskSnapshot<Shown>> => {
    const [callback, lastProgressAt, isApprovalPending] = await Promise.all([
      store.findCallback(task.seq),
      store.lastProgressAt(task.seq),
      store.hasPendingApproval(task.seq),
    ]);
    const isHeldByQuota = task.state === "queued" && dispatcher.isHeldByQuota(task);
    return { task, callback, lastProgressAt, isApprovalPending, isHeldByQuota };
  };
  return {
    findProgress: (tenant, taskId) => store.findTaskProgress(tenant, taskId),
    async find(tenant, taskId) {
      const stored = await store.findStoredTask(tenant, taskId);
      if (stored === null) return null;
      const snapshot = await look(stored.task);
      return stored.readResult === null ? snapshot : { ...snapshot, readResult: stored.readResult };
    },
    resultBytes: (tenant, taskId) => store.resultBytes(tenant, taskId),
    list: async (filter, page) => Promise.all((await store.listTasks(filter, page)).map(look)),
  };
}
