import { describe, expect, test } from "vitest";
import type { ExecutionResult } from "#contract";
import type { Store } from "../../../src/store/store.ts";
import type { NewTask } from "../../../src/store/tasks/interface.ts";
import type { Task } from "../../../src/task.ts";
import { claim, createOpen, newFinish, newTask, type StoreSubject, started } from "./fixtures.ts";

/** Checks the lists, summaries and searches of tasks in a storage engine. */
export function taskListConformance(subject: StoreSubject): void {
  const open = createOpen(subject);

  describe(`store: ${subject.name}`, () => {
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
      const unknown = { costUsd: null, costSource: null, usage: null, errorCode: null, attempts: [], labels };

      test("summaries contain title and requested model before the end, and usage, cost and the actual model after it", async () => {
        const { store } = await open();
        const task = await started(store, { request });
        const before = { title: "Find the \ufffd bug", model: "requested", ...unknown };
        expect(await summaryOf(store)).toEqual(before);
        expect((await store.findStoredTask("default", "task-1"))?.summary).toEqual(before);
        const usage = { inputTokens: 5, outputTokens: 3, cacheReadTokens: 2 };
        const cost = { costUsd: 0.125, costSource: "priced" } as const;
        const result: ExecutionResult = { status: "ok", durationMs: 5, connection: "in-process", model: "actual", usage, ...cost };
        await store.finishTaskIfRunning(task, newFinish({ result }));
        const after = { title: before.title, model: "actual", usage, ...cost, errorCode: null, attempts: [], labels };
        expect(await summaryOf(store)).toEqual(after);
        expect((await store.findStoredTask("default", "task-1"))?.summary).toEqual(after);
      });

      test("summaries contain what a running task has spent so far, also after a requeue", async () => {
        const { store, published } = await open();
        const task = await started(store, { request });
        const spent = { usage: { inputTokens: 5, outputTokens: 3 }, costUsd: 0.125, costSource: "runtime" } as const;
        const event = { type: "usage.reported", data: '{"total":{}}' } as const;
        expect(await store.reportUsageIfRunning(task, { spent: { ...spent, costUsd: 0.1 }, event })).toBe(true);
        expect(await store.reportUsageIfRunning(task, { spent, event })).toBe(true);
        expect(await summaryOf(store)).toMatchObject({ model: "requested", errorCode: null, ...spent });
        expect(published.map(({ type }) => type)).toEqual(["execution.started", "usage.reported", "usage.reported"]);
        await store.requeueTaskIfRunning(task);
        expect(await store.reportUsageIfRunning(task, { spent: { ...spent, costUsd: 1 }, event })).toBe(false);
        await claim(store);
        expect(await store.reportUsageIfRunning(task, { spent: { ...spent, costUsd: 1 }, event })).toBe(false);
        expect(await summaryOf(store)).toMatchObject(spent);
      });

      test("summaries contain the attempts of a running task that have ended, also after a requeue", async () => {
        const { store, published } = await open();
        const task = await started(store, { request });
        const attempt = {
          number: 1,
          provider: "command",
          model: null,
          startedAt: null,
          errorCode: null,
          reason: "\ud800",
          usage: null,
          costUsd: null,
        };
        const event = { type: "execution.attempt", data: '{"number":1}' } as const;
        expect(await store.reportAttemptsIfRunning(task, { attempts: [attempt], events: [event, event] })).toBe(true);
        const stored = [{ ...attempt, reason: "\ufffd" }];
        expect((await summaryOf(store))?.attempts).toEqual(stored);
        expect(published.map(({ type }) => type)).toEqual(["execution.started", "execution.attempt", "execution.attempt"]);
        await store.requeueTaskIfRunning(task);
        expect(await store.reportAttemptsIfRunning(task, { attempts: [], events: [event] })).toBe(false);
        expect((await summaryOf(store))?.attempts).toEqual(stored);
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
  });
}
