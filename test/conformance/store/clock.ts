import { describe, expect, test } from "vitest";
import type { CallbackSettlement } from "../../../src/store/posts/interface.ts";
import { createOpen, newFinish, type StoreSubject, started } from "./fixtures.ts";

/** Checks the times of all subjects after the system clock is set in a storage engine. */
export function clockConformance(subject: StoreSubject): void {
  const open = createOpen(subject);

  describe(`store: ${subject.name}`, () => {
    describe("a system clock that is set", () => {
      const [HOUR, DAY] = [3_600_000, 86_400_000];

      test("a system clock that is set back does not delay the retry of a callback, while the store is open and between two openings", async () => {
        let now = 1000 * DAY;
        const { store, reopen } = await open(() => now);
        const settlement: CallbackSettlement = { state: "pending", nextInMs: 3000, lastStatus: 503, lastError: "http_503", event: null };
        const task = await started(store);
        await store.finishTaskIfRunning(task, newFinish({}, "http://a.test/"));
        await store.settleCallbackIfPending({ task, attempts: 0 }, settlement);
        expect(await store.nextCallbackInMs()).toBe(3000);
        now -= 10 * HOUR;
        expect(await store.nextCallbackInMs()).toBe(3000);
        expect(await store.findCallback(task.seq)).toMatchObject({ nextAttemptAt: now + 3000, updatedAt: now });
        now += 1000;
        expect(await store.nextCallbackInMs()).toBe(2000);
        now -= 10 * HOUR;
        expect(await (await reopen()).nextCallbackInMs()).toBe(3000);
      });

      test("a system clock that is set counts in the age of the oldest pending callback, which is never negative", async () => {
        let now = 1000 * DAY;
        const { store } = await open(() => now);
        expect(await store.oldestCallbackMs()).toBe(null);
        const [first, second, foreign] = [
          await started(store, { taskId: "first" }),
          await started(store, { taskId: "second" }),
          await started(store, { taskId: "foreign", tenant: "other" }),
        ];
        await store.finishTaskIfRunning(second, newFinish({}, "http://a.test/"));
        now += 10_000;
        expect(await store.oldestCallbackMs()).toBe(10_000);
        await store.finishTaskIfRunning(foreign, newFinish({}, "http://b.test/"));
        await store.finishTaskIfRunning(first, newFinish());
        const dead: CallbackSettlement = { state: "dead", nextInMs: null, lastStatus: 503, lastError: "http_503", event: null };
        now += 5_000;
        expect(await store.oldestCallbackMs()).toBe(15_000);
        await store.settleCallbackIfPending({ task: second, attempts: 0 }, dead);
        expect(await store.oldestCallbackMs()).toBe(5_000);
        now -= HOUR;
        expect(await store.oldestCallbackMs()).toBe(0);
        await store.settleCallbackIfPending({ task: foreign, attempts: 0 }, { ...dead, state: "delivered" });
        expect(await store.oldestCallbackMs()).toBe(null);
      });

      test("a system clock that is set back by less than the time since the last read of the schedule does not delay a retry", async () => {
        let now = 1000 * DAY;
        const { store } = await open(() => now);
        const task = await started(store);
        expect(await store.nextCallbackInMs()).toBe(null);
        now += 50_000;
        await store.finishTaskIfRunning(task, newFinish({}, "http://a.test/"));
        const settlement: CallbackSettlement = { state: "pending", nextInMs: 3000, lastStatus: 503, lastError: "http_503", event: null };
        await store.settleCallbackIfPending({ task, attempts: 0 }, settlement);
        now -= 40_000;
        expect(await store.nextCallbackInMs()).toBe(3000);
      });

      test("a system clock that is set back before a due callback is claimed does not delay the callback", async () => {
        let now = 1000 * DAY;
        const { store } = await open(() => now);
        expect(await store.nextCallbackInMs()).toBe(null);
        const task = await started(store);
        await store.finishTaskIfRunning(task, newFinish({}, "http://a.test/"));
        now -= HOUR;
        const due = await store.listDueCallbacks({ tenant: "default", receiver: "http://a.test" }, 10);
        expect(due.map(({ task: { taskId } }) => taskId)).toEqual([task.taskId]);
      });

      test("a system clock that is set from the future into the present does not stop retention, and deletes nothing early", async () => {
        let now = 1000 * DAY;
        const { store } = await open(() => now);
        const run = async (taskId: string) => await store.finishTaskIfRunning(await started(store, { taskId }), newFinish());
        const left = async () => (await store.listTasks({ tenant: "default" }, { before: null, limit: 10 })).map(({ taskId }) => taskId);
        now += 3650 * DAY;
        for (const taskId of ["ahead-1", "ahead-2"]) await run(taskId);
        now -= 3650 * DAY;
        // The age of the events is unknown until a later event exists.
        while ((await store.prune(7 * DAY, 1)) > 0);
        expect(await left()).toEqual(["ahead-2", "ahead-1"]);
        await run("after");
        now += 8 * DAY;
        await run("young");
        while ((await store.prune(7 * DAY, 1)) > 0);
        expect(await left()).toEqual(["young"]);
      });
    });
  });
}
