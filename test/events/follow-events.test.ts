import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { createLogFeed, createTaskFeed, type EventFeed, type StoredEvent } from "../../src/events/event-feed.ts";
import { formatEventId } from "../../src/events/event-id.ts";
import { type EventPosition, followEvents, positionOf } from "../../src/events/follow-events.ts";
import { newFinish } from "../conformance/store/fixtures.ts";
import { openLog, startTask } from "./log-fixture.ts";
import { createScriptedStore } from "./scripted-store.ts";

type Log = Awaited<ReturnType<typeof openLog>>;

/** Follows a feed and records its events and gaps. `hasRoom` returns whether the follower has room after each replayed page. */
function follow({ store, eventLog }: Log, feed: EventFeed, from: number | null, hasRoom: () => boolean = () => true) {
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
    waitForRoom: () => new Promise<void>(setImmediate),
    onLive: (events: readonly StoredEvent[]) => void take(events),
    onFeedEnd: () => void overs.push(numbers.length),
    onError(error: unknown) {
      throw error;
    },
  };
  const position = from === null ? null : { epoch: store.epoch, number: from };
  const caughtUp = followEvents({ store, eventLog, feed }, { from: position, follower, signal: controller.signal });
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
          if (waits) await eventLog.flush(tasks[task] as (typeof tasks)[0]);
          followers.push(...open(index + 1));
        }
        await Promise.all(tasks.map((task) => eventLog.flush(task)));
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
  const positions = await Promise.all([0, 1, 2].map((number) => positionOf(store, { epoch, number })));
  expect(positions).toEqual([{ epoch, number: 0 }, { epoch, number: 1 }, null]);
  expect(await positionOf(store, { epoch: `${epoch}x`, number: 1 })).toBeNull();
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
      waitForRoom: async () => void (await prune()),
      onLive: () => {},
      onFeedEnd: () => {},
      onError(error: unknown) {
        throw error;
      },
    };
    await followEvents(
      { store, eventLog: log.eventLog, feed },
      { from: { epoch: store.epoch, number: 0 }, follower, signal: controller.signal },
    );
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
  await eventLog.flush(task);
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

describe("with several processes", () => {
  type Scripted = ReturnType<typeof createScriptedStore>;

  /** Follows the log like a stream: records each event with the id that a client receives, and each gap. */
  function followIds({ store, eventLog }: Scripted, feed: EventFeed, from: EventPosition, hasRoom: () => boolean = () => true) {
    const received: ("gap" | { id: string; number: number; data: string })[] = [];
    const controller = new AbortController();
    const take = (events: readonly StoredEvent[]) => {
      for (const { number, data } of events) received.push({ id: formatEventId({ epoch: store.epoch, number }), number, data });
    };
    const follower = {
      onGap: () => void received.push("gap"),
      onReplay(events: readonly StoredEvent[]) {
        take(events);
        return hasRoom();
      },
      waitForRoom: () => new Promise<void>(setImmediate),
      onLive: take,
      onFeedEnd: () => {},
      onError(error: unknown) {
        throw error;
      },
    };
    const caughtUp = followEvents({ store, eventLog, feed }, { from, follower, signal: controller.signal });
    return { from, received, caughtUp, stop: () => controller.abort() };
  }

  test.each([
    ["published", { number: 2 }, true, 0],
    ["before the first one", { number: 0 }, true, 0],
    ["committed by another process", { number: 5 }, true, 1],
    ["in the future", { number: 6 }, false, 1],
    ["of another epoch", { epoch: "other", number: 1 }, false, 1],
  ])("the position of an event that is %s is found or unknown, and the store catches up only if needed", async (_, id, known, catchUps) => {
    const { store, commit, publish, countCatchUps } = createScriptedStore();
    commit(5);
    publish(2);
    const whole = { epoch: store.epoch, ...id };
    expect(await positionOf(store, whole)).toEqual(known ? whole : null);
    expect(countCatchUps()).toBe(catchUps);
  });

  test("a position that is found while the epoch changes is unknown to the follower", async () => {
    const scripted = createScriptedStore();
    scripted.commit(4);
    scripted.publish();
    const from = await positionOf(scripted.store, { epoch: scripted.store.epoch, number: 4 });
    scripted.failOver(1);
    const { received, caughtUp, stop } = followIds(scripted, createLogFeed(scripted.store, { tenant: "default" }), from);
    await caughtUp;
    stop();
    expect(received.map((one) => (one === "gap" ? one : one.id))).toEqual(["gap", "timeline2-1", "timeline2-2", "timeline2-3"]);
  });

  test("a follower whose pages were read before their events are published gets each event once", async () => {
    const scripted = createScriptedStore();
    const { store, task, commit, publish } = scripted;
    commit(5);
    publish(2);
    const start = { epoch: store.epoch, number: 0 };
    const readers = [createLogFeed(store, { tenant: "default" }), createTaskFeed(store, task)].map((feed) =>
      followIds(scripted, feed, start),
    );
    await Promise.all(readers.map(({ caughtUp }) => caughtUp));
    commit(2);
    publish(1);
    publish(3);
    publish();
    for (const { received, stop } of readers) {
      stop();
      expect(received).toMatchObject(range(1, 7).map((number) => ({ number })));
    }
  });

  test.each([0, 2])("a live follower gets a gap and all events when the epoch has changed and %d events are lost", async (lost) => {
    const scripted = createScriptedStore();
    const { store, commit, publish } = scripted;
    commit(3);
    publish();
    const { received, caughtUp, stop } = followIds(scripted, createLogFeed(store, { tenant: "default" }), {
      epoch: store.epoch,
      number: 3,
    });
    await caughtUp;
    commit(3);
    publish();
    scripted.failOver(lost);
    commit(1);
    publish();
    await vi.waitFor(() => expect(received.at(-1)).toMatchObject({ number: 7 - lost }));
    stop();
    const ids = (timeline: number, first: number, last: number) => range(first, last).map((number) => `timeline${timeline}-${number}`);
    expect(received.map((one) => (one === "gap" ? one : one.id))).toEqual([...ids(1, 4, 6), "gap", ...ids(2, 1, 7 - lost)]);
  });

  test("followers of a log with late publications and failovers receive no event twice or out of order, and no id for two events", async () => {
    const command = fc.oneof(
      { weight: 3, arbitrary: fc.record({ kind: fc.constant("commit" as const), count: fc.integer({ min: 1, max: 6 }) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant("publish" as const), count: fc.integer({ min: 1, max: 6 }) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant("wait" as const), count: fc.integer({ min: 1, max: 12 }) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant("follow" as const), count: fc.nat(8) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("failOver" as const), count: fc.nat(4) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 10, maxLength: 30 }), fc.boolean(), async (commands, pauses) => {
        const scripted = createScriptedStore();
        const { store, task } = scripted;
        const feeds = [createLogFeed(store, { tenant: "default" }), createTaskFeed(store, task)];
        const readers: ReturnType<typeof followIds>[] = [];
        for (const { kind, count } of commands) {
          if (kind === "wait") for (let turn = 0; turn < count; turn += 1) await nextTurn();
          else if (kind === "follow") {
            const from = await positionOf(store, { epoch: store.epoch, number: Math.max(0, scripted.committed().length - count) });
            let pages = 0;
            readers.push(followIds(scripted, feeds[count % 2] as EventFeed, from, () => !pauses || (pages++ & 1) === 1));
          } else scripted[kind](count);
        }
        // A follower notices a changed epoch at the next event.
        scripted.commit(1);
        scripted.publish();
        await Promise.all(readers.map(({ caughtUp }) => caughtUp));
        const last = scripted.committed().length;
        const lastId = formatEventId({ epoch: store.epoch, number: last });
        await vi.waitFor(() => {
          for (const { received } of readers) expect(received.at(-1)).toMatchObject({ id: lastId });
        });
        const dataOfId = new Map<string, string>();
        for (const { from, received, stop } of readers) {
          stop();
          let expected = (from?.number ?? 0) + 1;
          for (const one of received) {
            if (one === "gap") {
              expected = 1;
              continue;
            }
            expect(one.number).toBe(expected);
            expect(dataOfId.get(one.id) ?? one.data).toBe(one.data);
            dataOfId.set(one.id, one.data);
            expected += 1;
          }
          const unbroken = received.slice(received.lastIndexOf("gap") + 1);
          expect(unbroken).toMatchObject(
            scripted
              .committed()
              .slice(last - unbroken.length)
              .map(({ number, data }) => ({ number, data })),
          );
        }
      }),
      { numRuns: 200 },
    );
  });
});

test.each([
  ["is reported", false],
  ["is not reported after the follower was ended, because Bridge closes the store then", true],
])("a read that fails %s", async (_, isEnded) => {
  const { store, eventLog } = await openLog();
  const read = Promise.withResolvers<never>();
  const onError = vi.fn();
  const controller = new AbortController();
  const follower = { onGap() {}, onReplay: () => true, waitForRoom: async () => {}, onLive() {}, onFeedEnd() {}, onError };
  const readPage = vi.fn(() => read.promise);
  const feed = { ...createLogFeed(store, { tenant: "default" }), read: readPage };
  const ended = followEvents({ store, eventLog, feed }, { from: { epoch: store.epoch, number: 0 }, follower, signal: controller.signal });
  await vi.waitFor(() => expect(readPage).toHaveBeenCalled());
  if (isEnded) controller.abort();
  read.reject(new Error("Bridge is stopping."));
  await ended;
  expect(onError).toHaveBeenCalledTimes(isEnded ? 0 : 1);
});
