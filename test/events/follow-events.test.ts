import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createLogFeed, createTaskFeed, type EventFeed, type StoredEvent } from "../../src/events/event-feed.ts";
import { type EventPosition, followEvents, positionOf } from "../../src/events/follow-events.ts";
import { newFinish } from "../conformance/store.ts";
import { openLog, startTask } from "./log-fixture.ts";

type Log = Awaited<ReturnType<typeof openLog>>;

/** Follows a feed and records its events and gaps. `hasRoom` returns whether the follower has room after each replayed page. */
function follow({ store, eventLog }: Log, feed: EventFeed, from: EventPosition, hasRoom: () => boolean = () => true) {
  const numbers: number[] = [];
  const gaps: (number | null)[] = [];
  /** Number of received events when the feed ended. */
  const overs: number[] = [];
  const controller = new AbortController();
  const take = (events: readonly StoredEvent[]) => numbers.push(...events.map(({ number }) => number));
  const follower = {
    onGap: (oldest: number | null) => void gaps.push(oldest),
    onReplay: (events: readonly StoredEvent[]) => {
      take(events);
      return hasRoom();
    },
    waitForDrain: () => new Promise<void>(setImmediate),
    onLive: (events: readonly StoredEvent[]) => void take(events),
    onFeedEnd: () => void overs.push(numbers.length),
  };
  const caughtUp = followEvents({ store, eventLog, feed }, { from, follower, signal: controller.signal });
  return { numbers, gaps, overs, caughtUp, stop: () => controller.abort() };
}

const range = (first: number, last: number): number[] => Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);

test("a follower gets every number once and in order, with concurrent writes and any page sizes", async () => {
  const log = await openLog();
  const { store, eventLog } = log;
  const tasks = [await startTask(store), await startTask(store), await startTask(store)];
  // Returns a turn after the read, so that other commits can happen in between.
  const readEvents: typeof store.readEvents = async (after, filter) => {
    const page = await store.readEvents(after, filter);
    await nextTurn();
    return page;
  };
  const feed = createLogFeed({ ...store, readEvents }, { tenant: "default" });
  const write = fc.record({ task: fc.nat(2), count: fc.integer({ min: 1, max: 700 }), waits: fc.boolean() });
  const reader = fc.record({ at: fc.nat(5), back: fc.nat(3000), pauses: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(
      fc.array(write, { minLength: 1, maxLength: 5 }),
      fc.array(reader, { minLength: 1, maxLength: 4 }),
      async (writes, readers) => {
        const open = (step: number) =>
          readers
            .filter(({ at }) => Math.min(at, writes.length) === step)
            .map(({ back, pauses }) => {
              const from = Math.max(0, store.lastEventNumber() - back);
              let turn = 0;
              return { from, ...follow(log, feed, from, () => !pauses || (turn++ & 1) === 1) };
            });
        const followers = open(0);
        for (const [index, { task, count, waits }] of writes.entries()) {
          for (let step = 0; step < count; step += 1)
            eventLog.append(tasks[task] as (typeof tasks)[0], { type: "execution.progress", data: { step } });
          if (waits) await eventLog.settle(tasks[task] as (typeof tasks)[0]);
          followers.push(...open(index + 1));
        }
        await Promise.all(tasks.map((task) => eventLog.settle(task)));
        await Promise.all(followers.map(({ caughtUp }) => caughtUp));
        for (const { from, numbers, gaps, stop } of followers) {
          stop();
          expect(numbers).toEqual(range(from + 1, store.lastEventNumber()));
          expect(gaps).toEqual([]);
        }
      },
    ),
    { numRuns: 40 },
  );
});

test("a follower at an unknown position gets a gap and then all stored events", async () => {
  const log = await openLog();
  await startTask(log.store);
  const { numbers, gaps, caughtUp, stop } = follow(log, createLogFeed(log.store, { tenant: "default" }), null);
  await caughtUp;
  stop();
  expect([gaps, numbers]).toEqual([[1], [1]]);
});

test("a position is unknown if it has another epoch or a future number", async () => {
  const { store } = await openLog();
  await startTask(store);
  const { epoch } = store;
  expect([0, 1, 2].map((number) => positionOf(store, { epoch, number }))).toEqual([0, 1, null]);
  expect(positionOf(store, { epoch: `${epoch}x`, number: 1 })).toBeNull();
});

test("after a prune, only positions before the oldest event have a gap", async () => {
  let now = 1_000_000;
  const log = await openLog(() => now);
  const { store } = log;
  for (let count = 0; count < 3; count += 1) {
    const task = await startTask(store);
    await store.finishTaskIfRunning(task, newFinish());
  }
  now += 10_000;
  const young = await startTask(store);
  await store.prune(5000, 4);
  const feed = createLogFeed(store, { tenant: "default" });
  expect(await feed.readRetained()).toEqual({ oldest: 5, completeFrom: 5 });
  for (const [from, gaps, first] of [
    [0, [5], 5],
    [3, [5], 5],
    [4, [], 5],
    [6, [], 7],
    [7, [], 8],
  ] as const) {
    const reader = follow(log, feed, from);
    await reader.caughtUp;
    reader.stop();
    expect([from, reader.gaps, reader.numbers]).toEqual([from, gaps, range(first, 7)]);
  }
  // The feed of the newer task is complete, although the start of the log was pruned.
  const taskFeed = follow(log, createTaskFeed(store, young), 0);
  await taskFeed.caughtUp;
  taskFeed.stop();
  expect([taskFeed.gaps, taskFeed.numbers]).toEqual([[], [7]]);
});

test("a follower that is far behind during a prune gets each event or a gap", async () => {
  let gapsSeen = 0;
  for (let round = 0; round < 8; round += 1) {
    let now = 1_000_000;
    const log = await openLog(() => now);
    const { store } = log;
    const task = await startTask(store);
    const events = range(1, 1500).map((number) => ({ type: "assistant.text" as const, data: `{"content":"${number}"}` }));
    await store.appendEventsIfRunning(task, events);
    await store.finishTaskIfRunning(task, newFinish());
    now += 10_000;
    await startTask(store);
    const last = store.lastEventNumber();
    const prune = () => store.prune(5000, 100 + 150 * round);
    // Also between the read of a page and the query for the oldest event.
    const readEvents: typeof store.readEvents = async (after, filter) => {
      const page = await store.readEvents(after, filter);
      if (round % 2 === 1) await prune();
      return page;
    };
    const feed = createLogFeed({ ...store, readEvents }, { tenant: "default" });
    const seen: (number | "gap")[] = [];
    const controller = new AbortController();
    let turn = 0;
    const follower = {
      onGap: () => void seen.push("gap"),
      onReplay: (page: readonly StoredEvent[]) => {
        seen.push(...page.map(({ number }) => number));
        turn += 1;
        return turn % 2 === 0;
      },
      waitForDrain: async () => void (await prune()),
      onLive: () => {},
      onFeedEnd: () => {},
    };
    await followEvents({ store, eventLog: log.eventLog, feed }, { from: 0, follower, signal: controller.signal });
    controller.abort();
    let expected = 1;
    for (const [index, entry] of seen.entries()) {
      if (entry === "gap") continue;
      if (entry !== expected) expect({ entry, expected, before: seen[index - 1] }).toMatchObject({ before: "gap" });
      expect(entry).toBeGreaterThanOrEqual(expected);
      expected = entry + 1;
    }
    expect(seen.at(-1)).toBe(last);
    gapsSeen += seen.filter((entry) => entry === "gap").length;
  }
  expect(gapsSeen).toBeGreaterThan(0);
});

test("the feed of a task whose first events were pruned starts with a gap", async () => {
  let now = 1_000_000;
  const log = await openLog(() => now);
  const { store, eventLog } = log;
  const task = await startTask(store);
  eventLog.append(task, { type: "execution.progress", data: {} });
  await eventLog.settle(task);
  await store.finishTaskIfRunning(task, newFinish());
  now += 10_000;
  await store.prune(5000, 1);
  for (const [from, gaps, numbers] of [
    [0, [2], [2, 3]],
    [1, [], [2, 3]],
    [2, [], [3]],
    [null, [2], [2, 3]],
  ] as const) {
    const reader = follow(log, createTaskFeed(store, task), from);
    await reader.caughtUp;
    reader.stop();
    expect([from, reader.gaps, reader.numbers]).toEqual([from, gaps, numbers]);
  }
});

test("a gap in a log that is empty after a prune has no oldest event", async () => {
  let now = 1_000_000;
  const log = await openLog(() => now);
  const { store } = log;
  const task = await startTask(store);
  await store.finishTaskIfRunning(task, newFinish());
  now += 10_000;
  await store.prune(5000, 10);
  const reader = follow(log, createLogFeed(store, { tenant: "default" }), 0);
  await reader.caughtUp;
  await startTask(store);
  reader.stop();
  expect([reader.gaps, reader.numbers]).toEqual([[null], [3]]);
});
