import { describe, expect, test } from "vitest";
import type { Store } from "../../../src/store/store.ts";
import type { StopRequest } from "../../../src/task.ts";
import { claim, createOpen, newFinish, newTask, type StoreSubject, started } from "./fixtures.ts";

/** Checks stopping, continuing and restarting tasks in a storage engine. */
export function taskStopConformance(subject: StoreSubject): void {
  const open = createOpen(subject);

  describe(`store: ${subject.name}`, () => {
    describe("a stop request", () => {
      const stop: StopRequest = { code: "cancelled", reason: "The task was canceled." };
      const listen = (store: Store) => {
        const requests: [taskId: string, StopRequest][] = [];
        store.onStopRequests(({ taskId }, request) => requests.push([taskId, request]));
        return requests;
      };

      test("a stop request reaches the process that runs the task; of two requests, the first is kept", async () => {
        const { store } = await open();
        const task = await started(store);
        const requests = listen(store);
        const both = [stop, { code: "timeout", reason: "too long" } as const].map((one) => store.requestStopIfRunning(task, one));
        expect(await Promise.all(both)).toEqual([true, true]);
        await expect.poll(() => requests[0]).toEqual(["task-1", stop]);
        expect(new Set(requests.map(([, { reason }]) => reason))).toEqual(new Set([stop.reason]));
        expect(await store.findTask("default", "task-1")).toEqual(task);
        expect(await store.listInterruptedTasks()).toEqual([{ task, stop }]);
      });

      test("a stop request for a task that is not running is rejected, and reaches no listener", async () => {
        const { store } = await open();
        const requests = listen(store);
        const { task: queued } = await store.insertTaskIfAbsent(newTask({ taskId: "queued" }));
        const ended = await started(store, { taskId: "ended", provider: "codex" });
        await store.finishTaskIfRunning(ended, newFinish());
        for (const task of [queued, ended, { ...ended, seq: 99 }]) expect(await store.requestStopIfRunning(task, stop)).toBe(false);
        expect(requests).toEqual([]);
      });

      test("a stop request in one commit with the end of the task leaves exactly one end", async () => {
        const { store, published } = await open();
        const [before, after] = [await started(store, { taskId: "before" }), await started(store, { taskId: "after" })];
        const writes = [
          store.requestStopIfRunning(before, stop),
          store.finishTaskIfRunning(before, newFinish()),
          store.finishTaskIfRunning(after, newFinish()),
          store.requestStopIfRunning(after, stop),
        ];
        expect(await Promise.all(writes)).toMatchObject([true, { state: "completed" }, { state: "completed" }, false]);
        expect(published.filter(({ type }) => type === "execution.completed")).toHaveLength(2);
        expect(await store.deleteTaskIfEnded("default", "before")).toBe("deleted");
      });

      test("a stop request survives a restart and prevents the task from returning to the queue", async () => {
        const { store, reopen } = await open();
        const task = await started(store);
        const other = await started(store, { taskId: "other", provider: "codex" });
        await store.requestStopIfRunning(task, stop);
        const again = await reopen();
        expect(await again.listInterruptedTasks()).toEqual([
          { task: other, stop: null },
          { task, stop },
        ]);
        expect(await again.requeueTaskIfRunning(task)).toBe(false);
        expect(await again.requeueTaskIfRunning(other)).toBe(true);
        expect(await again.finishTaskIfRunning(task, newFinish({ state: "cancelled" }))).toMatchObject({ state: "cancelled" });
      });
    });

    test("a resume token is known for its tenant, provider and agent only", async () => {
      const { store } = await open();
      const task = await started(store);
      await store.finishTaskIfRunning(task, newFinish({ result: { status: "ok", durationMs: 1, connection: "cli", resumeToken: "r" } }));
      const key = { tenant: "default", provider: "command", agentId: "agent", token: "r" };
      expect(await store.isResumeTokenKnown(key)).toBe(true);
      for (const other of [{ tenant: "b" }, { provider: "b" }, { agentId: "b" }, { token: "b" }]) {
        expect(await store.isResumeTokenKnown({ ...key, ...other })).toBe(false);
      }
    });

    test("a queued task moves to another adapter with its request, and no other task does", async () => {
      const { store } = await open();
      const running = await started(store, { taskId: "running" });
      const { task } = await store.insertTaskIfAbsent(newTask({ taskId: "queued", request: { ...newTask().request, metadata: { a: 1 } } }));
      const skipped = [{ provider: "command", model: null, reason: "It is offline." }];
      const to = { provider: "codex", request: { ...task.request, skipped } };
      expect(await store.moveTaskIfQueued({ ...task, restarts: 1 }, to)).toBe(false);
      expect(await store.moveTaskIfQueued(running, to)).toBe(false);
      expect(await store.moveTaskIfQueued(task, to)).toBe(true);
      expect(await store.moveTaskIfQueued(task, { ...to, provider: "gemini" })).toBe(false);
      expect(await store.findQueuedTask("command")).toBeNull();
      expect(await claim(store, { provider: "codex" })).toEqual({
        ...task,
        ...to,
        ...{ state: "running", startedAt: expect.any(Number) },
        ...(task.node !== null && { node: task.node }),
      });
    });

    test("listChildrenSpent returns the spending of running and ended children, also after a reopen", async () => {
      const { store, reopen } = await open();
      const parent = await started(store);
      const nothing = { usage: null, costUsd: null, costSource: null };
      const spent = { usage: { inputTokens: 1, outputTokens: 2 }, costUsd: 0.5, costSource: "priced" } as const;
      await started(store, { taskId: "other" });
      await store.insertTaskIfAbsent(newTask({ taskId: "queued", parent }));
      const [child, ended] = [await started(store, { taskId: "child", parent }), await started(store, { taskId: "ended", parent })];
      await store.reportUsageIfRunning(child, { spent, event: { type: "usage.reported", data: "{}" } });
      await store.finishTaskIfRunning(
        ended,
        newFinish({ result: { status: "ok", durationMs: 1, connection: "cli", ...spent, costUsd: 2 } }),
      );
      expect(await store.listChildrenSpent(child.seq)).toEqual([]);
      const listed = await (await reopen()).listChildrenSpent(parent.seq);
      expect(listed.toSorted((a, b) => (a.costUsd ?? 0) - (b.costUsd ?? 0))).toEqual([
        { ...nothing, state: "queued" },
        { ...spent, state: "running" },
        { ...spent, costUsd: 2, state: "completed" },
      ]);
    });

    test("a restart finds the interrupted tasks, children first: running tasks and queued children", async () => {
      const { store, reopen } = await open();
      const parent = await started(store);
      await store.insertTaskIfAbsent(newTask({ taskId: "child", parent }));
      await store.insertTaskIfAbsent(newTask({ taskId: "waiting" }));
      const again = await reopen();
      expect((await again.listInterruptedTasks()).map(({ task }) => task.taskId)).toEqual(["child", "task-1"]);
      expect((await again.listUnfinishedChildren(parent.seq)).map(({ taskId }) => taskId)).toEqual(["child"]);
      for (const [tenant, agentId] of [
        ["other", "x"],
        ["default", "x"],
        ["other", "x"],
      ] as const) {
        await again.insertTaskIfAbsent(newTask({ taskId: `${tenant}-${agentId}`, tenant, agentId, provider: "codex" }));
      }
      await again.insertTaskIfAbsent(newTask({ taskId: "more" }));
      expect((await again.countQueuedTasks()).filter(({ isChild }) => !isChild)).toEqual([
        { provider: "command", tenant: "default", agentId: "agent", queued: 2, startable: 2, isChild: false },
        { provider: "codex", tenant: "other", agentId: "x", queued: 1, startable: 1, isChild: false },
        { provider: "codex", tenant: "default", agentId: "x", queued: 1, startable: 1, isChild: false },
      ]);
      expect(await again.findQueuedTask("command")).toMatchObject({ state: "queued", provider: "command" });
      expect(await again.findQueuedTask("absent")).toBeNull();
    });
  });
}
