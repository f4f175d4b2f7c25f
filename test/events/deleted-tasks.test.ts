import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { createLogFeed, createTaskFeed, type EventFeed, type StoredEvent } from "../../src/events/event-feed.ts";
import { followEvents } from "../../src/events/follow-events.ts";
import type { Task } from "../../src/task.ts";
import { newFinish } from "../conformance/store/fixtures.ts";
import { openLog, startTask } from "./log-fixture.ts";

type Log = Awaited<ReturnType<typeof openLog>>;

/** Follows a feed and records its events and gaps. */
function follow({ store, eventLog }: Log, feed: EventFeed, from: number) {
  const numbers: number[] = [];
  const gaps: (number | null)[] = [];
  let isOver = false;
  const controller = new AbortController();
  const take = (events: readonly StoredEvent[]) => void numbers.push(...events.map(({ number }) => number));
  const follower = {
    onGap: (oldest: number | null) => void gaps.push(oldest),
    onReplay(events: readonly StoredEvent[]) {
      take(events);
      return true;
    },
    waitForRoom: async () => {},
    onLive: take,
    onFeedEnd() {
      isOver = true;
    },
    onError(error: unknown) {
      throw error;
    },
  };
  const caughtUp = followEvents(
    { store, eventLog, feed },
    { from: { epoch: store.epoch, number: from }, follower, signal: controller.signal },
  );
  return {
    numbers,
    gaps,
    caughtUp,
    stop: () => controller.abort(),
    get isOver() {
      return isOver;
    },
  };
}

const tenants = ["alpha", "beta"];

test("a reader that resumes gets each stored event once and in order, and no number is used twice, after any writes, deletions and prunes", async () => {
  const action = fc.oneof(
    { arbitrary: fc.record({ kind: fc.constant("start" as const), tenant: fc.constantFrom(...tenants) }), weight: 3 },
    { arbitrary: fc.record({ kind: fc.constant("write" as const), task: fc.nat(20), count: fc.integer({ min: 1, max: 60 }) }), weight: 4 },
    { arbitrary: fc.record({ kind: fc.constant("finish" as const), task: fc.nat(20) }), weight: 4 },
    { arbitrary: fc.record({ kind: fc.constant("delete" as const), task: fc.nat(20) }), weight: 5 },
    { arbitrary: fc.record({ kind: fc.constant("prune" as const) }), weight: 1 },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(action, fc.nat(1000)), { minLength: 5, maxLength: 40 }), async (actions) => {
      let now = 1_000_000;
      const log = await openLog(() => now);
      const { store, eventLog } = log;
      /** Every event that was ever published, by number; those of deleted tasks are removed. */
      const kept = new Map<number, StoredEvent>();
      let highest = 0;
      eventLog.subscribe((events) => {
        for (const event of events) {
          expect(event.number).toBeGreaterThan(highest);
          highest = event.number;
          kept.set(event.number, event);
        }
      });
      const running: Task[] = [];
      const ended: Task[] = [];
      let pruned = 0;
      const live = tenants.map((tenant) => follow(log, createLogFeed(store, { tenant }), 0));
      const published: number[][] = tenants.map(() => []);
      eventLog.subscribe((events) => {
        for (const { number, task } of events) published[tenants.indexOf(task.tenant)]?.push(number);
      });

      for (const [act, resumeAt] of actions) {
        now += 1000;
        if (act.kind === "start") running.push(await startTask(store, { tenant: act.tenant }));
        else if (act.kind === "write" && running.length > 0) {
          const task = running[act.task % running.length] as Task;
          await store.appendEventsIfRunning(
            task,
            Array.from({ length: act.count }, () => ({ type: "execution.progress" as const, data: "{}" })),
          );
        } else if (act.kind === "finish" && running.length > 0) {
          const [task] = running.splice(act.task % running.length, 1) as [Task];
          await store.finishTaskIfRunning(task, newFinish());
          ended.push(task);
        } else if (act.kind === "delete" && ended.length > 0) {
          const [task] = ended.splice(act.task % ended.length, 1) as [Task];
          // Retention may have deleted the task before.
          expect(["deleted", "absent"]).toContain(await store.deleteTaskIfEnded(task.tenant, task.taskId));
          for (const [number, event] of kept) if (event.task.seq === task.seq) kept.delete(number);
        } else if (act.kind === "prune") {
          while ((await store.prune(15_000, 50)) > 0);
          pruned = await store.prunedThrough();
          for (const number of kept.keys()) if (number <= pruned) kept.delete(number);
        }

        const from = resumeAt % (store.lastEventNumber() + 1);
        for (const tenant of tenants) {
          const reader = follow(log, createLogFeed(store, { tenant }), from);
          await reader.caughtUp;
          reader.stop();
          const expected = [...kept.values()].filter((event) => event.task.tenant === tenant && event.number > from);
          expect(reader.numbers).toEqual(expected.map(({ number }) => number));
          // Pruned events are a gap; events of deleted tasks are not, for this tenant and for others.
          expect(reader.gaps).toHaveLength(from < pruned ? 1 : 0);
        }
      }
      for (const [index, reader] of live.entries()) {
        await reader.caughtUp;
        reader.stop();
        expect(reader.numbers).toEqual(published[index]);
      }
      expect(store.lastEventNumber()).toBe(highest);
      await eventLog.close();
      await store.close();
    }),
    { numRuns: 30 },
  );
});

test("the stream of a task ends when the task is deleted during a replay", async () => {
  const log = await openLog();
  const { store } = log;
  const task = await startTask(store);
  await store.appendEventsIfRunning(
    task,
    Array.from({ length: 120 }, () => ({ type: "execution.progress" as const, data: "{}" })),
  );
  await store.finishTaskIfRunning(task, newFinish());
  // The deletion happens after the first page was read.
  let pages = 0;
  const readTaskEvents: typeof store.readTaskEvents = async (...query) => {
    pages += 1;
    if (pages === 2) expect(await store.deleteTaskIfEnded(task.tenant, task.taskId)).toBe("deleted");
    return store.readTaskEvents(...query);
  };
  const reader = follow(log, createTaskFeed({ ...store, readTaskEvents }, task), 0);
  onTestFinished(reader.stop);
  await reader.caughtUp;
  expect([reader.isOver, reader.gaps, reader.numbers.length]).toEqual([true, [], 50]);
});
