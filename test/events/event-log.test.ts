import { expect, test } from "vitest";
import type { StoredEvent } from "../../src/store/events/interface.ts";
import { newFinish } from "../conformance/store/fixtures.ts";
import { openLog, readAll, startTask } from "./log-fixture.ts";

const text = (content: string) => ({ type: "assistant.text", data: { content } }) as const;
const progress = (data: Record<string, unknown>) => ({ type: "execution.progress", data }) as const;
const dataOf = (events: readonly StoredEvent[]) => events.map(({ type, data }) => [type, JSON.parse(data)]);

test("consecutive text deltas become one event, in order with other events", async () => {
  const { store, eventLog } = await openLog();
  const task = await startTask(store);
  for (const content of ["Hel", "lo", "", " \ud83d", "\ude00"]) eventLog.append(task, text(content));
  eventLog.append(task, progress({ step: 1 }));
  eventLog.append(task, text("bye"));
  await eventLog.flush(task);
  expect(dataOf(await readAll(store)).slice(1)).toEqual([
    ["assistant.text", { content: "Hello 😀" }],
    ["execution.progress", { step: 1 }],
    ["assistant.text", { content: "bye" }],
  ]);
});

test("buffered text is published after a delay, and texts of different tasks are not mixed", async () => {
  const { store, eventLog } = await openLog();
  const [one, other] = [await startTask(store), await startTask(store)];
  const published: StoredEvent[] = [];
  const both = Promise.withResolvers<void>();
  eventLog.subscribe((events) => {
    published.push(...events);
    if (published.length === 2) both.resolve();
  });
  eventLog.append(one, text("a"));
  eventLog.append(other, text("b"));
  eventLog.append(one, text("c"));
  await both.promise;
  expect(published.map(({ task, data }) => [task.taskId, data])).toEqual([
    [one.taskId, '{"content":"ac"}'],
    [other.taskId, '{"content":"b"}'],
  ]);
});

test("a text of any length is stored completely, in pieces", async () => {
  const { store, eventLog } = await openLog();
  const task = await startTask(store);
  const content = "é\u0000😀".repeat(100_000);
  eventLog.append(task, text(content));
  eventLog.append(task, text("end"));
  await eventLog.flush(task);
  const pieces = (await readAll(store)).slice(1).map(({ data }) => JSON.parse(data) as { content: string });
  expect(pieces.length).toBeGreaterThan(10);
  expect(pieces.map((piece) => piece.content).join("") === `${content}end`).toBe(true);
});

test("settled events are written before the end of the task that is written next", async () => {
  const { store, eventLog } = await openLog();
  const task = await startTask(store);
  eventLog.append(task, text("last words"));
  void eventLog.flush(task);
  await store.finishTaskIfRunning(task, newFinish());
  expect((await readAll(store)).map(({ type }) => type)).toEqual(["execution.started", "assistant.text", "execution.completed"]);
});

test("events of an ended task are counted and dropped, and settling it does not reject", async () => {
  const { store, eventLog, metrics } = await openLog();
  const task = await startTask(store);
  await store.finishTaskIfRunning(task, newFinish());
  eventLog.append(task, text("too"));
  eventLog.append(task, progress({ late: true }));
  await eventLog.flush(task);
  expect(await readAll(store)).toHaveLength(2);
  expect((await metrics.eventsDropped.get()).values).toMatchObject([{ labels: { provider: "command", reason: "late" }, value: 2 }]);
});

test("event data whose getters throw is counted, and other events are not affected", async () => {
  const { store, eventLog, metrics } = await openLog();
  const task = await startTask(store);
  const hostile = Object.defineProperty({}, "trap", {
    enumerable: true,
    get: () => {
      throw new Error("trap");
    },
  });
  eventLog.append(task, progress(hostile));
  eventLog.append(task, progress({ step: 2 }));
  await eventLog.flush(task);
  expect(dataOf(await readAll(store)).at(-1)).toEqual(["execution.progress", { step: 2 }]);
  expect((await metrics.eventsDropped.get()).values).toMatchObject([{ labels: { reason: "invalid" }, value: 1 }]);
});

test("a listener that throws affects neither the commit nor other listeners", async () => {
  const { store, eventLog } = await openLog();
  const task = await startTask(store);
  const received: number[] = [];
  eventLog.subscribe(() => {
    throw new Error("listener");
  });
  const unsubscribe = eventLog.subscribe((events) => received.push(...events.map(({ number }) => number)));
  eventLog.append(task, progress({ step: 1 }));
  await eventLog.flush(task);
  unsubscribe();
  eventLog.append(task, progress({ step: 2 }));
  await eventLog.flush(task);
  expect(received).toEqual([2]);
  expect(await readAll(store)).toHaveLength(3);
});

test("closing the log stores buffered events, and drops later ones", async () => {
  const { store, eventLog, metrics } = await openLog();
  const task = await startTask(store);
  eventLog.append(task, text("gathered"));
  await eventLog.close();
  eventLog.append(task, text("after"));
  await eventLog.flush(task);
  expect(dataOf(await readAll(store)).at(-1)).toEqual(["assistant.text", { content: "gathered" }]);
  expect((await metrics.eventsDropped.get()).values).toMatchObject([{ value: 1 }]);
});

test("event ids contain the epoch of the log and the number of the event", async () => {
  const { store, eventLog } = await openLog();
  expect(eventLog.formatId(7)).toBe(`${store.epoch}-7`);
});
