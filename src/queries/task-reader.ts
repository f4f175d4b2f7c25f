import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { QueuedReason } from "../dispatch/queued-reason.ts";
import type { Callback, Page, TaskFilter, TaskSearch } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { ListedTask, Task, TaskProgress, TaskSummary } from "../task.ts";

export type { Callback, Page } from "../store/records.ts";

/** A task, with the state of its callback and approvals, what it waits for, and its node. */
export interface TaskSnapshot<Shown extends ListedTask | Task = Task> {
  task: Shown;
  summary: TaskSummary;
  callback: Callback | null;
  /** Time of its last event, in ms since the epoch. */
  lastProgressAt: number | null;
  isApprovalPending: boolean;
  /** Null if the task is not queued. */
  queuedBecause: QueuedReason | null;
  /** The name of its node; null if it has none, or the node was forgotten. */
  node: string | null;
  /** Reads a long result as JSON text in parts. If it is set, `task.result` is null. */
  readResult?: (() => AsyncIterable<string>) | undefined;
}

export type TaskReader = ReturnType<typeof createTaskReader>;

/** Creates a reader of tasks for clients. Tasks of other tenants are not found. */
export function createTaskReader(store: Store, dispatcher: Pick<Dispatcher, "findQueuedReason" | "nameOfNode">) {
  async function toSnapshot<Shown extends ListedTask | Task>(task: Shown, summary: TaskSummary): Promise<TaskSnapshot<Shown>> {
    const [callback, lastProgressAt, isApprovalPending, queuedBecause] = await Promise.all([
      store.findCallback(task.seq),
      store.lastProgressAt(task.seq),
      store.hasPendingApproval(task.seq),
      dispatcher.findQueuedReason(task),
    ]);
    return { task, summary, callback, lastProgressAt, isApprovalPending, queuedBecause, node: dispatcher.nameOfNode(task.node) };
  }

  return {
    /** Reads the state of a task without its request and result, which may be long. */
    findProgress: (tenant: string, taskId: string): Promise<TaskProgress | null> => store.findTaskProgress(tenant, taskId),
    async find(tenant: string, taskId: string): Promise<TaskSnapshot | null> {
      const stored = await store.findStoredTask(tenant, taskId);
      if (stored === null) return null;
      const snapshot = await toSnapshot(stored.task, stored.summary);
      return stored.readResult === null ? snapshot : { ...snapshot, readResult: stored.readResult };
    },
    /** Reads the request of a task, and the task without a long result. */
    findRequest: async (tenant: string, taskId: string): Promise<Task | null> => (await store.findStoredTask(tenant, taskId))?.task ?? null,
    /** Memory in bytes that a response with the task's result takes, determined without reading the result. */
    resultBytes: (tenant: string, taskId: string): Promise<number> => store.resultBytes(tenant, taskId),
    list: async (filter: TaskFilter, page: Page): Promise<TaskSnapshot<ListedTask>[]> =>
      Promise.all((await store.listTasks(filter, page)).map((task) => toSnapshot(task, task.summary))),
    /** Lists tasks by further conditions. A page may be empty before the end: continue from `next`. */
    async search(search: TaskSearch, page: Page): Promise<{ found: TaskSnapshot<ListedTask>[]; next: number | null }> {
      const { tasks, next } = await store.searchTasks(search, page);
      return { found: await Promise.all(tasks.map((task) => toSnapshot(task, task.summary))), next };
    },
  };
}
