import { onTestFinished } from "vitest";
import type { StoredEvent } from "../../../src/store/events/interface.ts";
import type { Store } from "../../../src/store/store.ts";
import type { ClaimFilter, Finish, NewTask } from "../../../src/store/tasks/interface.ts";
import type { Task } from "../../../src/task.ts";

/** A storage engine under test. */
export interface StoreSubject {
  name: string;
  /** Opens an empty store. `clock` returns the time in ms, as the engine's own clock would. */
  open(clock?: () => number): Promise<OpenedStore>;
}

/** An open store under test. */
export interface OpenedStore {
  store: Store;
  /** Closes the store and opens its data again. */
  reopen(): Promise<Store>;
  close(): Promise<void>;
}

/** A task for tests; every field may be set. */
export function newTask(fields: Partial<NewTask> = {}): NewTask {
  return {
    tenant: "default",
    taskId: "task-1",
    parent: null,
    agentId: "agent",
    provider: "command",
    needs: [],
    request: { message: "work", outputStrategy: { type: "stream" }, profile: "inspect", approvals: "deny", onInterrupt: "fail" },
    fingerprint: "f",
    traceparent: null,
    tracestate: null,
    ...fields,
  };
}

/** The outcome of a task for tests; with a URL, the task has a callback. */
export function newFinish(fields: Partial<Finish> = {}, callbackUrl?: string): Finish {
  return {
    state: "completed",
    result: { status: "ok", output: "done", durationMs: 5, connection: "in-process" },
    event: { type: "execution.completed", data: '{"output":"done"}' },
    callback:
      callbackUrl === undefined
        ? null
        : (finishedAt) => ({ url: callbackUrl, origin: new URL(callbackUrl).origin, body: `{"finishedAt":${finishedAt}}` }),
    ...fields,
  };
}

/** Starts the next task that the filter allows. */
export const claim = (store: Store, filter: Partial<ClaimFilter> = {}) =>
  store.startNextTaskIfQueued({ provider: "command", tenant: "default", kind: "dispatched", exceptAgents: [], ...filter });

/** The filter that allows a task. */
const claimOf = ({ provider = "command", tenant = "default", parent }: Partial<NewTask>): Partial<ClaimFilter> => ({
  provider,
  tenant,
  kind: parent == null ? "dispatched" : "child",
});

/** Inserts a task and claims it. */
export async function started(store: Store, fields: Partial<NewTask> = {}): Promise<Task> {
  await store.insertTaskIfAbsent(newTask(fields));
  return (await claim(store, claimOf(fields))) as Task;
}

/** Creates a function that opens an empty store for one test, and collects its events. */
export const createOpen = (subject: StoreSubject) => async (clock?: () => number) => {
  const opened = await subject.open(clock);
  onTestFinished(() => opened.close());
  const published: StoredEvent[] = [];
  opened.store.onEvents((events) => published.push(...events));
  return { ...opened, published };
};
