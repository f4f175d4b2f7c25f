import { expect, test } from "vitest";
import { createLogFeed, createTaskFeed, type EventFilter, isTerminal, type StoredEvent } from "../../src/events/event-feed.ts";
import { newFinish } from "../conformance/store/fixtures.ts";
import { openLog, readAll, startTask } from "./log-fixture.ts";

test("a feed reads the same events from the store as it matches live", async () => {
  const { store, eventLog } = await openLog();
  const tenants = ["default", "other"];
  for (const tenant of tenants) {
    for (const [taskId, agentId, provider] of [
      ["one", "a", "p"],
      ["two", "b", "p"],
      ["three", "a", "q"],
    ] as const) {
      const task = await startTask(store, { tenant, taskId, agentId, provider });
      eventLog.append(task, { type: "execution.progress", data: {} });
      await eventLog.flush(task);
      await store.finishTaskIfRunning(task, newFinish());
    }
  }
  const all = (await Promise.all(tenants.map((tenant) => readAll(store, tenant)))).flat();
  expect(all).toHaveLength(18);
  const filters: [Omit<EventFilter, "tenant">, number][] = [
    [{}, 9],
    [{ taskId: "one" }, 3],
    [{ taskId: "four" }, 0],
    [{ agentId: "a" }, 6],
    [{ provider: "q" }, 3],
    [{ types: ["execution.progress", "execution.completed"] }, 6],
    [{ agentId: "a", provider: "p", types: ["execution.started"] }, 1],
  ];
  for (const tenant of tenants) {
    for (const [filter, count] of filters) {
      const feed = createLogFeed(store, { tenant, ...filter });
      const { events } = await feed.read(0);
      expect(events).toHaveLength(count);
      expect(all.filter((event) => feed.matches(event))).toEqual(events);
      expect(events.every(({ task }) => task.tenant === tenant)).toBe(true);
    }
  }
});

test("the feed of a task has its execution events in pages, without callback events, and knows its end", async () => {
  const { store, eventLog } = await openLog();
  const task = await startTask(store);
  const other = await startTask(store);
  for (let step = 0; step < 250; step += 1) {
    eventLog.append(task, { type: "execution.progress", data: { step } });
    eventLog.append(other, { type: "execution.progress", data: { step } });
  }
  await eventLog.flush(task);
  await store.finishTaskIfRunning(task, newFinish({}, "https://example.com/"));
  await store.settleCallbackIfPending(
    { task, attempts: 0 },
    {
      state: "delivered",
      nextInMs: null,
      lastStatus: 200,
      lastError: null,
      event: (attempts) => ({ type: "callback.delivered", data: JSON.stringify({ attempts, status: 200 }) }),
    },
  );
  const feed = createTaskFeed(store, task);
  const taskEvents: StoredEvent[] = [];
  let [position, pages] = [0, 0];
  while (position < store.lastEventNumber()) {
    const { events, through } = await feed.read(position);
    taskEvents.push(...events);
    [position, pages] = [through, pages + 1];
  }
  expect(pages).toBeGreaterThan(1);
  expect(taskEvents).toHaveLength(252);
  expect(taskEvents.map(isTerminal).indexOf(true)).toBe(251);
  const everything = await readAll(store);
  expect(everything.at(-1)?.type).toBe("callback.delivered");
  expect(everything.filter((event) => feed.matches(event))).toEqual(taskEvents);
});
