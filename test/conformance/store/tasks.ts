import { describe, expect, test } from "vitest";
import type { DueCallback } from "../../../src/store/posts/interface.ts";
import type { Task } from "../../../src/task.ts";
import { claim, createOpen, newFinish, newTask, type StoreSubject, started } from "./fixtures.ts";

/** Checks accepting, starting and ending tasks in a storage engine. */
export function taskConformance(subject: StoreSubject): void {
  const open = createOpen(subject);

  describe(`store: ${subject.name}`, () => {
    describe("accept", () => {
      test("a second insert with the same id finds the first task and changes nothing", async () => {
        const { store } = await open();
        const first = await store.insertTaskIfAbsent(newTask());
        const second = await store.insertTaskIfAbsent(newTask({ fingerprint: "other", agentId: "someone" }));
        expect(first.inserted).toBe(true);
        expect(second).toEqual({ task: first.task, inserted: false });
      });

      test("a task that starts on arrival is running, with its first event; an insert that finds it starts nothing", async () => {
        const { store, published } = await open();
        const first = await store.insertTaskIfAbsent(newTask(), { starts: true });
        expect(first).toMatchObject({ inserted: true, task: { state: "running", startedAt: first.task.createdAt } });
        expect(await store.findTask("default", "task-1")).toEqual(first.task);
        const second = await store.insertTaskIfAbsent(newTask(), { starts: true });
        expect(second).toEqual({ task: first.task, inserted: false });
        expect(published).toMatchObject([{ number: 1, type: "execution.started", task: { taskId: "task-1" } }]);
        expect(await claim(store)).toBeNull();
        expect(await store.finishTaskIfRunning(first.task, newFinish())).toMatchObject({ state: "completed" });
      });

      test("of fifty concurrent inserts of one id, one succeeds", async () => {
        const { store } = await open();
        const all = await Promise.all(Array.from({ length: 50 }, () => store.insertTaskIfAbsent(newTask())));
        expect(all.filter(({ inserted }) => inserted)).toHaveLength(1);
        expect(new Set(all.map(({ task }) => task.seq)).size).toBe(1);
      });

      test("the status of a task contains what it waits for and its progress", async () => {
        const { store } = await open();
        const request = { ...newTask().request, resumeToken: "session", callbackUrl: "http://a.test/later" };
        const running = await started(store, { taskId: "running", request });
        const { task: queued } = await store.insertTaskIfAbsent(newTask({ taskId: "queued", request }));
        const { task: free } = await store.insertTaskIfAbsent(newTask({ taskId: "free" }));
        const ended = await started(store, { taskId: "ended", provider: "other" });
        await store.finishTaskIfRunning(ended, newFinish({}, "http://a.test/"));
        for (const taskId of ["child-1", "child-2"]) await store.insertTaskIfAbsent(newTask({ taskId, parent: running }));
        const approval = { approvalId: "apr", toolCallId: "call", toolName: "shell", shownInput: "{}", expiresInMs: 60_000 };
        await store.insertApprovalIfRunning(running, { ...approval, event: () => ({ type: "tool.approval_requested", data: "{}" }) });

        const statuses = await store.readTaskStatuses([running.seq, queued.seq, free.seq, ended.seq, 1_000_000]);
        // With PostgreSQL, the node on which the agent lives.
        const needsOf = (isSessionInUse: boolean) => expect.objectContaining({ needs: [], isSessionInUse });
        const idle = { callback: null, lastProgressAt: null, silentMs: null, isApprovalPending: false, childCount: 0, repository: null };
        // The end of the task stores its callback, whose URL is known before.
        const awaitingEnd = (taskId: string) => ({
          ...{ url: "http://a.test/later", state: "pending", attempts: 0, nextAttemptAt: null, lastStatus: null, lastError: null },
          ...{ task: expect.objectContaining({ tenant: "default", taskId }), updatedAt: expect.any(Number) },
        });
        expect(statuses).toEqual(
          new Map([
            [
              running.seq,
              {
                ...{
                  ...idle,
                  lastProgressAt: expect.any(Number),
                  silentMs: expect.any(Number),
                  isApprovalPending: true,
                  queued: null,
                  childCount: 2,
                },
                callback: awaitingEnd("running"),
              },
            ],
            [queued.seq, { ...idle, queued: needsOf(true), callback: awaitingEnd("queued") }],
            [free.seq, { ...idle, queued: needsOf(false) }],
            [
              ended.seq,
              {
                ...{ ...idle, lastProgressAt: expect.any(Number), silentMs: expect.any(Number), queued: null },
                callback: expect.objectContaining({
                  ...{ state: "pending", url: "http://a.test/", attempts: 0 },
                  nextAttemptAt: expect.any(Number),
                }),
              },
            ],
          ]),
        );
        expect(statuses.get(running.seq)?.silentMs).toBeGreaterThanOrEqual(0);
        expect(await store.readTaskStatuses([])).toEqual(new Map());
      });

      test("two tenants may use the same id", async () => {
        const { store } = await open();
        const a = await store.insertTaskIfAbsent(newTask({ tenant: "a" }));
        const b = await store.insertTaskIfAbsent(newTask({ tenant: "b" }));
        expect([a.inserted, b.inserted]).toEqual([true, true]);
        expect((await store.findTask("a", "task-1"))?.seq).toBe(a.task.seq);
        expect(await store.findTask("c", "task-1")).toBeNull();
      });

      test("an accepted task is unchanged after a reopen", async () => {
        const { store, reopen } = await open();
        const request = { ...newTask().request, message: "hällo \u0000 \ud83d\ude00", metadata: { a: [1, null] } };
        const { task } = await store.insertTaskIfAbsent(newTask({ request }));
        const again = await reopen();
        expect(await again.findTask("default", "task-1")).toEqual(task);
        expect(task.request).toEqual(request);
        expect(again.epoch).toBe(store.epoch);
      });

      test("an invalid write fails without the other writes of its commit", async () => {
        const { store } = await open();
        const faulty = store.insertTaskIfAbsent(newTask({ taskId: "faulty", agentId: null as unknown as string }));
        const good = store.insertTaskIfAbsent(newTask({ taskId: "good" }));
        await expect(faulty).rejects.toThrow();
        expect((await good).inserted).toBe(true);
        expect(await store.findTask("default", "faulty")).toBeNull();
      });
    });

    describe("claim", () => {
      test("claim starts the oldest task of the provider once, and publishes its first event", async () => {
        const { store, published } = await open();
        for (const taskId of ["a", "b"]) await store.insertTaskIfAbsent(newTask({ taskId }));
        await store.insertTaskIfAbsent(newTask({ taskId: "other", provider: "codex" }));
        const claims = await Promise.all(Array.from({ length: 4 }, () => claim(store)));
        expect(claims.map((task) => task?.taskId)).toEqual(["a", "b", undefined, undefined]);
        expect(claims[0]).toMatchObject({ state: "running", startedAt: expect.any(Number) });
        expect(published.map(({ type, task }) => `${type} ${task.taskId}`)).toEqual(["execution.started a", "execution.started b"]);
      });

      test("a claim that is sent right after an insert starts the new task", async () => {
        const { store } = await open();
        const [{ task }, claimed] = await Promise.all([store.insertTaskIfAbsent(newTask()), claim(store)]);
        expect(task.state).toBe("queued");
        expect(claimed).toMatchObject({ seq: task.seq, state: "running" });
      });

      test("claim runs two tasks with one resume token one after the other, while other tasks start", async () => {
        const { store } = await open();
        const request = { ...newTask().request, resumeToken: "token" };
        await store.insertTaskIfAbsent(newTask({ taskId: "one", request }));
        await store.insertTaskIfAbsent(newTask({ taskId: "two", request }));
        await store.insertTaskIfAbsent(newTask({ taskId: "elsewhere", request, agentId: "another" }));
        await store.insertTaskIfAbsent(newTask({ taskId: "free" }));
        const first = (await claim(store)) as Task;
        expect([first.taskId, (await claim(store))?.taskId, (await claim(store))?.taskId, await claim(store)]).toEqual([
          "one",
          "elsewhere",
          "free",
          null,
        ]);
        await store.finishTaskIfRunning(first, newFinish());
        expect((await claim(store))?.taskId).toBe("two");
      });

      test("claim starts only tasks of the given tenant and kind, and none of an excluded agent", async () => {
        const { store } = await open();
        const parent = await started(store);
        await store.insertTaskIfAbsent(newTask({ taskId: "busy", agentId: "busy" }));
        await store.insertTaskIfAbsent(newTask({ taskId: "idle", agentId: "idle" }));
        await store.insertTaskIfAbsent(newTask({ taskId: "foreign", tenant: "other" }));
        await store.insertTaskIfAbsent(newTask({ taskId: "child", parent }));
        const exceptAgents = ["busy", "absent"];
        expect((await claim(store, { exceptAgents }))?.taskId).toBe("idle");
        expect(await claim(store, { exceptAgents })).toBeNull();
        expect(await claim(store, { kind: "child" })).toMatchObject({
          taskId: "child",
          parentTaskId: "task-1",
          parentSeq: parent.seq,
        });
        expect(await claim(store, { kind: "child" })).toBeNull();
        expect((await claim(store, { tenant: "other" }))?.taskId).toBe("foreign");
        expect((await claim(store))?.taskId).toBe("busy");
      });

      test("claim starts child tasks of several parents in turns, beginning with the parent that has waited longest", async () => {
        let now = 0;
        const { store } = await open(() => ++now);
        const many = await started(store, { taskId: "many", provider: "composite" });
        const few = await started(store, { taskId: "few", provider: "composite" });
        const childrenOf = async (parent: Task, ids: readonly string[], provider = "command") => {
          for (const taskId of ids) await store.insertTaskIfAbsent(newTask({ taskId, parent, provider }));
        };
        await childrenOf(many, ["m1", "m2", "m3", "m4"]);
        await childrenOf(few, ["f1", "f2"]);
        const order: (string | undefined)[] = [];
        const claimNext = async (): Promise<void> => void order.push((await claim(store, { kind: "child" }))?.taskId);
        for (let turn = 0; turn < 3; turn += 1) await claimNext();
        // A child task that starts on another provider is not a turn on this one.
        await childrenOf(few, ["elsewhere"], "other");
        await claim(store, { kind: "child", provider: "other" });
        for (let turn = 0; turn < 4; turn += 1) await claimNext();
        expect(order).toEqual(["m1", "f1", "m2", "f2", "m3", "m4", undefined]);
      });
    });

    describe("end", () => {
      test("the end of a task writes state, terminal event and callback in one transaction, once", async () => {
        const { store, published } = await open(() => 1_000);
        const task = await started(store);
        const ends = await Promise.all([
          store.finishTaskIfRunning(task, newFinish({}, "https://example.com/hook")),
          store.finishTaskIfRunning(task, newFinish({ state: "failed" })),
          store.finishTaskIfQueued(task, newFinish({ state: "cancelled" })),
        ]);
        expect(ends.map((end) => end?.state)).toEqual(["completed", undefined, undefined]);
        expect(published.map(({ type }) => type)).toEqual(["execution.started", "execution.completed"]);
        const due = await store.listDueCallbacks({ tenant: "default", receiver: "https://example.com" }, 10);
        expect(due).toMatchObject([{ body: '{"finishedAt":1000}', attempts: 0, roundAttempts: 0, state: "pending" }]);
      });

      test("the end of a task passes the callback to its listener once, as a read of the store returns it", async () => {
        const { store } = await open();
        const passed: DueCallback[] = [];
        store.onCallback((callback) => passed.push(callback));
        const task = await started(store);
        const invalid = newFinish({ result: { status: "ok", output: undefined, durationMs: 1n as unknown as number, connection: "cli" } });
        await expect(
          store.finishTaskIfRunning(task, { ...newFinish({}, "https://example.com/hook"), result: invalid.result }),
        ).rejects.toThrow();
        expect(passed).toEqual([]);
        await store.finishTaskIfRunning(task, newFinish({}, "https://example.com/hook"));
        await store.finishTaskIfRunning(task, newFinish({}, "https://example.com/hook"));
        expect(passed).toEqual(await store.listDueCallbacks({ tenant: "default", receiver: "https://example.com" }, 10));
        expect(passed).toHaveLength(1);
      });

      test("the end of a task publishes the start event of a queued task before its terminal event", async () => {
        const { store, published } = await open();
        const { task } = await store.insertTaskIfAbsent(newTask());
        expect(await store.finishTaskIfRunning(task, newFinish())).toBeNull();
        const end = newFinish({ state: "cancelled", event: { type: "execution.failed", data: "{}" } });
        expect(await store.finishTaskIfQueued(task, end)).toMatchObject({ state: "cancelled" });
        expect(published.map(({ type }) => type)).toEqual(["execution.started", "execution.failed"]);
      });

      test("the end of a task rejects the pending approvals of the task, also after an end that failed and after a restart", async () => {
        const { store, reopen } = await open();
        const task = await started(store);
        const approval = { approvalId: "apr", toolCallId: "call", toolName: "shell", shownInput: "{}", expiresInMs: 60_000 };
        await store.insertApprovalIfRunning(task, { ...approval, event: () => ({ type: "tool.approval_requested", data: "{}" }) });
        await expect(store.finishTaskIfRunning(task, { ...newFinish(), state: "none" as "failed" })).rejects.toThrow(/check/i);
        expect(await store.hasPendingApproval(task.seq)).toBe(true);
        const again = await reopen();
        await again.finishTaskIfRunning(task, newFinish());
        expect(await again.findApproval("default", "apr")).toMatchObject({ state: "rejected", decidedBy: "bridge" });
        const types = (await again.readTaskEvents(task.seq, 0, 10, "execution")).map(({ type }) => type);
        expect(types).toEqual(["execution.started", "tool.approval_requested", "tool.approval_resolved", "execution.completed"]);
      });

      test("the end of a task never changes the state of an ended task", async () => {
        const { store } = await open();
        const task = await started(store);
        await store.finishTaskIfRunning(task, newFinish());
        expect(await store.requeueTaskIfRunning(task)).toBe(false);
        expect(await claim(store)).toBeNull();
        expect(await store.appendEventsIfRunning(task, [{ type: "assistant.text", data: "{}" }])).toBe(false);
        expect(await store.findTask("default", "task-1")).toMatchObject({ state: "completed", result: { output: "done" } });
      });

      test("the end of a task rejects a completed task without a start, by a constraint of the schema", async () => {
        const { store } = await open();
        const { task } = await store.insertTaskIfAbsent(newTask());
        await expect(store.finishTaskIfQueued(task, newFinish({ state: "completed" }))).rejects.toThrow(/check/i);
      });
    });

    test("a task returns to the queue once, and its events continue without a second start", async () => {
      const { store, published } = await open();
      const task = await started(store);
      expect(await store.requeueTaskIfRunning(task)).toBe(true);
      expect(await claim(store)).toMatchObject({ restarts: 1, state: "running" });
      expect(await store.requeueTaskIfRunning(task)).toBe(false);
      const log = published.map(({ type, data }) => `${type} ${data}`);
      expect(log).toEqual(['execution.started {"agentId":"agent"}', 'execution.progress {"restarted":true}']);
    });
  });
}
