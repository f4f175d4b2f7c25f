import path from "node:path";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import { createEventLog } from "../../src/events/event-log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { openStore } from "../../src/store/sqlite/open-store.ts";
import type { NewTask, Store, StoredEvent } from "../../src/store/store.ts";
import type { Task } from "../../src/task.ts";
import { newTask } from "../conformance/store.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** Creates a log with a real store in a temporary directory. Both are closed after the test. */
export async function openLog(clock?: () => number) {
  const store = openStore({ file: path.join(await temporaryDirectory(), "bridge.db"), ...(clock && { clock }) });
  const metrics = createMetrics("test");
  const eventLog = createEventLog({ store, metrics, logger: pino({ level: "silent" }) });
  onTestFinished(async () => {
    await eventLog.close();
    await store.close();
  });
  return { store, metrics, eventLog };
}

let count = 0;

/** Starts a task, so that events can be appended to it. */
export async function startTask(store: Store, fields: Partial<NewTask> = {}): Promise<Task> {
  count += 1;
  const wanted = newTask({ taskId: `task-${count}`, ...fields });
  await store.insertTaskIfAbsent(wanted);
  const task = await store.startNextTaskIfQueued({ ...wanted, kind: wanted.parent === null ? "dispatched" : "child", exceptAgents: [] });
  if (task?.taskId !== wanted.taskId) throw new Error("another task was started");
  return task;
}

/** Reads all events of a tenant. */
export async function readAll(store: Store, tenant = "default"): Promise<StoredEvent[]> {
  const found: StoredEvent[] = [];
  for (let position = 0; position < store.lastEventNumber(); ) {
    const { events, through } = await store.readEvents(position, { tenant });
    found.push(...events);
    position = through;
  }
  return found;
}
