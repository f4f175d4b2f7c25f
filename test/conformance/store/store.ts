import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import type { EventType, ExecutionResult } from "#contract";
import type { NewTicket } from "../../../src/store/access/interface.ts";
import type { NewApproval } from "../../../src/store/approvals/interface.ts";
import type { StoredEvent, TaskEventKind } from "../../../src/store/events/interface.ts";
import type { CallbackSettlement, DueCallback } from "../../../src/store/posts/interface.ts";
import type { Store } from "../../../src/store/store.ts";
import type { ClaimFilter, Finish, NewTask } from "../../../src/store/tasks/interface.ts";
import type { UsageCounts } from "../../../src/store/usage/interface.ts";
import type { StopRequest, Task } from "../../../src/task.ts";

/** A storage engine under test. */
export interface StoreSubject {
  name: string;
  /** Opens an empty store. `clock` returns the time in ms, as the engine's own clock would. */
  open(clock?: () => number): Promise<OpenedStore>;
}

/** An open store under test. */
export interface OpenedStore {
  store: Store;
  /** Closes the store and opens its data again. */
  reopen(): Promise<Store>;
  close(): Promise<void>;
}

/** A task for tests; every field may be set. */
export function newTask(fields: Partial<NewTask> = {}): NewTask {
  return {
    tenant: "default",
    taskId: "task-1",
    parent: null,
    agentId: "agent",
    provider: "command",
    needs: [],
    request: { message: "work", outputStrategy: { type: "stream" }, profile: "inspect", approvals: "deny", onInterrupt: "fail" },
    fingerprint: "f",
    traceparent: null,
    tracestate: null,
    ...fields,
  };
}

/** The outcome of a task for tests; with a URL, the task has a callback. */
export function newFinish(fields: Partial<Finish> = {}, callbackUrl?: string): Finish {
  return {
    state: "completed",
    result: { status: "ok", output: "done", durationMs: 5, connection: "in-process" },
    event: { type: "execution.completed", data: '{"output":"done"}' },
    callback:
      callbackUrl === undefined
        ? null
        : (finishedAt) => ({ url: callbackUrl, origin: new URL(callbackUrl).origin, body: `{"finishedAt":${finishedAt}}` }),
    ...fields,
  };
}

const claim = (store: Store, filter: Partial<ClaimFilter> = {}) =>
  store.startNextTaskIfQueued({ provider: "command", tenant: "default", kind: "dispatched", exceptAgents: [], ...filter });

const claimOf = ({ provider = "command", tenant = "default", parent }: Partial<NewTask>): Partial<ClaimFilter> => ({
  provider,
  tenant,
  kind: parent == null ? "dispatched" : "child",
});

/** Inserts a task and claims it. */
export async function started(store: Store, fields: Partial<NewTask> = {}): Promise<Task> {
  await store.insertTaskIfAbsent(newTask(fields));
  return (await claim(store, claimOf(fields))) as Task;
}

/** Checks that every storage engine passes. */
export function storeConformance(subject: StoreSubject): void {
  async function open(clock?: () => number) {
    const opened = await subject.open(clock);
    onTestFinished(() => opened.close());
    const published: StoredEvent[] = [];
    opened.store.onEvents((events) => published.push(...events));
    return { ...opened, published };
  }

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
        const idle = { callback: null, lastProgressAt: null, silentMs: null, isApprovalPending: false, childCount: 0 };
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
        const due = await store.listDueCallbacks({ tenant: "default", origin: "https://example.com" }, 10);
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
        expect(passed).toEqual(await store.listDueCallbacks({ tenant: "default", origin: "https://example.com" }, 10));
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

    test("the store reports whether the newest tool event of a running task is an open call, whatever other events follow, until the task ends or starts again", async () => {
      const { store } = await open();
      const task = await started(store, { taskId: "a" });
      const other = await started(store, { taskId: "b" });
      const appendAndLook = async (types: EventType[], of = task) => {
        await store.appendEventsIfRunning(
          of,
          types.map((type) => ({ type, data: "{}" })),
        );
        return [await store.isInToolCall(task.seq), await store.isInToolCall(other.seq)];
      };
      expect(await appendAndLook(["assistant.text"])).toEqual([false, false]);
      expect(await appendAndLook(["tool.invoked", "assistant.text", "tool.approval_requested", "tool.approval_resolved"])).toEqual([
        true,
        false,
      ]);
      expect(await appendAndLook(["tool.invoked"], other)).toEqual([true, true]);
      expect(await appendAndLook(["tool.invoked", "tool.completed"])).toEqual([false, true]);
      expect(await appendAndLook(["tool.completed", "tool.invoked"])).toEqual([true, true]);
      expect(await appendAndLook(Array(600).fill("assistant.text"))).toEqual([true, true]);
      await store.finishTaskIfRunning(other, newFinish());
      await store.requeueTaskIfRunning(task);
      const again = (await claim(store)) as Task;
      expect(await appendAndLook(["execution.progress"], again)).toEqual([false, false]);
      expect(await appendAndLook(["tool.invoked"], again)).toEqual([true, false]);
    });

    describe("events", () => {
      test("events are numbered without a gap over all tasks and a reopen, and published after their commit", async () => {
        const { store, reopen, published } = await open();
        const tasks = [await started(store, { taskId: "a" }), await started(store, { taskId: "b" })] as const;
        const append = (index: number) =>
          store.appendEventsIfRunning(tasks[index % 2 === 0 ? 0 : 1], [{ type: "assistant.text", data: `{"content":"${index}"}` }]);
        await Promise.all(Array.from({ length: 100 }, (_, index) => append(index)));
        expect(published.map(({ number }) => number)).toEqual(Array.from({ length: 102 }, (_, index) => index + 1));
        const again = await reopen();
        expect(again.lastEventNumber()).toBe(102);
        await again.finishTaskIfRunning(tasks[0], newFinish());
        expect(again.lastEventNumber()).toBe(103);
        expect(published).toMatchObject((await again.readEvents(0, { tenant: "default" })).events.slice(0, 102));
      });

      test("events have no gap after an invalid write in the same commit", async () => {
        const { store, published } = await open();
        const task = await started(store);
        const faulty = store.insertTaskIfAbsent(newTask({ taskId: "x", agentId: null as unknown as string }));
        const appended = store.appendEventsIfRunning(task, [{ type: "assistant.text", data: "{}" }]);
        await expect(faulty).rejects.toThrow();
        await appended;
        await store.finishTaskIfRunning(task, newFinish());
        expect(published.map(({ number }) => number)).toEqual([1, 2, 3]);
      });

      test("events can be filtered by tenant, task, agent, provider and type, and a read returns the last number that it examined", async () => {
        const { store } = await open();
        await started(store, { taskId: "a", agentId: "x" });
        await started(store, { taskId: "b", tenant: "other" });
        const codex = await started(store, { taskId: "c", provider: "codex" });
        await store.appendEventsIfRunning(codex, [{ type: "assistant.text", data: "{}" }]);
        const read = async (filter: { tenant?: string; taskId?: string; agentId?: string; provider?: string; types?: EventType[] }) => {
          const { events, through } = await store.readEvents(0, { tenant: "default", ...filter });
          expect(through).toBe(store.lastEventNumber());
          return events.map(({ number }) => number);
        };
        expect(await read({})).toEqual([1, 3, 4]);
        expect(await read({ tenant: "other" })).toEqual([2]);
        expect(await read({ taskId: "b" })).toEqual([]);
        expect(await read({ agentId: "x" })).toEqual([1]);
        expect(await read({ provider: "codex" })).toEqual([3, 4]);
        expect(await read({ types: ["assistant.text"] })).toEqual([4]);
        expect(await read({ types: ["execution.started"], provider: "codex" })).toEqual([3]);
      });

      test("events of a task are read completely, without those of its callback, or only those of its tool calls", async () => {
        const { store } = await open();
        const task = await started(store);
        const types = ["tool.invoked", "assistant.text", "tool.completed", "callback.delivered"] as const;
        await store.appendEventsIfRunning(
          task,
          types.map((type) => ({ type, data: "{}" })),
        );
        const read = async (kind: TaskEventKind) => (await store.readTaskEvents(task.seq, 0, 9, kind)).map(({ type }) => type);
        expect(await read("all")).toEqual(["execution.started", ...types]);
        expect(await read("execution")).toEqual(["execution.started", ...types.slice(0, 3)]);
        expect(await read("toolCalls")).toEqual(["tool.invoked", "tool.completed"]);
      });

      test("events are read in parts of limited length, and each read returns where the next one continues", async () => {
        const { store } = await open();
        const task = await started(store);
        await store.appendEventsIfRunning(
          task,
          Array.from({ length: 2500 }, () => ({ type: "assistant.text" as const, data: "{}" })),
        );
        let [after, seen, reads] = [0, 0, 0];
        while (after < store.lastEventNumber()) {
          const { events, through } = await store.readEvents(after, { tenant: "default" });
          expect(through).toBeGreaterThan(after);
          [after, seen, reads] = [through, seen + events.length, reads + 1];
        }
        expect([seen, reads > 1]).toEqual([2501, true]);
        const page = await store.readTaskEvents(task.seq, 2490, 5, "execution");
        expect(page.map(({ number }) => number)).toEqual([2491, 2492, 2493, 2494, 2495]);
      });

      test("events are read in parts of limited size, however large the events are", async () => {
        const { store } = await open();
        const task = await started(store);
        const data = JSON.stringify({ content: "x".repeat(250_000) });
        await store.appendEventsIfRunning(
          task,
          Array.from({ length: 40 }, () => ({ type: "assistant.text" as const, data })),
        );
        const seen: number[] = [];
        for (let after = 0; after < store.lastEventNumber(); ) {
          const { events, through } = await store.readEvents(after, { tenant: "default" });
          expect(events.length).toBeLessThan(10);
          seen.push(...events.map(({ number }) => number));
          after = through;
        }
        expect(seen).toEqual(Array.from({ length: 41 }, (_, index) => index + 1));
      });
    });

    describe("callbacks", () => {
      const again: CallbackSettlement = { state: "pending", nextInMs: 1_000, lastStatus: 500, lastError: "http_500", event: null };
      const dead: CallbackSettlement = {
        state: "dead",
        nextInMs: null,
        lastStatus: 500,
        lastError: "http_500",
        event: () => ({ type: "callback.dead", data: "{}" }),
      };
      const delivered: CallbackSettlement = {
        state: "delivered",
        nextInMs: null,
        lastStatus: 204,
        lastError: null,
        event: (attempts: number) => ({ type: "callback.delivered", data: JSON.stringify({ attempts }) }),
      };

      const queueOf = (host: string, tenant = "default") => ({ tenant, origin: `http://${host}.test` });
      async function endWithCallback(store: Store, url: string, taskId = "task-1", tenant = "default"): Promise<Task> {
        const task = await started(store, { taskId, tenant });
        return (await store.finishTaskIfRunning(task, newFinish({}, url))) as Task;
      }

      test("callbacks keep their scheduled time after a reopen", async () => {
        let now = 10_000;
        const { store, reopen } = await open(() => now);
        const task = await endWithCallback(store, "http://a.test/x");
        expect(await store.settleCallbackIfPending({ task, attempts: 0 }, again)).toBe(1);
        const settled = await store.findCallback(task.seq);
        expect(settled).toMatchObject({ state: "pending", attempts: 1, nextAttemptAt: 11_000, lastStatus: 500, lastError: "http_500" });
        const reopened = await reopen();
        expect(await reopened.listDueCallbackQueues()).toEqual([]);
        expect(await reopened.nextCallbackInMs()).toBe(1_000);
        now = 11_000;
        expect(await reopened.listDueCallbackQueues()).toEqual([queueOf("a")]);
        expect(await reopened.listDueCallbacks(queueOf("a"), 1)).toMatchObject([{ roundAttempts: 1, body: '{"finishedAt":10000}' }]);
      });

      test("callbacks do not change after they are delivered", async () => {
        const { store, published } = await open();
        const task = await endWithCallback(store, "http://a.test/x");
        expect(await store.settleCallbackIfPending({ task, attempts: 0 }, delivered)).toBe(1);
        expect(await store.findCallback(task.seq)).toMatchObject({ state: "delivered", attempts: 1, nextAttemptAt: null });
        expect(await store.settleCallbackIfPending({ task, attempts: 1 }, again)).toBeNull();
        expect(await store.redeliverCallbackIfDead(task.seq)).toBeNull();
        expect(await store.listDueCallbacks(queueOf("a"), 9)).toEqual([]);
        expect(published.at(-1)).toMatchObject({ type: "callback.delivered", data: '{"attempts":1}' });
      });

      test.each([
        ["delivered", delivered],
        ["pending", again],
        ["dead", dead],
      ])("callbacks count each POST once: of two settlements of one POST, the second changes nothing (%s)", async (state, settlement) => {
        const { store, published } = await open(() => 1_000);
        const task = await endWithCallback(store, "http://a.test/x");
        const [posted] = await store.listDueCallbacks(queueOf("a"), 1);
        if (posted === undefined) throw new Error("no callback is due");
        const both = [store.settleCallbackIfPending(posted, settlement), store.settleCallbackIfPending(posted, delivered)];
        expect(await Promise.all(both)).toEqual([1, null]);
        expect(await store.findCallback(task.seq)).toMatchObject({ state, attempts: 1, lastStatus: settlement.lastStatus });
        expect(published.filter(({ type }) => type.startsWith("callback."))).toHaveLength(state === "pending" ? 0 : 1);
        // A redelivery starts a new round, and the settlement of an earlier POST does not belong to it.
        await store.redeliverCallbackIfDead(task.seq);
        expect(await store.settleCallbackIfPending(posted, delivered)).toBeNull();
        expect(await store.findCallback(task.seq)).toMatchObject({ attempts: 1 });
      });

      test("callbacks can be redelivered when dead: in a new round with the same body and trace, and the count of attempts continues", async () => {
        const { store } = await open(() => 5_000);
        const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "a=1" };
        const task = (await store.finishTaskIfRunning(await started(store, trace), newFinish({}, "http://a.test/x"))) as Task;
        await store.settleCallbackIfPending({ task, attempts: 0 }, again);
        await store.settleCallbackIfPending({ task, attempts: 1 }, dead);
        expect(await store.redeliverCallbackIfDead(task.seq)).toMatchObject({ state: "pending", attempts: 2, nextAttemptAt: 5_000 });
        expect(await store.redeliverCallbackIfDead(task.seq)).toBeNull();
        expect(await store.listDueCallbacks(queueOf("a"), 9)).toMatchObject([
          { attempts: 2, roundAttempts: 0, body: '{"finishedAt":5000}', ...trace },
        ]);
      });

      test("callbacks keep a history of their attempts, across redeliveries and a reopen", async () => {
        let now = 10_000;
        const { store, reopen } = await open(() => now);
        const task = await endWithCallback(store, "http://a.test/x");
        expect(await store.findCallbackDetails(task.seq)).toEqual({ ...(await store.findCallback(task.seq)), history: [] });
        const text = "a\nb\r\n\t\"\\u0000\" 'ü' \u2028 😀 \ufffd $1 ? ||";
        const attempt = { startedMsAgo: 40, durationMs: 30, response: { text, isTruncated: true } };
        await store.settleCallbackIfPending({ task, attempts: 0 }, { ...again, attempt });
        now = 20_000;
        const refused = { ...dead, lastStatus: null, lastError: "connection_refused" };
        await store.settleCallbackIfPending({ task, attempts: 1 }, { ...refused, attempt: { ...attempt, response: null } });
        await store.redeliverCallbackIfDead(task.seq);
        // A settlement that changes nothing adds nothing.
        expect(await store.settleCallbackIfPending({ task, attempts: 0 }, { ...again, attempt })).toBeNull();
        const last = { startedMsAgo: 0, durationMs: 0, response: { text: "", isTruncated: false } };
        await store.settleCallbackIfPending({ task, attempts: 2 }, { ...delivered, attempt: last });
        const history = [
          { number: 1, at: 9_960, status: 500, error: "http_500", durationMs: 30, response: text, responseTruncated: true },
          { number: 2, at: 19_960, status: null, error: "connection_refused", durationMs: 30, response: null, responseTruncated: false },
          { number: 3, at: 20_000, status: 204, error: null, durationMs: 0, response: "", responseTruncated: false },
        ];
        expect(await store.findCallbackDetails(task.seq)).toMatchObject({ state: "delivered", attempts: 3, history });
        const reopened = await reopen();
        expect((await reopened.findCallbackDetails(task.seq))?.history).toEqual(history);
        expect(await reopened.findCallbackDetails(task.seq + 1)).toBeNull();
      });

      test("callbacks keep the last 20 attempts, and those before an attempt without details", async () => {
        const { store } = await open();
        const task = await endWithCallback(store, "http://a.test/x");
        const attempt = { startedMsAgo: 0, durationMs: 1, response: { text: "line 1\nline 2", isTruncated: false } };
        const numbers = async () => (await store.findCallbackDetails(task.seq))?.history.map(({ number }) => number);
        const upTo = (last: number) => Array.from({ length: Math.min(last, 20) }, (_, index) => Math.max(last - 20, 0) + index + 1);
        for (let attempts = 0; attempts < 23; attempts += 1) {
          await store.settleCallbackIfPending({ task, attempts }, { ...again, attempt });
          expect(await numbers()).toEqual(upTo(attempts + 1));
        }
        // As a node of an earlier release settles it.
        await store.settleCallbackIfPending({ task, attempts: 23 }, again);
        expect(await numbers()).toEqual(upTo(23));
        await store.settleCallbackIfPending({ task, attempts: 24 }, { ...again, attempt });
        expect(await numbers()).toEqual([...upTo(23).slice(1), 25]);
      });

      test("callbacks are due in order of their time per tenant and origin, and are listed newest first", async () => {
        let now = 0;
        const { store } = await open(() => now++);
        for (const [taskId, host] of [
          ["1", "a"],
          ["2", "b"],
          ["3", "a"],
          ["4", "a"],
        ] as const)
          await endWithCallback(store, `http://${host}.test/`, taskId);
        const foreign = await endWithCallback(store, "http://a.test/", "5", "other");
        expect(await store.listDueCallbackQueues()).toEqual([queueOf("a"), queueOf("b"), queueOf("a", "other")]);
        expect((await store.listDueCallbacks(queueOf("a"), 2)).map(({ task }) => task.taskId)).toEqual(["1", "3"]);
        const first = await store.listCallbacks("default", undefined, { before: null, limit: 3 });
        expect(first.map(({ task }) => task.taskId)).toEqual(["4", "3", "2"]);
        const rest = await store.listCallbacks("default", "pending", { before: first.at(-1)?.task.seq ?? 0, limit: 3 });
        expect(rest.map(({ task }) => task.taskId)).toEqual(["1"]);
        expect((await store.listDueCallbacks(queueOf("a", "other"), 9)).map(({ task }) => task.seq)).toEqual([foreign.seq]);
        expect(await store.listDueCallbacks(queueOf("b", "other"), 9)).toEqual([]);
        expect((await store.listCallbacks("other", undefined, { before: null, limit: 3 })).map(({ task }) => task.taskId)).toEqual(["5"]);
      });
    });

    test("the store lists tasks newest first, by keyset, for each filter", async () => {
      const { store } = await open();
      const parent = await started(store, { taskId: "p" });
      await store.insertTaskIfAbsent(newTask({ taskId: "q", agentId: "x" }));
      await store.insertTaskIfAbsent(newTask({ taskId: "c", provider: "codex", parent }));
      await store.insertTaskIfAbsent(newTask({ taskId: "o", tenant: "other" }));
      const ids = async (filter: object, before: number | null = null) =>
        (await store.listTasks({ tenant: "default", ...filter }, { before, limit: 2 })).map(({ taskId }) => taskId);
      expect(await ids({})).toEqual(["c", "q"]);
      expect(await ids({}, parent.seq + 1)).toEqual(["p"]);
      expect(await ids({ state: "running" })).toEqual(["p"]);
      expect(await ids({ provider: "codex" })).toEqual(["c"]);
      expect(await ids({ agentId: "x" })).toEqual(["q"]);
      expect(await ids({ parentTaskId: "p" })).toEqual(["c"]);
    });

    test("a list contains the metadata of tasks, but neither requests nor results", async () => {
      const { store } = await open();
      const { request } = newTask();
      const task = await started(store, { request: { ...request, message: "long", metadata: { ticket: 7 } } });
      await store.finishTaskIfRunning(task, newFinish());
      const [listed] = await store.listTasks({ tenant: "default" }, { before: null, limit: 1 });
      expect(listed).toMatchObject({ seq: task.seq, state: "completed", metadata: { ticket: 7 } });
      expect(Object.keys(listed ?? {})).not.toEqual(expect.arrayContaining(["request"]));
      expect(Object.keys(listed ?? {})).not.toEqual(expect.arrayContaining(["result"]));
      expect((await store.findTask("default", listed?.taskId ?? ""))?.request.metadata).toEqual({ ticket: 7 });
    });

    describe("summaries", () => {
      const labels = { team: "docs", "ticket/id": "7=8 é" };
      const request = { ...newTask().request, message: "\n  Find the \0 bug \n in main.ts", model: "requested", labels };
      const summaryOf = async (store: Store) => (await store.listTasks({ tenant: "default" }, { before: null, limit: 1 }))[0]?.summary;
      const unknown = { costUsd: null, usage: null, errorCode: null, labels };

      test("summaries contain title and requested model before the end, and usage, cost and the actual model after it", async () => {
        const { store } = await open();
        const task = await started(store, { request });
        const before = { title: "Find the \ufffd bug", model: "requested", ...unknown };
        expect(await summaryOf(store)).toEqual(before);
        expect((await store.findStoredTask("default", "task-1"))?.summary).toEqual(before);
        const usage = { inputTokens: 5, outputTokens: 3, cacheReadTokens: 2 };
        const result: ExecutionResult = { status: "ok", durationMs: 5, connection: "in-process", model: "actual", usage, costUsd: 0.125 };
        await store.finishTaskIfRunning(task, newFinish({ result }));
        const after = { title: before.title, model: "actual", usage, costUsd: 0.125, errorCode: null, labels };
        expect(await summaryOf(store)).toEqual(after);
        expect((await store.findStoredTask("default", "task-1"))?.summary).toEqual(after);
      });

      test("summaries keep the requested model and contain the error code of a task that fails, also in the queue", async () => {
        const { store } = await open();
        const { task } = await store.insertTaskIfAbsent(newTask({ request }));
        const result: ExecutionResult = {
          status: "error",
          durationMs: 0,
          connection: "in-process",
          errorCode: "cancelled",
          error: "Canceled.",
        };
        await store.finishTaskIfQueued(task, newFinish({ state: "cancelled", result }));
        expect(await summaryOf(store)).toEqual({ title: "Find the \ufffd bug", model: "requested", ...unknown, errorCode: "cancelled" });
      });
    });

    describe("usage", () => {
      const [HOUR, DAY] = [3_600_000, 86_400_000];

      test("usage counts each dollar, token and second of a runtime once, although the result of a parent repeats those of its children", async () => {
        let now = start;
        const { store } = await open(() => now);
        const insert = async (fields: Partial<NewTask>) => (await store.insertTaskIfAbsent(newTask(fields), { starts: true })).task;
        const parent = await insert({
          taskId: "council",
          provider: "council",
          request: { ...newTask().request, labels: { team: "docs" } },
        });
        const children = [await insert({ taskId: "one", provider: "p", parent }), await insert({ taskId: "two", provider: "q", parent })];
        const finish = newFinish();
        const resultOf = (inputTokens: number, costUsd: number): ExecutionResult => ({
          ...finish.result,
          ...{ usage: { inputTokens, outputTokens: 1 }, costUsd },
        });
        now += 4_000;
        for (const child of children) await store.finishTaskIfRunning(child, { ...finish, result: resultOf(10, 0.5) });
        now += 1_000;
        await store.finishTaskIfRunning(parent, { ...finish, result: resultOf(20, 1), hasChildren: true });
        const hours = [Math.floor(now / HOUR)];
        const expected = { duration_ms: 8_000, input_tokens: 20, cost_micros: 1_000_000, completed: 3, cost_unknown: 0 };
        expect((await store.sumUsage(parent.tenant, hours, "hour"))[0]?.counts).toMatchObject(expected);
        // A label counts the time of the parent, in which all of its children ran.
        expect((await store.sumUsage(parent.tenant, hours, "label"))[0]?.counts).toMatchObject({
          ...{ duration_ms: 5_000, input_tokens: 20, cost_micros: 1_000_000, completed: 1 },
        });
        const parts = await store.sumUsageParts(parent.tenant, hours, { by: "provider", keys: ["p"] });
        expect(new Map(parts.map(({ part, counts }) => [part, counts]))).toEqual(
          new Map([
            ["p", expect.objectContaining({ duration_ms: 4_000, completed: 1 })],
            ["*", expect.objectContaining({ duration_ms: 4_000, completed: 2 })],
          ]),
        );
        expect(parts.every(({ key }) => key === String(hours[0]))).toBe(true);
      });

      const start = 490_000 * HOUR;
      const dimensions = ["hour", "provider", "agent", "model", "label"] as const;
      const sumsOf = async (store: Store, tenant: string, hours: readonly number[]) =>
        Object.fromEntries(
          await Promise.all(
            dimensions.map(async (by) => {
              const sums = await store.sumUsage(tenant, hours, by);
              return [by, Object.fromEntries(sums.map(({ key, counts }) => [key, counts]))] as const;
            }),
          ),
        );

      test("usage equals the sum over the tasks that have ended, also those of one commit, of a failed commit, and after a reopen", async () => {
        let now = start;
        const { store, reopen } = await open(() => now);
        let run = 0;
        const end = fc.record({
          agentId: fc.constantFrom("a", "b"),
          provider: fc.constantFrom("p", "q"),
          model: fc.constantFrom("m", "n", undefined),
          label: fc.constantFrom("x", "\ud800", undefined),
          state: fc.constantFrom("completed", "failed", "cancelled" as const),
          costUsd: fc.option(
            fc.integer({ min: 0, max: 5_000 }).map((micros) => micros / 1e6),
            { nil: undefined },
          ),
          tokens: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
          hoursLater: fc.constantFrom(0, 0, 0, 1),
          isFaulty: fc.constantFrom(false, false, false, true),
        });
        await fc.assert(
          fc.asyncProperty(fc.array(fc.array(end, { minLength: 1, maxLength: 6 }), { maxLength: 5 }), async (commits) => {
            run += 1;
            const tenant = `tenant-${run}`;
            now = start;
            const expected: Record<string, Record<string, Partial<UsageCounts>>> = Object.fromEntries(dimensions.map((by) => [by, {}]));
            for (const ends of commits) {
              now += (ends[0]?.hoursLater ?? 0) * HOUR;
              const tasks = await Promise.all(
                ends.map(async ({ agentId, provider, label }, index) => {
                  const request = { ...newTask().request, ...(label !== undefined && { labels: { name: label } }) };
                  const fields = { tenant, taskId: `${now}-${index}-${Math.random()}`, agentId, provider, request };
                  return (await store.insertTaskIfAbsent(newTask(fields), { starts: true })).task;
                }),
              );
              await Promise.all(
                ends.map(async ({ state, model, costUsd, tokens, isFaulty, agentId, provider, label }, index) => {
                  const task = tasks[index] as Task;
                  const result: ExecutionResult = {
                    ...{ status: "ok", durationMs: 5, connection: "in-process" },
                    ...(model !== undefined && { model }),
                    ...(costUsd !== undefined && { costUsd }),
                    ...(tokens !== undefined && { usage: { inputTokens: tokens, outputTokens: 1 } }),
                  };
                  const callback = (): never => {
                    throw new Error("The body cannot be built.");
                  };
                  const finish = newFinish({ state, result, ...(isFaulty && { callback }) });
                  if (isFaulty) return expect(store.finishTaskIfRunning(task, finish)).rejects.toThrow();
                  const counts = {
                    ...{ completed: 0, failed: 0, cancelled: 0, [state]: 1 },
                    ...{
                      input_tokens: tokens ?? 0,
                      output_tokens: tokens === undefined ? 0 : 1,
                      usage_unknown: tokens === undefined ? 1 : 0,
                    },
                    ...{ cost_micros: Math.round((costUsd ?? 0) * 1e6), cost_unknown: costUsd === undefined ? 1 : 0 },
                  };
                  const keys = { hour: String(Math.floor(now / HOUR)), provider, agent: agentId, model: model ?? "" };
                  const all = label === undefined ? keys : { ...keys, label: `name=${label.toWellFormed()}` };
                  for (const [by, key] of Object.entries(all)) {
                    const sums = expected[by] as Record<string, Record<string, number>>;
                    const known = sums[key] ?? {};
                    sums[key] = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, (known[name] ?? 0) + count]));
                  }
                  // A second end has no effect.
                  expect(await store.finishTaskIfRunning(task, finish)).not.toBeNull();
                  expect(await store.finishTaskIfRunning(task, finish)).toBeNull();
                }),
              );
            }
            const hours = [0, 1, 2, 3, 4, 5].map((hour) => start / HOUR + hour);
            const sums = await sumsOf(store, tenant, hours);
            expect(Object.keys(sums["hour"] ?? {}).length).toBe(Object.keys(expected["hour"] ?? {}).length);
            expect(sums).toMatchObject(expected);
          }),
          { numRuns: 15 },
        );
        const hours = [start / HOUR, start / HOUR + 1];
        const before = await sumsOf(store, "tenant-2", hours);
        expect(await sumsOf(await reopen(), "tenant-2", hours)).toEqual(before);
      });

      test("usage belongs to a tenant and an hour, remains after retention has deleted the tasks, and ends after 400 days", async () => {
        let now = start;
        const { store } = await open(() => now);
        const request = { ...newTask().request, labels: { team: "docs" } };
        for (const [tenant, taskId] of [
          ["a", "first"],
          ["a", "second"],
          ["b", "third"],
        ] as const) {
          await store.finishTaskIfRunning(await started(store, { tenant, taskId, request }), newFinish());
          now += HOUR;
        }
        const completed = async (tenant: string, hour: number) =>
          Object.values(await sumsOf(store, tenant, [start / HOUR + hour])).map((sums) =>
            Object.values(sums).map((counts) => counts.completed),
          );
        const one = dimensions.map(() => [1]);
        const none = dimensions.map(() => []);
        expect([await completed("a", 0), await completed("a", 1), await completed("a", 2)]).toEqual([one, one, none]);
        expect([await completed("b", 0), await completed("b", 2)]).toEqual([none, one]);
        now = start + 390 * DAY;
        while ((await store.prune(7 * DAY, 100)) > 0);
        expect(await store.findTask("a", "first")).toBeNull();
        expect(await completed("a", 0)).toEqual(one);
        now = start + 400 * DAY + HOUR;
        while ((await store.prune(7 * DAY, 100)) > 0);
        expect([await completed("a", 0), await completed("a", 1), await completed("b", 2)]).toEqual([none, one, one]);
      });
    });

    describe("a search for tasks", () => {
      /** Stores a tree of tasks and a few others, one each second. */
      async function fill(lastMessage = "Post") {
        let now = 1_000_000;
        const { store } = await open(() => now);
        const add = async (taskId: string, message: string, fields: Partial<NewTask> = {}, finish?: Parameters<typeof newFinish>) => {
          now += 1_000;
          const task = await started(store, { taskId, request: { ...newTask().request, message }, ...fields });
          if (finish !== undefined) await store.finishTaskIfRunning(task, newFinish(...finish));
          return task;
        };
        const failed = (errorCode: "timeout" | "cancelled"): Parameters<typeof newFinish> => [
          {
            state: errorCode === "cancelled" ? "cancelled" : "failed",
            result: { status: "error", durationMs: 1, connection: "cli", errorCode, error: "No." },
          },
        ];
        const root = await add("root", "Fix 100% of it", {
          request: { ...newTask().request, message: "Fix 100% of it", labels: { a: "1", b: "2" } },
        });
        const child = await add("root-child", "Review a_b", { parent: root });
        await add("root-leaf", "Look", { parent: child });
        await add("late", "", { request: { ...newTask().request, message: "fix more", labels: { a: "1", b: "3" } } }, failed("timeout"));
        await add("stopped", "Stop", {}, failed("cancelled"));
        await add("posted", lastMessage, {}, [{}, "http://a.test/x"]);
        await add("root-foreign", "Fix", { tenant: "other" });
        const find = async (search: object, limit = 10, before: number | null = null) => {
          const { tasks, next } = await store.searchTasks({ tenant: "default", ...search }, { before, limit });
          return { ids: tasks.map(({ taskId }) => taskId), next };
        };
        return { store, find };
      }

      test.each<[string, object, string[]]>([
        ["no condition", {}, ["posted", "stopped", "late", "root-leaf", "root-child", "root"]],
        ["errorCode", { errorCode: "timeout" }, ["late"]],
        ["errorCode cancelled", { errorCode: "cancelled" }, ["stopped"]],
        ["errorCode and another state", { errorCode: "timeout", state: "completed" }, []],
        ["callback", { callback: "pending" }, ["posted"]],
        ["another state of the callback", { callback: "dead" }, []],
        ["createdAfter", { createdAfter: 1_005_000 }, ["posted", "stopped"]],
        ["createdBefore", { createdBefore: 1_002_000 }, ["root"]],
        ["a range of times", { createdAfter: 1_002_000, createdBefore: 1_004_000 }, ["root-leaf", "root-child"]],
        ["finishedAfter", { finishedAfter: 1_005_000 }, ["posted", "stopped"]],
        ["finishedBefore", { finishedBefore: 1_005_000 }, ["late"]],
        ["a range of ends", { finishedAfter: 1_004_000, finishedBefore: 1_006_000 }, ["stopped", "late"]],
        ["failed since", { finishedAfter: 1_000_000, state: "failed", root: null }, ["late"]],
        ["finishedAfter and another id", { finishedAfter: 1_005_000, idPrefix: "late" }, []],
        ["idPrefix", { idPrefix: "root-" }, ["root-leaf", "root-child"]],
        ["idPrefix of a whole id", { idPrefix: "late" }, ["late"]],
        ["root", { root: "root" }, ["root-leaf", "root-child", "root"]],
        ["the root of a part", { root: "root-child" }, ["root-leaf", "root-child"]],
        ["an unknown root", { root: "root-foreign" }, []],
        ["tasks without a parent", { root: null }, ["posted", "stopped", "late", "root"]],
        ["title", { title: "FIX" }, ["late", "root"]],
        ["title with wildcards", { title: "0% o" }, ["root"]],
        ["title with a wildcard that is no wildcard", { title: "a%b" }, []],
        ["title with an underscore", { title: "a_b" }, ["root-child"]],
        ["a label", { labels: [{ name: "a", value: "1" }] }, ["late", "root"]],
        ["the value of another label", { labels: [{ name: "a", value: "2" }] }, []],
        [
          "several labels",
          {
            labels: [
              { name: "a", value: "1" },
              { name: "b", value: "3" },
            ],
          },
          ["late"],
        ],
        ["a label and a title", { labels: [{ name: "a", value: "1" }], title: "more" }, ["late"]],
        ["several conditions", { title: "fix", root: null, createdAfter: 1_003_000, provider: "command", agentId: "agent" }, ["late"]],
        ["state running", { title: "look", state: "running" }, ["root-leaf"]],
        ["parentTaskId", { title: "look", parentTaskId: "root-child" }, ["root-leaf"]],
      ])("a search for tasks finds exactly the tasks that match: %s", async (_, search, ids) => {
        const { find } = await fill();
        expect(await find(search)).toEqual({ ids, next: null });
        const paged: string[] = [];
        for (let before: number | null = null; ; ) {
          const page = await find(search, 2, before);
          paged.push(...page.ids);
          if (page.next === null) break;
          before = page.next;
        }
        expect(paged).toEqual(ids);
      });

      test("a search for tasks examines a limited number of tasks per page, and continues after them", async () => {
        const { store } = await open();
        await store.insertTaskIfAbsent(newTask({ taskId: "first", request: { ...newTask().request, message: "needle" } }));
        await Promise.all(Array.from({ length: 2_000 }, (_, index) => store.insertTaskIfAbsent(newTask({ taskId: `t${index}` }))));
        const first = await store.searchTasks({ tenant: "default", title: "needle" }, { before: null, limit: 5 });
        expect(first).toEqual({ tasks: [], next: expect.any(Number) });
        const second = await store.searchTasks({ tenant: "default", title: "needle" }, { before: first.next, limit: 5 });
        expect(second).toMatchObject({ tasks: [{ taskId: "first" }], next: null });
        // More tasks have the prefix than are sorted at once.
        expect((await store.searchTasks({ tenant: "default", idPrefix: "t" }, { before: null, limit: 1 })).tasks).toHaveLength(1);
      });

      test.each<[string, object, string[]]>([
        ["a whole id", { text: "late" }, ["late"]],
        ["a prefix of ids, before a title", { text: "root" }, ["root-leaf", "root-child", "root", "posted"]],
        ["a prefix of ids and a state", { text: "root", state: "completed" }, ["posted"]],
        ["a part of a title", { text: "IX" }, ["late", "root"]],
        ["a part of an agent", { text: "gen", createdAfter: 1_005_000 }, ["posted", "stopped"]],
        ["wildcards that are no wildcards", { text: "a%b" }, []],
        ["a label", { text: "b=2" }, ["root"]],
        ["the beginning of a label", { text: "a=" }, ["late", "root"]],
        ["the value of another label", { text: "a=2" }, []],
        ["a text of characters that ids do not have", { text: "100% of" }, ["root"]],
        ["a text that nothing contains", { text: "absent" }, []],
      ])("a search for tasks finds tasks by a text, those with its id first: %s", async (_, search, ids) => {
        const { find } = await fill("Post to root");
        for (const limit of [1, 2, 10]) {
          const paged: string[] = [];
          for (let before: number | null = null; ; ) {
            const page = await find(search, limit, before);
            expect(page.ids.length).toBeLessThanOrEqual(limit);
            paged.push(...page.ids);
            if (page.next === null) break;
            before = page.next;
          }
          expect(paged).toEqual(ids);
        }
      });

      test("a search for tasks finds a task by its id on the first page, however old it is and however many ids begin with it", async () => {
        const { store } = await open();
        await store.insertTaskIfAbsent(newTask({ taskId: "needle" }));
        await store.insertTaskIfAbsent(newTask({ taskId: "t" }));
        await Promise.all(Array.from({ length: 2_100 }, (_, index) => store.insertTaskIfAbsent(newTask({ taskId: `t${index}` }))));
        const find = async (text: string, limit: number, before: number | null = null) =>
          store.searchTasks({ tenant: "default", text }, { before, limit });
        for (const text of ["needle", "need"]) expect((await find(text, 5)).tasks).toMatchObject([{ taskId: "needle" }]);
        const first = await find("t", 1);
        expect(first.tasks).toMatchObject([{ taskId: "t" }]);
        const rest = new Set<string>();
        for (let { next } = first; next !== null; ) {
          const page = await find("t", 200, next);
          for (const { taskId } of page.tasks) rest.add(taskId);
          next = page.next;
        }
        // The title of the other task contains the text.
        expect(rest.size).toBe(2_101);
        expect(rest.has("t")).toBe(false);
      });

      test("a search for tasks finds the tasks with a tool call that waits for approval, each once", async () => {
        const { store, find } = await fill();
        const task = (await store.findTask("default", "root-leaf")) as Task;
        for (const approvalId of ["a1", "a2"]) {
          const approval = { approvalId, toolCallId: approvalId, toolName: "shell", shownInput: "{}", expiresInMs: 60_000 };
          await store.insertApprovalIfRunning(task, { ...approval, event: () => ({ type: "tool.approval_requested", data: "{}" }) });
        }
        expect(await find({ waitingOn: "approval" })).toEqual({ ids: ["root-leaf"], next: null });
        expect(await find({ waitingOn: "approval", title: "other" })).toEqual({ ids: [], next: null });
        await store.finishTaskIfRunning(task, newFinish());
        expect(await find({ waitingOn: "approval" })).toEqual({ ids: [], next: null });
      });

      test("a search for tasks finds no deleted task", async () => {
        const { store, find } = await fill();
        await store.deleteTaskIfEnded("default", "late");
        expect(await find({ title: "more" })).toEqual({ ids: [], next: null });
        expect(await find({ idPrefix: "la" })).toEqual({ ids: [], next: null });
        expect(await find({ labels: [{ name: "a", value: "1" }] })).toMatchObject({ ids: ["root"] });
      });
    });

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

    describe("U+0000 in a text that is not JSON", () => {
      const approval: NewApproval = {
        ...{ approvalId: "apr", toolCallId: "call\0", toolName: "shell\0", shownInput: "{}", expiresInMs: 60_000 },
        event: () => ({ type: "tool.approval_requested", data: "{}" }),
      };
      const failWith = (result: Partial<ExecutionResult>) =>
        newFinish({ state: "failed", result: { status: "error", durationMs: 1, connection: "cli", ...result } });

      test.each<
        [name: string, write: (store: Store, task: Task) => Promise<unknown>, read: (store: Store, task: Task) => unknown, unknown]
      >([
        [
          "the id and name of a tool call",
          (store, task) => store.insertApprovalIfRunning(task, approval),
          async (store) =>
            (await store.listPendingApprovals("default", "call\0")).map(({ toolCallId, toolName }) => [toolCallId, toolName]),
          [["call\ufffd", "shell\ufffd"]],
        ],
        [
          "the reason of a decision",
          async (store, task) => {
            await store.insertApprovalIfRunning(task, approval);
            const decided = await store.decideApprovalIfPending("default", "apr", { decision: "reject", by: "user", reason: "no\0" });
            expect(decided).toEqual(await store.findApproval("default", "apr"));
          },
          async (store, { seq }) => JSON.parse((await store.readTaskEvents(seq, 0, 9, "execution")).at(-1)?.data ?? "").reason,
          "no\ufffd",
        ],
        [
          "the error of a task that ends while an approval waits",
          async (store, task) => {
            await store.insertApprovalIfRunning(task, approval);
            await store.finishTaskIfRunning(task, failWith({ error: "failed\0" }));
            expect((await store.findTask("default", "task-1"))?.result?.error).toBe("failed\0");
          },
          async (store) => (await store.findApproval("default", "apr"))?.reason,
          "failed\ufffd",
        ],
        [
          "the reason of a stop request",
          (store, task) => store.requestStopIfRunning(task, { code: "cancelled", reason: "stop\0" }),
          async (store) => (await store.listInterruptedTasks())[0]?.stop?.reason,
          "stop\ufffd",
        ],
        [
          "the error of a callback attempt",
          async (store, task) => {
            await store.finishTaskIfRunning(task, newFinish({}, "http://a.test/"));
            const settlement: CallbackSettlement = { state: "dead", nextInMs: null, lastStatus: null, lastError: "reset\0", event: null };
            await store.settleCallbackIfPending({ task, attempts: 0 }, settlement);
          },
          async (store, { seq }) => (await store.findCallback(seq))?.lastError,
          "reset\ufffd",
        ],
      ])("U+0000 in a text that is not JSON is replaced: %s", async (_, write, read, expected) => {
        const { store } = await open();
        const task = await started(store);
        await write(store, task);
        expect(await read(store, task)).toEqual(expected);
      });

      test("U+0000 in a text that is not JSON is replaced in a resume token, which still identifies its session", async () => {
        const { store } = await open();
        const request = { ...newTask().request, resumeToken: "session\0" };
        for (const taskId of ["one", "two"]) await store.insertTaskIfAbsent(newTask({ taskId, request }));
        await store.insertTaskIfAbsent(newTask({ taskId: "three", request: { ...request, resumeToken: "session\ufffd" } }));
        await store.insertTaskIfAbsent(newTask({ taskId: "four", request: { ...request, resumeToken: "session" } }));
        const first = (await claim(store)) as Task;
        expect([first.taskId, first.request.resumeToken]).toEqual(["one", "session\0"]);
        expect([(await claim(store))?.taskId, await claim(store)]).toEqual(["four", null]);
        await store.finishTaskIfRunning(first, failWith({ resumeToken: "session\0" }));
        const isKnown = (token: string) => store.isResumeTokenKnown({ tenant: "default", provider: "command", agentId: "agent", token });
        expect([await isKnown("session\0"), await isKnown("session\ufffd"), await isKnown("session")]).toEqual([true, true, false]);
        expect((await claim(store))?.taskId).toBe("two");
      });

      const page = { before: null, limit: 9 };
      test.each<[name: string, look: (store: Store) => Promise<unknown>, nothing: unknown]>([
        ["findTask", (store) => store.findTask("default", "task-1\0"), null],
        ["findStoredTask", (store) => store.findStoredTask("default", "\0"), null],
        ["findTaskProgress", (store) => store.findTaskProgress("default", "task-1\0"), null],
        ["resultBytes", (store) => store.resultBytes("default", "task-1\0"), 0],
        ["findFamily", (store) => store.findFamily("default", "task-1\0"), []],
        ["deleteTaskIfEnded", (store) => store.deleteTaskIfEnded("default", "task-1\0"), "absent"],
        ["listTasks by provider", (store) => store.listTasks({ tenant: "default", provider: "command\0" }, page), []],
        ["listTasks by agent", (store) => store.listTasks({ tenant: "default", agentId: "agent\0" }, page), []],
        ["listTasks by parent", (store) => store.listTasks({ tenant: "default", parentTaskId: "\0" }, page), []],
        ["listAgentsByName", (store) => store.listAgentsByName("default", { after: "agent\0", limit: 9 }), []],
        ["readEvents", async (store) => (await store.readEvents(0, { tenant: "default", taskId: "task-1\0" })).events, []],
        ["findApproval", (store) => store.findApproval("default", "apr\0"), null],
        [
          "decideApprovalIfPending",
          (store) => store.decideApprovalIfPending("default", "apr\0", { decision: "approve", by: "user", reason: null }),
          null,
        ],
        ["listPendingApprovals", (store) => store.listPendingApprovals("default", "call\0"), []],
        ["redeemTicket", (store) => store.redeemTicket("\0"), null],
      ])("U+0000 in a text that is not JSON finds nothing in a lookup: %s", async (_, look, nothing) => {
        const { store } = await open();
        await store.insertApprovalIfRunning(await started(store), { ...approval, toolCallId: "call" });
        expect(await look(store)).toEqual(nothing);
      });
    });

    describe("tickets", () => {
      const ticket = (hash: string, fields: Partial<NewTicket> = {}): NewTicket => ({
        ...{ hash, principal: "ci", tenant: "default", scopes: ["read", "approve"], tokenProof: "proof", tokenExpiresAt: null, ...fields },
      });

      test("tickets are redeemed once, also after a reopen, and return everything that was stored for them", async () => {
        const { store, reopen } = await open(() => 1_000);
        expect(await store.insertTicketIfRoom(ticket("a"), 9)).toBe(61_000);
        expect(await store.insertTicketIfRoom(ticket("b", { tokenExpiresAt: 2_000, scopes: [] }), 9)).toBe(2_000);
        const again = await reopen();
        const { principal, tenant, scopes, tokenProof } = ticket("a");
        const both = await Promise.all([again.redeemTicket("a"), again.redeemTicket("a")]);
        expect(both).toContainEqual({ principal, tenant, scopes, tokenProof });
        expect(both).toContain(null);
        expect(await again.redeemTicket("b")).toMatchObject({ scopes: [] });
        expect(await again.redeemTicket("absent")).toBeNull();
      });

      test("tickets are limited per tenant, and expired tickets do not count", async () => {
        let now = 0;
        const { store } = await open(() => now);
        const many = await Promise.all(["a", "b", "c"].map((hash) => store.insertTicketIfRoom(ticket(hash), 2)));
        expect(many).toEqual([60_000, 60_000, null]);
        expect(await store.insertTicketIfRoom(ticket("d", { tenant: "other" }), 2)).toBe(60_000);
        now = 60_000;
        expect(await store.insertTicketIfRoom(ticket("e"), 1)).toBe(120_000);
      });

      test("tickets expire, and retention deletes expired ones", async () => {
        let now = 0;
        const { store } = await open(() => now);
        for (const hash of ["a", "b"]) await store.insertTicketIfRoom(ticket(hash), 9);
        await store.insertTicketIfRoom(ticket("brief", { tokenExpiresAt: 10_000 }), 9);
        expect(await store.prune(1_000, 100)).toBe(0);
        now = 10_000;
        expect([await store.prune(1_000, 100), await store.redeemTicket("brief")]).toEqual([1, null]);
        now = 60_000;
        expect(await store.redeemTicket("a")).toBeNull();
        expect([await store.prune(1_000, 100), await store.prune(1_000, 100)]).toEqual([1, 0]);
      });
    });

    describe("sessions", () => {
      const hours = 3_600_000;
      const session = (hash: string, fields: Partial<NewTicket> = {}): NewTicket => ({
        ...{ hash, principal: "ci", tenant: "default", scopes: ["read", "approve"], tokenProof: "proof", tokenExpiresAt: null, ...fields },
      });

      test("sessions are found until they expire or are deleted, also after a reopen, and retention deletes expired ones", async () => {
        let now = 1_000;
        const { store, reopen } = await open(() => now);
        expect(await store.insertSession(session("a"), 9)).toBe(1_000 + 12 * hours);
        expect(await store.insertSession(session("b", { tokenExpiresAt: 2_000, scopes: [] }), 9)).toBe(2_000);
        const again = await reopen();
        const { principal, tenant, scopes, tokenProof } = session("a");
        for (let read = 0; read < 2; read += 1)
          expect(await again.findSession("a")).toEqual({ principal, tenant, scopes, tokenProof, expiresAt: 1_000 + 12 * hours });
        for (const hash of ["absent", "A", "a\0", ""]) expect(await again.findSession(hash)).toBeNull();
        now = 2_000;
        expect([await again.findSession("b"), await again.prune(1_000, 100)]).toEqual([null, 1]);
        expect([await again.deleteSession("a"), await again.deleteSession("a")]).toEqual([true, false]);
        expect(await again.findSession("a")).toBeNull();
      });

      test("sessions are limited per principal to the newest ones, and those of before a set-back clock do not count", async () => {
        let now = 20 * hours;
        const { store } = await open(() => now);
        const found = async (...hashes: string[]) => {
          const all = await Promise.all(hashes.map((hash) => store.findSession(hash)));
          return hashes.filter((_, index) => all[index] !== null);
        };
        await store.insertSession(session("a"), 2);
        await store.insertSession(session("p", { principal: "other" }), 2);
        await store.insertSession(session("t", { tenant: "other" }), 2);
        for (const hash of ["b", "c"]) {
          now += 1;
          expect(await store.insertSession(session(hash), 2)).toBe(now + 12 * hours);
        }
        expect(await found("a", "b", "c", "p", "t")).toEqual(["b", "c", "p", "t"]);
        now = 0;
        expect(await found("b", "c")).toEqual([]);
        for (const hash of ["d", "e"]) expect(await store.insertSession(session(hash), 2)).toBe(12 * hours);
        expect(await found("d", "e")).toEqual(["d", "e"]);
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
        const due = await store.listDueCallbacks({ tenant: "default", origin: "http://a.test" }, 10);
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

    test("the store checks that it can write on request, and rejects calls after it is closed", async () => {
      const { store, close } = await open();
      await store.checkWritable();
      await close();
      await expect(store.insertTaskIfAbsent(newTask())).rejects.toMatchObject({ code: "storage_unavailable" });
    });
  });
}
