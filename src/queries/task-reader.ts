import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { QueuedReason } from "../dispatch/scheduler/queued-reason.ts";
import type { Page } from "../store/page.ts";
import type { Store } from "../store/store.ts";
import type { TaskFilter, TaskSearch, TaskStatus } from "../store/tasks/interface.ts";
import type { ListedTask, Task, TaskProgress, TaskSummary } from "../task.ts";

export type { Page } from "../store/page.ts";
export type { Callback } from "../store/posts/interface.ts";
export type { StoredTaskRepository } from "../store/repositories/interface.ts";

/** A task, with the state of its callback and approvals, what it waits for, and its node. */
export interface TaskSnapshot<Shown extends ListedTask | Task = Task> extends Omit<TaskStatus, "queued"> {
  task: Shown;
  summary: TaskSummary;
  /** Null if the task is not queued. */
  queuedBecause: QueuedReason | null;
  /** The names of the budgets for which it waits. */
  waitingForBudgets: readonly string[];
  /** The name of its node; null if it has none, or the node was forgotten. */
  node: string | null;
  /** Reads a long result as JSON text in parts. If it is set, `task.result` is null. */
  readResult?: (() => AsyncIterable<string>) | undefined;
}

export type TaskReader = ReturnType<typeof createTaskReader>;

/** Creates a reader of tasks for clients. Tasks of other tenants are not found. */
export function createTaskReader(store: Store, dispatcher: Pick<Dispatcher, "findQueuedReason" | "listHoldingBudgets" | "nameOfNode">) {
  async function toSnapshot<Shown extends ListedTask | Task>(
    task: Shown,
    summary: TaskSummary,
    { queued, ...status }: TaskStatus = DELETED,
  ): Promise<TaskSnapshot<Shown>> {
    // It may have started in the meantime.
    const queuedBecause = task.state === "queued" && queued !== null ? await dispatcher.findQueuedReason(task, queued) : null;
    const waitingForBudgets = queuedBecause === "budget" && queued !== null ? await dispatcher.listHoldingBudgets(queued) : [];
    return { task, summary, ...status, queuedBecause, waitingForBudgets, node: dispatcher.nameOfNode(task.node) };
  }

  async function toSnapshots(tasks: readonly ListedTask[]): Promise<TaskSnapshot<ListedTask>[]> {
    const statuses = await store.readTaskStatuses(tasks.map(({ seq }) => seq));
    return Promise.all(tasks.map((task) => toSnapshot(task, task.summary, statuses.get(task.seq))));
  }

  return {
    /** Reads the state of a task without its request and result, which may be long. */
    findProgress: (tenant: string, taskId: string): Promise<TaskProgress | null> => store.findTaskProgress(tenant, taskId),
    async find(tenant: string, taskId: string): Promise<TaskSnapshot | null> {
      const stored = await store.findStoredTask(tenant, taskId);
      if (stored === null) return null;
      const { seq } = stored.task;
      const snapshot = await toSnapshot(stored.task, stored.summary, (await store.readTaskStatuses([seq])).get(seq));
      return stored.readResult === null ? snapshot : { ...snapshot, readResult: stored.readResult };
    },
    /** Reads the request of a task, and the task without a long result. */
    findRequest: async (tenant: string, taskId: string): Promise<Task | null> => (await store.findStoredTask(tenant, taskId))?.task ?? null,
    /** Memory in bytes that a response with the task's result takes, determined without reading the result. */
    resultBytes: (tenant: string, taskId: string): Promise<number> => store.resultBytes(tenant, taskId),
    list: async (filter: TaskFilter, page: Page): Promise<TaskSnapshot<ListedTask>[]> => toSnapshots(await store.listTasks(filter, page)),
    /** Lists tasks by further conditions. A page may be empty before the end: continue from `next`. */
    async search(search: TaskSearch, page: Page): Promise<{ found: TaskSnapshot<ListedTask>[]; next: number | null }> {
      const { tasks, next } = await store.searchTasks(search, page);
      return { found: await toSnapshots(tasks), next };
    },
  };
}

/** The status of a task that was deleted while it was read. */
const DELETED: TaskStatus = {
  ...{ callback: null, lastProgressAt: null, silentMs: null, isApprovalPending: false, childCount: 0, queued: null, repository: null },
};
