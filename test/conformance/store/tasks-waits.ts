import { describe, expect, test } from "vitest";
import type { Postponement } from "../../../src/store/tasks/interface.ts";
import { claim, createOpen, newFinish, newTask, type StoreSubject, started } from "./fixtures.ts";

/** Checks how a storage engine returns limited tasks to the queue. */
export function taskWaitConformance(subject: StoreSubject): void {
  const open = createOpen(subject);
  /** In the future, because PostgreSQL compares the states of waits with its own clock. */
  const START = Date.now() + 86_400_000;
  const request = { ...newTask().request, whenLimited: "wait" as const };

  /** A store whose clock the test moves, and a function that postpones. */
  async function openAt() {
    const time = { now: START };
    const { store, published, ...opened } = await open(() => time.now);
    const until = (startAfter: number, changes: Partial<Postponement> = {}): Postponement => ({
      ...{ startAfter, maxWaitMs: 10_000, reason: "It waits.", spent: { usage: null, costUsd: null, costSource: null } },
      event: { type: "execution.progress", data: "{}" },
      ...changes,
    });
    const types = () => published.map(({ type }) => type);
    return { store, types, until, time, ...opened };
  }

  describe(`${subject.name}: a postponed task`, () => {
    test("a postponed task starts after its time, with one execution.started", async () => {
      const { store, types, until, time, reopen } = await openAt();
      const task = await started(store, { request });
      expect(await store.postponeTaskIfRunning(task, until(START + 1000))).toBe(true);
      expect(await store.findTaskProgress("default", "task-1")).toMatchObject({ state: "queued", startedAt: null });
      expect(await store.findNextStart(START)).toBe(START + 1000);
      expect((await store.readTaskStatuses([task.seq])).get(task.seq)?.queued?.isPostponed).toBe(true);
      expect(await claim(store)).toBeNull();

      const again = await reopen();
      time.now = START + 1000;
      expect(await again.findNextStart(time.now)).toBeNull();
      const restarted = await claim(again);
      expect(restarted).toMatchObject({ taskId: "task-1", state: "running", restarts: 0 });
      expect(types()).toEqual(["execution.started", "execution.progress"]);
      await again.finishTaskIfRunning(restarted ?? expect.fail("not started"), newFinish());
      expect((await again.readTaskEvents(task.seq, 0, 10, "all")).map(({ type }) => type)).toEqual([
        "execution.started",
        "execution.progress",
        "execution.completed",
      ]);
    });

    test("a postponed task does not delay later tasks of its line", async () => {
      const { store, until } = await openAt();
      const task = await started(store, { request });
      await store.postponeTaskIfRunning(task, until(START + 1000));
      expect(await started(store, { taskId: "task-2" })).toMatchObject({ taskId: "task-2", state: "running" });
    });

    test("a postponed task waits no longer than its maximum, from its first wait on", async () => {
      const { store, until, time } = await openAt();
      const task = await started(store, { request });
      expect(await store.postponeTaskIfRunning(task, until(START + 10_001))).toBe(false);
      expect(await store.findTaskProgress("default", "task-1")).toMatchObject({ state: "running" });
      expect(await store.postponeTaskIfRunning(task, until(START + 6000))).toBe(true);
      expect(await store.postponeTaskIfRunning(task, until(START + 6000))).toBe(false);
      time.now = START + 6000;
      const again = (await claim(store)) ?? expect.fail("not started");
      expect(await store.postponeTaskIfRunning(again, until(START + 10_001))).toBe(false);
      expect(await store.postponeTaskIfRunning(again, until(START + 10_000))).toBe(true);
    });

    test("a task that should stop is not postponed, and a canceled one does not start a second time", async () => {
      const { store, types, until } = await openAt();
      const stopped = await started(store, { request });
      await store.requestStopIfRunning(stopped, { code: "cancelled", reason: "no" });
      expect(await store.postponeTaskIfRunning(stopped, until(START + 1000))).toBe(false);
      await store.finishTaskIfRunning(stopped, newFinish());

      const task = await started(store, { taskId: "task-2", request });
      await store.postponeTaskIfRunning(task, until(START + 1000));
      await store.finishTaskIfQueued({ ...task, state: "queued" }, newFinish({ state: "cancelled" }));
      expect(await store.findNextStart(START)).toBeNull();
      expect(types().filter((type) => type === "execution.started")).toHaveLength(2);
      expect(await store.deleteTaskIfEnded("default", "task-2")).toBeTruthy();
    });

    test("a postponed task returns its reservation, and what it has spent counts", async () => {
      const { store, until, time } = await openAt();
      const limit = {
        name: "day",
        startsAt: 0,
        endsAt: 9e12,
        maxMicros: 10_000_000,
        maxTokens: null,
        warnAt: [],
        tenant: null,
        provider: null,
      };
      store.useBudgets({ limitsAt: () => [limit], onReached() {}, onRoom() {} });
      const task = await started(store, { request, asks: [{ name: "day", askMicros: 4_000_000, askTokens: null }] });
      const read = async () => (await store.readBudgets([limit]))[0];
      expect(await read()).toMatchObject({ reservedMicros: 4_000_000, spentMicros: 0 });
      const spent = { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 1, costSource: "runtime" } as const;
      await store.postponeTaskIfRunning(task, until(START + 1000, { spent }));
      expect(await read()).toMatchObject({ reservedMicros: 0, spentMicros: 1_000_000, estimatedMicros: 0 });
      time.now = START + 1000;
      await claim(store);
      expect(await read()).toMatchObject({ reservedMicros: 3_000_000, spentMicros: 1_000_000 });
    });
  });
}
