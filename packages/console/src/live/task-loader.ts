import type { CallbackDetails, ListedTask, Task, TaskFile } from "bridge-client";
import type { Api } from "../api.ts";
import { formatUpTo } from "../format.ts";
import { hasEnded } from "../task-state.ts";

const MAX_CHILDREN = 200;
const MAX_AHEAD = 200;
/** Files of a task that its page lists. */
export const MAX_FILES = 200;

/** What the page of a task shows, without its events. */
export interface TaskView {
  task: Task;
  children: ListedTask[];
  files: TaskFile[];
  request: RequestView;
  /** Null if the callback has had no attempt. */
  callback: CallbackDetails | null;
  /** How many tasks of the tenant wait before it for the same adapter; null unless it is queued. */
  ahead: string | null;
}

/** The request, with its message apart. */
export interface RequestView {
  message: unknown;
  fields: Record<string, unknown>;
  /** Bridge replaced secrets of the request, so that it cannot be dispatched again as it is. */
  isMasked: boolean;
}

/** Creates a function that loads a task again and again. What cannot change is loaded once. */
export function createTaskLoader(api: Api, taskId: string): (signal: AbortSignal) => Promise<TaskView> {
  const path = `/api/v2/tasks/${encodeURIComponent(taskId)}`;
  let request: RequestView | undefined;
  let lastCallback: CallbackDetails | null = null;
  let isFirst = true;

  async function loadRequest(signal: AbortSignal): Promise<RequestView> {
    const response = await api.call<{ request: Record<string, unknown>; masked: string[] }>(`${path}/request`, { signal });
    const { message, ...fields } = response.request;
    return { message, fields, isMasked: response.masked.length > 0 };
  }

  /** Loads the attempts of the callback again only after another attempt. */
  async function loadCallback({ callback }: Task, signal: AbortSignal): Promise<CallbackDetails | null> {
    if (callback === null || callback.attempts === 0) return null;
    if (lastCallback?.attempts !== callback.attempts)
      lastCallback = await api.call<CallbackDetails>(`/api/v2/callbacks/${encodeURIComponent(taskId)}`, { signal });
    return lastCallback;
  }

  async function countAhead({ provider, createdAt }: Task, signal: AbortSignal): Promise<string> {
    const query = { state: "queued", provider, createdBefore: createdAt, limit: MAX_AHEAD };
    const { data, meta } = await api.list<ListedTask>("/api/v2/tasks", query, { signal });
    return formatUpTo(data.length, meta.nextCursor !== null);
  }

  return async (signal) => {
    const loadFiles = (): Promise<{ data: TaskFile[] } | null> =>
      api.list<TaskFile>(`${path}/files`, { limit: MAX_FILES }, { signal }).catch(() => null);
    const [task, children, loadedRequest, filesOfAnyTask] = await Promise.all([
      api.call<Task>(path, { signal }),
      api.list<ListedTask>("/api/v2/tasks", { parentTaskId: taskId, limit: MAX_CHILDREN }, { signal }),
      request ?? loadRequest(signal),
      // At first it is not known whether the task has ended, and a second round trip would delay the page.
      isFirst ? loadFiles() : null,
    ]);
    request = loadedRequest;
    isFirst = false;
    const [files, callback, ahead] = await Promise.all([
      hasEnded(task) ? (filesOfAnyTask ?? loadFiles()) : null,
      loadCallback(task, signal),
      task.state === "queued" ? countAhead(task, signal) : null,
    ]);
    return { task, children: children.data.toReversed(), files: files?.data ?? [], request, callback, ahead };
  };
}
