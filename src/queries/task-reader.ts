import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { Callback, Page, Store, TaskFilter } from "../store/store.ts";
import type { ListedTask, Task, TaskProgress } from "../task.ts";

export type { Callback, Page } from "../store/store.ts";

/** A task, with the state of its callback, approvals and quota. */
export interface TaskSnapshot<Shown extends ListedTask | Task = Task> {
  task: Shown;
  callback: Callback | null;
  /** Time of its last event, in ms since the epoch. */
  lastProgressAt: number | null;
  isApprovalPending: boolean;
  /** Whether the task is queued and a limit on the running tasks of its tenant or agent is reached. */
  isHeldByQuota: boolean;
  /** Reads a long result as JSON text in parts. If it is set, `task.result` is null. */
  readResult?: (() => AsyncIterable<string>) | undefined;
}

export type TaskReader = ReturnType<typeof createTaskReader>;

/** Creates a reader of tasks for clients. Tasks of other tenants are not found. */
export function createTaskReader(store: Store, dispatcher: Dispatcher) {
  async function toSnapshot<Shown extends ListedTask | Task>(task: Shown): Promise<TaskSnapshot<Shown>> {
    const [callback, lastProgressAt, isApprovalPending] = await Promise.all([
      store.findCallback(task.seq),
      store.lastProgressAt(task.seq),
      store.hasPendingApproval(task.seq),
    ]);
    const isHeldByQuota = task.state === "queued" && dispatcher.isHeldByQuota(task);
    return { task, callback, lastProgressAt, isApprovalPending, isHeldByQuota };
  }

  return {
    /** Reads the state of a task without its request and result, which may be long. */
    findProgress: (tenant: string, taskId: string): Promise<TaskProgress | null> => store.findTaskProgress(tenant, taskId),
    async find(tenant: string, taskId: string): Promise<TaskSnapshot | null> {
      const stored = await store.findStoredTask(tenant, taskId);
      if (stored === null) return null;
      const snapshot = await toSnapshot(stored.task);
      return stored.readResult === null ? snapshot : { ...snapshot, readResult: stored.readResult };
    },
    /** Memory in bytes that a response with the task's result takes, determined without reading the result. */
    resultBytes: (tenant: string, taskId: string): Promise<number> => store.resultBytes(tenant, taskId),
    list: async (filter: TaskFilter, page: Page): Promise<TaskSnapshot<ListedTask>[]> =>
      Promise.all((await store.listTasks(filter, page)).map(toSnapshot)),
  };
}
