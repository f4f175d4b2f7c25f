import { describe, expect, test } from "vitest";
import type { Store } from "../../../src/store/store.ts";
import type { NewTask } from "../../../src/store/tasks/interface.ts";
import type { Task } from "../../../src/task.ts";
import { createOpen, newFinish, newTask, type StoreSubject, started } from "./fixtures.ts";

/** Checks deletion, retention and the state of the store in a storage engine. */
export function maintenanceConformance(subject: StoreSubject): void {
  const open = createOpen(subject);

  describe(`store: ${subject.name}`, () => {
    describe("deletion", () => {
      const ended = async (store: Store, fields: Partial<NewTask> = {}, callbackUrl?: string): Promise<Task> =>
        (await store.finishTaskIfRunning(await started(store, fields), newFinish({}, callbackUrl))) as Task;
      const remove = async (store: Store, taskId = "task-1", tenant = "default") => {
        const outcome = await store.deleteTaskIfEnded(tenant, taskId);
        while ((await store.purgeDeletedTasks()) > 0);
        return outcome;
      };

      test("deletion removes an ended task with its events, and keeps other tasks and the event numbers", async () => {
        const { store, published, reopen } = await open();
        await ended(store, { taskId: "before" });
        const task = await ended(store);
        await ended(store, { taskId: "after" });
        expect(await remove(store)).toBe("deleted");
        expect(await store.findTask("default", "task-1")).toBeNull();
        expect(await store.findTaskProgress("default", "task-1")).toBeNull();
        expect(await store.isTaskKept(task.seq)).toBe(false);
        expect(await store.readTaskEvents(task.seq, 0, 10, "all")).toEqual([]);
        const numbers = async (from: Store) => (await from.readEvents(0, { tenant: "default" })).events.map(({ number }) => number);
        expect(await numbers(store)).toEqual([1, 2, 5, 6]);
        expect([await store.oldestEventNumber(), await store.prunedThrough(), store.lastEventNumber()]).toEqual([1, 0, 6]);
        const at = expect.any(Number);
        const first = [0, 2, 3, 6, 7].map((number) => store.firstEventFrom(number));
        expect(await Promise.all(first)).toEqual([{ number: 1, at }, { number: 2, at }, { number: 5, at }, { number: 6, at }, null]);
        expect(await remove(store)).toBe("absent");
        expect(await remove(store, "after")).toBe("deleted");
        const again = await reopen();
        expect(again.lastEventNumber()).toBe(6);
        await started(again, { taskId: "next" });
        expect(await numbers(again)).toEqual([1, 2, 7]);
        expect(published.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6]);
      });

      test("deletion frees the task id for another task", async () => {
        const { store } = await open();
        const old = await ended(store, { fingerprint: "old" });
        await remove(store);
        const { task, inserted } = await store.insertTaskIfAbsent(newTask({ fingerprint: "new" }));
        expect([inserted, task.fingerprint, task.seq > old.seq]).toEqual([true, "new", true]);
      });

      test.each(["queued", "running"])("deletion of a %s task is rejected", async (state) => {
        const { store } = await open();
        await (state === "queued" ? store.insertTaskIfAbsent(newTask()) : started(store));
        expect(await remove(store)).toBe("unfinished");
        expect(await store.findTask("default", "task-1")).toMatchObject({ state });
      });

      test("deletion of another tenant's task finds nothing", async () => {
        const { store } = await open();
        await ended(store);
        expect(await remove(store, "task-1", "other")).toBe("absent");
        expect(await remove(store, "", "")).toBe("absent");
        expect(await store.findTask("default", "task-1")).not.toBeNull();
      });

      test("deletion is rejected while a callback is pending, and removes a delivered or dead callback", async () => {
        const { store } = await open();
        for (const state of ["delivered", "dead"] as const) {
          const task = await ended(store, { taskId: state }, "http://a.test/");
          expect(await remove(store, state)).toBe("callback_pending");
          const settlement = { state, nextInMs: null, lastStatus: 500, lastError: null };
          await store.settleCallbackIfPending(
            { task, attempts: 0 },
            { ...settlement, event: () => ({ type: `callback.${state}`, data: "{}" }) },
          );
          expect(await remove(store, state)).toBe("deleted");
          expect(await store.findCallback(task.seq)).toBeNull();
          expect(await store.redeliverCallbackIfDead(task.seq)).toBeNull();
        }
        expect(await store.listCallbacks("default", undefined, { before: null, limit: 9 })).toEqual([]);
        expect((await store.readEvents(0, { tenant: "default" })).events).toEqual([]);
      });

      test("deletion removes child tasks too, and is rejected while a child or the parent runs", async () => {
        const { store } = await open();
        const parent = await started(store, { provider: "composite" });
        const child = await started(store, { taskId: "child", parent });
        const grandchild = await started(store, { taskId: "grandchild", parent: child });
        expect(await store.findFamily("default", "task-1")).toEqual([parent.seq, child.seq, grandchild.seq]);
        await store.finishTaskIfRunning(child, newFinish());
        expect(await remove(store, "child")).toBe("parent_unfinished");
        await store.finishTaskIfRunning(parent, newFinish());
        expect(await remove(store)).toBe("child_unfinished");
        await store.finishTaskIfRunning(grandchild, newFinish());
        expect(await remove(store)).toBe("deleted");
        for (const taskId of ["task-1", "child", "grandchild"]) expect(await store.findTask("default", taskId)).toBeNull();
        expect(await store.findFamily("default", "task-1")).toEqual([]);
        expect((await store.readEvents(0, { tenant: "default" })).events).toEqual([]);
      });

      test("deletion keeps the resume token, which belongs to a session and not to a task", async () => {
        const { store } = await open();
        const task = await started(store);
        await store.finishTaskIfRunning(task, newFinish({ result: { status: "ok", durationMs: 1, connection: "cli", resumeToken: "r" } }));
        expect(await remove(store)).toBe("deleted");
        expect(await store.isResumeTokenKnown({ tenant: "default", provider: "command", agentId: "agent", token: "r" })).toBe(true);
      });

      test("deletion removes many events in several slices, and hides all of them from the first slice on", async () => {
        const { store, reopen } = await open();
        const task = await started(store);
        const events = Array.from({ length: 2500 }, () => ({ type: "execution.progress" as const, data: "{}" }));
        await store.appendEventsIfRunning(task, events);
        await store.keepLongTexts(task, ["x".repeat(300_000)]);
        await store.finishTaskIfRunning(task, newFinish());
        expect(await store.deleteTaskIfEnded("default", "task-1")).toBe("deleted");
        expect((await store.readEvents(0, { tenant: "default" })).events).toEqual([]);
        expect(await store.readTaskEvents(task.seq, 0, 10, "all")).toEqual([]);
        expect(await store.listTasks({ tenant: "default" }, { before: null, limit: 10 })).toEqual([]);
        // After a restart of Bridge, the next store continues the deletion.
        const again = await reopen();
        let slices = 0;
        while ((await again.prune(1e12, 100)) > 0) slices += 1;
        expect(slices).toBeGreaterThan(1);
        expect([await again.oldestEventNumber(), await again.purgeDeletedTasks()]).toEqual([null, 0]);
        expect(again.lastEventNumber()).toBe(2502);
      });
    });

    describe("retention", () => {
      const DAY = 86_400_000;

      test("retention deletes old ended tasks in slices, and keeps the log contiguous with increasing numbers", async () => {
        let now = 0;
        const { store, reopen } = await open(() => now);
        for (const taskId of ["a", "b", "c"]) await store.finishTaskIfRunning(await started(store, { taskId }), newFinish());
        const long = await started(store, { taskId: "long" });
        now = 8 * DAY;
        const young = await started(store, { taskId: "young" });
        while ((await store.prune(7 * DAY, 2)) > 0);
        expect((await store.listTasks({ tenant: "default" }, { before: null, limit: 10 })).map(({ taskId }) => taskId)).toEqual([
          "young",
          "long",
        ]);
        expect([await store.oldestEventNumber(), await store.prunedThrough()]).toEqual([7, 6]);
        expect((await store.firstEventFrom(1))?.number).toBe(7);
        now = 20 * DAY;
        for (const task of [long, young]) await store.finishTaskIfRunning(task, newFinish());
        now = 40 * DAY;
        while ((await store.prune(7 * DAY, 100)) > 0);
        expect(await store.oldestEventNumber()).toBeNull();
        const again = await reopen();
        expect(again.lastEventNumber()).toBe(10);
        const next = await started(again, { taskId: "next" });
        expect((await again.readTaskEvents(next.seq, 0, 1, "all"))[0]?.number).toBe(11);
      });

      test("retention keeps a task whose callback is pending", async () => {
        let now = 0;
        const { store } = await open(() => now);
        await store.finishTaskIfRunning(await started(store), newFinish({}, "http://a.test/"));
        now = 30 * DAY;
        expect(await store.prune(7 * DAY, 100)).toBe(0);
        expect(await store.findTask("default", "task-1")).not.toBeNull();
      });
    });

    test("the store checks that it can write on request, and rejects calls after it is closed", async () => {
      const { store, close } = await open();
      await store.checkWritable();
      await close();
      await expect(store.insertTaskIfAbsent(newTask())).rejects.toMatchObject({ code: "storage_unavailable" });
    });
  });
}
