import { pino } from "pino";
import { onTestFinished } from "vitest";
import { createEventLog } from "../../src/events/event-log.ts";
import { createMetrics } from "../../src/metrics.ts";
import type { StoredEvent } from "../../src/store/events/interface.ts";
import type { Store } from "../../src/store/store.ts";
import type { NewTask } from "../../src/store/tasks/interface.ts";
import type { Task } from "../../src/task.ts";
import { newTask } from "../conformance/store/fixtures.ts";
import { openTestStore } from "../support/database-subject.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** Creates a log with a real store in a temporary directory. Both are closed after the test. */
export async function openLog(clock?: () => number) {
  const store = await openTestStore(await temporaryDirectory(), { clock });
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

/** Opens one store for two processes: each has its own event log, and both logs publish every commit. */
export async function openSharedLog() {
  const store = await openTestStore(await temporaryDirectory());
  const listeners: ((events: readonly StoredEvent[]) => void)[] = [];
  store.onEvents((events) => {
    for (const publish of listeners) publish(events);
  });
  const openProcess = () => {
    const metrics = createMetrics("test");
    const lines: Record<string, unknown>[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const view: Store = { ...store, onEvents: (listener) => void listeners.push(listener) };
    return { store: view, metrics, lines, logger, eventLog: createEventLog({ store: view, metrics, logger }) };
  };
  const [here, there] = [openProcess(), openProcess()];
  onTestFinished(async () => {
    for (const { eventLog } of [here, there]) await eventLog.close();
    await store.close();
  });
  return { here, there };
}
