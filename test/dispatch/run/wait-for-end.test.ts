import { getEventListeners } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { waitForEnd } from "../../../src/dispatch/run/wait-for-end.ts";
import type { EventLog } from "../../../src/events/event-log.ts";
import type { TaskProgress } from "../../../src/task.ts";
import { newFinish } from "../../conformance/store/fixtures.ts";
import { openLog, openSharedLog, startTask } from "../../events/log-fixture.ts";

type Log = Awaited<ReturnType<typeof openLog>>;

/** Counts the open subscriptions to the log and, after each read of the task, calls `onRead` before the read returns. */
function observe({ store, eventLog }: Pick<Log, "store" | "eventLog">, onRead: () => Promise<unknown> = async () => {}) {
  let following = 0;
  const follow: EventLog["follow"] = (feed, listener) => {
    following += 1;
    const unfollow = eventLog.follow(feed, listener);
    return () => {
      following -= 1;
      unfollow();
    };
  };
  const findTaskProgress = async (tenant: string, taskId: string): Promise<TaskProgress | null> => {
    const found = await store.findTaskProgress(tenant, taskId);
    await onRead();
    return found;
  };
  return { sources: { store: { findTaskProgress }, eventLog: { follow } }, countFollowing: () => following };
}

const moments = ["before the call", "during the read of the task", "while it waits"] as const;

test.each(moments)("waiting for a task returns its end if the task ends %s", async (moment) => {
  const log = await openLog();
  const task = await startTask(log.store);
  let isFirst = true;
  const end = () => log.store.finishTaskIfRunning(task, newFinish());
  const { sources, countFollowing } = observe(log, async () => {
    if (moment !== moments[1] || !isFirst) return;
    isFirst = false;
    await end();
  });
  if (moment === moments[0]) await end();
  const waiting = waitForEnd(sources, task);
  if (moment === moments[2]) {
    await nextTurn();
    await end();
  }
  expect(await waiting).toMatchObject({ seq: task.seq, state: "completed" });
  expect(countFollowing()).toBe(0);
});

test.each(moments)("waiting for a task returns it as it is, and leaves no listener behind, if the signal is aborted %s", async (moment) => {
  const log = await openLog();
  const task = await startTask(log.store);
  const controller = new AbortController();
  const { signal } = controller;
  const { sources, countFollowing } = observe(log, async () => moment === moments[1] && controller.abort());
  if (moment === moments[0]) controller.abort();
  const waiting = waitForEnd(sources, task, signal);
  expect([countFollowing(), getEventListeners(signal, "abort").length]).toEqual([1, 1]);
  if (moment === moments[2]) {
    await nextTurn();
    controller.abort();
  }
  expect(await waiting).toMatchObject({ state: "running" });
  expect([countFollowing(), getEventListeners(signal, "abort").length]).toEqual([0, 0]);
});

test("all clients that wait for a task receive its end from the log when another process ends it, and other events cause no read", async () => {
  const { here, there } = await openSharedLog();
  const task = await startTask(there.store);
  const other = await startTask(there.store);
  let reads = 0;
  const { sources, countFollowing } = observe(here, async () => {
    reads += 1;
  });
  const waits = Array.from({ length: 3 }, () => waitForEnd(sources, task));
  await expect.poll(() => reads).toBe(3);
  await there.store.appendEventsIfRunning(task, [{ type: "execution.progress", data: "{}" }]);
  await there.store.finishTaskIfRunning(other, newFinish());
  await nextTurn();
  expect([reads, countFollowing()]).toEqual([3, 3]);
  await there.store.finishTaskIfRunning(task, newFinish());
  expect(await Promise.all(waits)).toMatchObject(Array(3).fill({ state: "completed" }));
  expect([reads, countFollowing()]).toEqual([6, 0]);
});
