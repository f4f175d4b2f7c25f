import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { AdapterEvent } from "#contract";
import { createDestinationGuard, type DestinationGuard } from "../../src/network/destination-guard.ts";
import { createInMemoryAdapter, type Run } from "../adapters/in-memory-adapter.ts";
import { databaseOf } from "../support/database-subject.ts";
import { caller, endOf, newDispatch, startEngine } from "./engine.ts";
import { createCompositeAdapter, createHeldRuntime } from "./runtimes.ts";

const count = async (metric: { get(): Promise<{ values: { value: number }[] }> }) =>
  (await metric.get()).values.reduce((sum, { value }) => sum + value, 0);

describe("a task", () => {
  test("a task is admitted, run and settled, with its events in order", async () => {
    const engine = await startEngine([createInMemoryAdapter()]);
    const { task, replayed } = await engine.dispatcher.admitTask(
      newDispatch({ taskId: "t1", request: { callbackUrl: "http://127.0.0.1:9/hook" } }),
      caller,
    );
    expect({ replayed, state: task.state }).toEqual({ replayed: false, state: "queued" });
    const ended = await endOf(engine, task);
    expect(ended).toMatchObject({ state: "completed", result: { status: "ok", output: "hello" } });
    expect(ended.result?.conversationMessages).toEqual([
      { role: "user", content: "hello" },
      { role: "assistant", content: "hello" },
    ]);
    expect(engine.eventsOf("t1")).toEqual([
      { type: "execution.started", data: { agentId: "agent" } },
      { type: "assistant.text", data: { content: "hello" } },
      { type: "execution.completed", data: expect.objectContaining({ output: "hello" }) },
    ]);
    expect(engine.callbacksDue).toEqual([{ tenant: "default", receiver: "http://127.0.0.1:9" }]);
  });

  test("a task runs once when its dispatch is repeated; a different request with its id is a conflict", async () => {
    const run = vi.fn<Run>(async () => ({ output: "once" }));
    const engine = await startEngine([createInMemoryAdapter({ run })]);
    const both = await Promise.all([0, 1].map(() => engine.dispatcher.admitTask(newDispatch({ taskId: "t1" }), caller)));
    expect(both.map(({ replayed }) => replayed).sort()).toEqual([false, true]);
    await engine.dispatcher.waitForEnd(both[0]?.task as never, 60_000);
    const later = await engine.dispatcher.admitTask(newDispatch({ taskId: "t1" }), caller);
    expect(later).toMatchObject({ replayed: true, task: { state: "completed" } });
    await expect(engine.dispatcher.admitTask(newDispatch({ taskId: "t1", request: { message: "other" } }), caller)).rejects.toMatchObject({
      code: "task_conflict",
    });
    expect(run).toHaveBeenCalledTimes(1);
    expect(engine.dispatcher.load("memory")).toEqual({ running: 0, queued: 0, maxConcurrent: 2 });
  });

  test("a task that finds a free slot is stored as running, without a claim, and its response reports it as queued", async () => {
    const { run, held } = createHeldRuntime();
    const engine = await startEngine([createInMemoryAdapter({ run })], { maxConcurrent: () => 1 });
    const claimed = vi.spyOn(engine.store, "startNextTaskIfQueued");
    const { task: first } = await engine.dispatcher.admitTask(newDispatch({ taskId: "first" }), caller);
    expect(first).toMatchObject({ state: "queued", startedAt: null });
    expect(await engine.store.findTask("default", "first")).toMatchObject({ state: "running", startedAt: expect.any(Number) });
    expect(engine.events[0]).toMatchObject({ number: 1, type: "execution.started", task: { taskId: "first" } });
    expect(claimed).not.toHaveBeenCalled();
    const { task: second } = await engine.dispatcher.admitTask(newDispatch({ taskId: "second" }), caller);
    expect(await engine.store.findTask("default", "second")).toMatchObject({ state: "queued" });
    await vi.waitFor(() => expect(held).toHaveLength(1));
    held[0]?.release();
    await vi.waitFor(() => expect(held).toHaveLength(2));
    expect(claimed).toHaveBeenCalledTimes(1);
    held[1]?.release();
    await endOf(engine, second);
    await vi.waitFor(() => expect(engine.dispatcher.load("memory")).toEqual({ running: 0, queued: 0, maxConcurrent: 1 }));
  });

  test("a task waits while its adapter has no free slot, and no adapter exceeds its limit", async () => {
    const { run, held } = createHeldRuntime();
    const engine = await startEngine([createInMemoryAdapter({ run })]);
    const tasks = await Promise.all(
      Array.from({ length: 5 }, (_, index) => engine.dispatcher.admitTask(newDispatch({ taskId: `t${index}` }), caller)),
    );
    await vi.waitFor(() => expect(held).toHaveLength(2));
    expect(engine.dispatcher.load("memory")).toEqual({ running: 2, queued: 3, maxConcurrent: 2 });
    for (let done = 0; done < 5; done += 1) {
      await vi.waitFor(() => expect(held.length).toBeGreaterThan(done));
      expect(held.length).toBeLessThanOrEqual(done + 2);
      held[done]?.release();
    }
    const ended = await Promise.all(tasks.map(({ task }) => engine.dispatcher.waitForEnd(task, 60_000)));
    expect(ended.map(({ state }) => state)).toEqual(Array(5).fill("completed"));
    expect(held.map(({ taskId }) => taskId)).toEqual(["t0", "t1", "t2", "t3", "t4"]);
  });

  test("a task ends as adapter_error when its adapter throws or returns an invalid result, and others are not affected", async () => {
    const run: Run = async ({ message }) => {
      if (message === "throw") throw new TypeError("secret detail");
      return message === "nonsense" ? { status: "maybe" as "ok" } : { status: "error", error: "no code" };
    };
    const engine = await startEngine([createInMemoryAdapter({ run })]);
    for (const message of ["throw", "nonsense", "codeless"]) {
      const { task } = await engine.dispatcher.admitTask(newDispatch({ request: { message } }), caller);
      const ended = await endOf(engine, task);
      expect(ended).toMatchObject({ state: "failed", result: { errorCode: "adapter_error" } });
      expect(ended.result?.error).not.toContain("secret");
    }
  });

  test("a task reports an invalid agent.json", async () => {
    const engine = await startEngine([createInMemoryAdapter()]);
    const workspace = path.join(engine.dataDir, "workspaces/default/agent");
    await mkdir(workspace, { recursive: true });
    await writeFile(path.join(workspace, "agent.json"), '{"timeoutSeconds": "soon"}');
    const { task } = await engine.dispatcher.admitTask(newDispatch(), caller);
    expect(await endOf(engine, task)).toMatchObject({
      state: "failed",
      result: { error: expect.stringContaining("timeoutSeconds") },
    });
    expect(engine.eventsOf(task.taskId).map(({ type }) => type)).toEqual(["execution.started", "execution.failed"]);
  });
});

describe("a dispatch is rejected", () => {
  test.each([
    ["an unknown provider", newDispatch({ provider: "nobody" }), "unknown_provider"],
    ["a missing ability", newDispatch({ request: { approvals: "ask" } }), "capability_missing"],
    ["a callback to a host that is not public", newDispatch({ request: { callbackUrl: "https://10.0.0.1/" } }), "callback_url_refused"],
    [
      "an MCP command that is not permitted",
      newDispatch({ request: { mcpServers: [{ name: "x", transport: "stdio", command: "rm" }] } }),
      "mcp_refused",
    ],
    [
      "an MCP server at the metadata address",
      newDispatch({ request: { mcpServers: [{ name: "x", transport: "http", url: "http://169.254.169.254/" }] } }),
      "mcp_refused",
    ],
    ["a resume token of somebody else", newDispatch({ request: { resumeToken: "stolen" } }), "resume_unknown"],
    ["a directory that is not there", newDispatch({ request: { metadata: { cwd: "missing" } } }), "invalid_request"],
    ["a file outside", newDispatch({ request: { outputStrategy: { type: "file", path: "../x" } } }), "invalid_request"],
    [
      "a schema that is none",
      newDispatch({ request: { outputStrategy: { type: "structured", schema: { type: "objekt" } } } }),
      "invalid_request",
    ],
  ])("%s", async (_, dispatch, code) => {
    const engine = await startEngine([createInMemoryAdapter({ capabilities: { approvals: false } })]);
    await expect(engine.dispatcher.admitTask(dispatch, caller)).rejects.toMatchObject({ code });
    expect(await engine.store.listTasks({ tenant: "default" }, { before: null, limit: 10 })).toEqual([]);
    expect(engine.dispatcher.load("memory").queued).toBe(0);
  });

  test("when the queue is full, except for a repeated dispatch", async () => {
    const { run } = createHeldRuntime();
    const engine = await startEngine([createInMemoryAdapter({ run })], { queueLimit: 1, maxConcurrent: () => 1 });
    for (const taskId of ["running", "queued"]) await engine.dispatcher.admitTask(newDispatch({ taskId }), caller);
    await vi.waitFor(() => expect(engine.dispatcher.load("memory")).toMatchObject({ running: 1, queued: 1 }));
    await expect(engine.dispatcher.admitTask(newDispatch({ taskId: "third" }), caller)).rejects.toMatchObject({
      code: "queue_full",
      retryAfterSeconds: expect.any(Number),
    });
    expect(await engine.dispatcher.admitTask(newDispatch({ taskId: "queued" }), caller)).toMatchObject({ replayed: true });
    const other = newDispatch({ taskId: "queued", fingerprint: "other" });
    await expect(engine.dispatcher.admitTask(other, caller)).rejects.toMatchObject({ code: "task_conflict" });
    expect(await count(engine.metrics.queueFull)).toBe(1);
  });

  test("when its callback URL is refused, except for a repeated dispatch that was accepted before", async () => {
    const checkUrl = vi.fn<DestinationGuard["checkUrl"]>(() => null);
    const engine = await startEngine([createInMemoryAdapter()], { guard: { ...createDestinationGuard({ allow: [] }), checkUrl } });
    const dispatch = newDispatch({ taskId: "t1", request: { callbackUrl: "https://receiver.example/hook" } });
    await engine.dispatcher.admitTask(dispatch, caller);
    checkUrl.mockReturnValue("is refused");
    expect(await engine.dispatcher.admitTask(dispatch, caller)).toMatchObject({ replayed: true, task: { taskId: "t1" } });
    await expect(engine.dispatcher.admitTask({ ...dispatch, taskId: "t2" }, caller)).rejects.toMatchObject({
      code: "callback_url_refused",
    });
  });

  test("when several adapters are loaded and neither the dispatch nor agent.json names one", async () => {
    const engine = await startEngine([createInMemoryAdapter({ provider: "one" }), createInMemoryAdapter({ provider: "two" })]);
    await expect(engine.dispatcher.admitTask(newDispatch(), caller)).rejects.toMatchObject({ code: "unknown_provider" });
    const workspace = path.join(engine.dataDir, "workspaces/default/agent");
    await mkdir(workspace, { recursive: true });
    await writeFile(path.join(workspace, "agent.json"), '{"provider": "two"}');
    expect((await engine.dispatcher.admitTask(newDispatch(), caller)).task.provider).toBe("two");
  });
});

describe("cancel", () => {
  test("cancel ends a queued task immediately, with a start and an end event", async () => {
    const { run } = createHeldRuntime();
    const engine = await startEngine([createInMemoryAdapter({ run })], { maxConcurrent: () => 1 });
    for (const taskId of ["first", "second"]) await engine.dispatcher.admitTask(newDispatch({ taskId }), caller);
    expect(await engine.dispatcher.cancel("default", "second")).toMatchObject({ changed: true, task: { state: "cancelled" } });
    expect(await engine.store.findTask("default", "second")).toMatchObject({ result: { errorCode: "cancelled" } });
    expect(engine.eventsOf("second").map(({ type }) => type)).toEqual(["execution.started", "execution.failed"]);
    expect(engine.dispatcher.load("memory").queued).toBe(0);
    await expect(engine.dispatcher.cancel("other", "first")).rejects.toMatchObject({ code: "not_found" });
  });

  test("cancel by many clients reads the request of a queued task once, and only one of them changes the task", async () => {
    const { run } = createHeldRuntime();
    const engine = await startEngine([createInMemoryAdapter({ run })], { maxConcurrent: () => 1 });
    for (const taskId of ["first", "second"]) await engine.dispatcher.admitTask(newDispatch({ taskId }), caller);
    const { findTask, findTaskProgress } = engine.store;
    // The first read of the request ends when all clients know that the task is queued.
    const allAsked = Promise.withResolvers<void>();
    let asked = 0;
    vi.spyOn(engine.store, "findTaskProgress").mockImplementation(async (...args) => {
      const task = await findTaskProgress(...args);
      asked += 1;
      if (asked === 100) setImmediate(allAsked.resolve);
      return task;
    });
    const reads = vi.spyOn(engine.store, "findTask").mockImplementation(async (...args) => {
      await allAsked.promise;
      return findTask(...args);
    });
    const answers = await Promise.all(Array.from({ length: 100 }, () => engine.dispatcher.cancel("default", "second")));
    expect(reads.mock.calls.length).toBe(1);
    expect(answers.filter(({ changed }) => changed)).toHaveLength(1);
    expect(new Set(answers.map(({ task }) => task.state))).toEqual(new Set(["cancelled"]));
    expect(answers[0]?.task).not.toHaveProperty("metadata");
    expect(engine.dispatcher.load("memory").queued).toBe(0);
  });

  test("cancel ends a running task when its runtime has ended, and changes nothing afterwards", async () => {
    const { run, held } = createHeldRuntime();
    const engine = await startEngine([createInMemoryAdapter({ run })]);
    const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId: "t1" }), caller);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    expect(await engine.dispatcher.cancel("default", "t1")).toMatchObject({ changed: true });
    expect(await endOf(engine, task)).toMatchObject({ state: "cancelled", result: { errorCode: "cancelled" } });
    expect(engine.eventsOf("t1").at(-1)).toMatchObject({ type: "execution.failed", data: { errorCode: "cancelled" } });
    expect(await engine.dispatcher.cancel("default", "t1")).toMatchObject({ changed: false, task: { state: "cancelled" } });
  });

  test("cancel ends a task in the same event-loop turn as its dispatch", async () => {
    const { run } = createHeldRuntime();
    const engine = await startEngine([createInMemoryAdapter({ run })]);
    for (let index = 0; index < 20; index += 1) {
      const taskId = `t${index}`;
      const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId }), caller);
      await engine.dispatcher.cancel("default", taskId);
      expect(await engine.dispatcher.waitForEnd(task, 60_000)).toMatchObject({ state: "cancelled" });
    }
    await vi.waitFor(() => expect(engine.dispatcher.load("memory")).toMatchObject({ running: 0, queued: 0 }));
  });

  test("cancel ends a task after the grace time if its runtime does not end, keeps the slot, and counts the late result", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stubborn = createInMemoryAdapter({
      run: async (_, emit) => {
        await promise;
        emit("assistant.text", { content: "too late" });
        return { output: "too late" };
      },
    });
    const engine = await startEngine([{ ...stubborn, cancel: async () => true }]);
    const { task } = await engine.dispatcher.admitTask(
      newDispatch({ taskId: "t1", request: { callbackUrl: "http://127.0.0.1:9/" } }),
      caller,
    );
    await vi.waitFor(() => expect(engine.dispatcher.load("memory").running).toBe(1));
    await engine.dispatcher.cancel("default", "t1");
    expect(await engine.dispatcher.waitForEnd(task, 60_000)).toMatchObject({ state: "cancelled" });
    expect(engine.dispatcher.load("memory").running).toBe(1);
    resolve();
    await vi.waitFor(() => expect(engine.dispatcher.load("memory").running).toBe(0));
    expect(await count(engine.metrics.lateResults)).toBe(1);
    expect(engine.eventsOf("t1").map(({ type }) => type)).toEqual(["execution.started", "execution.failed"]);
    expect((await engine.store.findTask("default", "t1"))?.result).not.toHaveProperty("output");
    expect(engine.callbacksDue).toHaveLength(1);
  });
});

describe("time limits", () => {
  test("a task that exceeds its timeout ends as timeout", async () => {
    const { run } = createHeldRuntime();
    const engine = await startEngine([createInMemoryAdapter({ run })]);
    const { task } = await engine.dispatcher.admitTask(newDispatch({ request: { timeoutSeconds: 1 } }), caller);
    expect(await endOf(engine, task)).toMatchObject({ state: "failed", result: { errorCode: "timeout" } });
  });

  test("a runtime that emits no events ends as idle_timeout, and one that emits events does not", async () => {
    const run: Run = async ({ message }, emit, signal) => {
      const signs = message === "lively" ? setInterval(() => emit("execution.progress", {}), 40) : undefined;
      await new Promise((resolve) => {
        if (message === "lively") setTimeout(resolve, 400);
        signal.addEventListener("abort", resolve);
      });
      clearInterval(signs);
      return { output: "alive" };
    };
    const engine = await startEngine([createInMemoryAdapter({ run })], { idleSeconds: 0.2 });
    const ends = await Promise.all(
      ["silent", "lively"].map(async (message) => {
        const { task } = await engine.dispatcher.admitTask(newDispatch({ request: { message } }), caller);
        return endOf(engine, task);
      }),
    );
    expect(ends.map(({ result }) => result?.errorCode)).toEqual(["idle_timeout", undefined]);
  });

  test("clients that wait for the end or cancel an ended task do not read its result", async () => {
    const { run, held } = createHeldRuntime();
    const engine = await startEngine([createInMemoryAdapter({ run })]);
    const reads = vi.spyOn(engine.store, "findTask");
    const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId: "t1" }), caller);
    const waits = Array.from({ length: 100 }, () => engine.dispatcher.waitForEnd(task, 60_000));
    await vi.waitFor(() => expect(held).toHaveLength(1));
    held[0]?.release();
    expect(await Promise.all(waits)).toEqual(Array(100).fill(expect.objectContaining({ taskId: "t1", state: "completed" })));
    const cancels = await Promise.all(waits.map(() => engine.dispatcher.cancel("default", "t1")));
    expect(cancels).toEqual(Array(100).fill({ changed: false, task: expect.objectContaining({ taskId: "t1", state: "completed" }) }));
    expect(reads).not.toHaveBeenCalled();
  });

  test("waiting for the end stops at the time limit, or when the client disconnects", async () => {
    const { run } = createHeldRuntime();
    const engine = await startEngine([createInMemoryAdapter({ run })]);
    const { task } = await engine.dispatcher.admitTask(newDispatch(), caller);
    expect((await engine.dispatcher.waitForEnd(task, 20)).state).toBe("running");
    expect((await engine.dispatcher.waitForEnd(task, 60_000, AbortSignal.timeout(20))).state).toBe("running");
  });
});

describe("events of an adapter", () => {
  test("events of an adapter are dropped and counted if their type, data or task is not allowed", async () => {
    const run: Run = async (request, emit) => {
      const raw = emit as (type: string, data: unknown) => void;
      raw("execution.completed", { output: "forged" });
      raw("callback.delivered", {});
      raw("__proto__", {});
      raw("assistant.text", { content: 5 });
      raw("tool.invoked", { toolName: "no id" });
      listener?.({ type: "assistant.text", taskId: "somebody-else", data: { content: "x" } });
      emit("tool.invoked", { toolCallId: "1", toolName: "t", input: request.message });
      return { output: "" };
    };
    const adapter = createInMemoryAdapter({ run });
    let listener: ((event: AdapterEvent) => void) | undefined;
    const onEvent = (given: typeof listener & {}) => {
      listener = given;
      adapter.onEvent(given);
    };
    const engine = await startEngine([{ ...adapter, onEvent }]);
    const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId: "t1" }), caller);
    await engine.dispatcher.waitForEnd(task, 60_000);
    expect(engine.eventsOf("t1").map(({ type }) => type)).toEqual([
      "execution.started",
      "tool.invoked",
      "tool.completed",
      "execution.completed",
    ]);
    expect(await count(engine.metrics.eventsDropped)).toBe(6);
  });
});

describe("an adapter that is offline", () => {
  test("an adapter that is offline is checked again after it caused the rejection of a dispatch", async () => {
    let plugged = false;
    const adapter = createInMemoryAdapter();
    const checkHealth = async () =>
      plugged ? adapter.checkHealth() : { status: "offline" as const, connection: null, version: null, detail: "unplugged", preflight: [] };
    const engine = await startEngine([{ ...adapter, checkHealth }]);
    await expect(engine.dispatcher.admitTask(newDispatch(), caller)).rejects.toMatchObject({
      code: "adapter_offline",
      message: expect.stringMatching(/^The adapter memory is offline\. .* The next check is within 20 s\. Dispatch again after it\.$/),
      retryAfterSeconds: 20,
    });
    plugged = true;
    // Not immediately, so that a burst of rejected dispatches costs one check.
    const later = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 60_000);
    await expect(engine.dispatcher.admitTask(newDispatch(), caller)).rejects.toMatchObject({ code: "adapter_offline" });
    later.mockRestore();
    const afterPause = vi.spyOn(performance, "now").mockReturnValue(Number.MAX_SAFE_INTEGER);
    await expect(engine.dispatcher.admitTask(newDispatch(), caller)).rejects.toMatchObject({ code: "adapter_offline" });
    afterPause.mockRestore();
    await vi.waitFor(async () => expect(await engine.dispatcher.admitTask(newDispatch(), caller)).toMatchObject({ replayed: false }));
  });

  test("an adapter that is offline causes the rejection of dispatches before anything is stored, and the end of its queued tasks", async () => {
    const { run, held } = createHeldRuntime();
    const adapter = createInMemoryAdapter({ run });
    let offline = false;
    const checkHealth = async () =>
      offline ? { status: "offline" as const, connection: null, version: null, detail: "unplugged", preflight: [] } : adapter.checkHealth();
    const engine = await startEngine([{ ...adapter, checkHealth }], { maxConcurrent: () => 1, checkIntervalMs: 20 });
    await engine.dispatcher.admitTask(newDispatch({ taskId: "running" }), caller);
    const { task: waiting } = await engine.dispatcher.admitTask(newDispatch({ taskId: "waiting" }), caller);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    offline = true;
    expect(await endOf(engine, waiting)).toMatchObject({ state: "failed", result: { errorCode: "adapter_offline" } });
    await expect(engine.dispatcher.admitTask(newDispatch({ taskId: "later" }), caller)).rejects.toMatchObject({ code: "adapter_offline" });
    expect(await engine.store.findTask("default", "later")).toBeNull();
    offline = false;
    await vi.waitFor(async () =>
      expect(await engine.dispatcher.admitTask(newDispatch({ taskId: "back" }), caller)).toMatchObject({ replayed: false }),
    );
  });

  test("an adapter that is offline is listed with the reason when it cannot initialize, and the other adapters work", async () => {
    const broken = { ...createInMemoryAdapter({ provider: "broken" }), initialize: () => Promise.reject(new Error("no key")) };
    const engine = await startEngine([broken, createInMemoryAdapter()]);
    expect(engine.registry.get("broken")?.health).toMatchObject({ status: "offline", detail: "no key" });
    const { task } = await engine.dispatcher.admitTask(newDispatch({ provider: "memory" }), caller);
    expect(await engine.dispatcher.waitForEnd(task, 60_000)).toMatchObject({ state: "completed" });
  });
});

describe("a restart", () => {
  test("a restart runs queued tasks, fails running tasks, and repeats those with onInterrupt retry once", async () => {
    const { run, held } = createHeldRuntime();
    const first = await startEngine([createInMemoryAdapter({ run })], { maxConcurrent: () => 2 });
    await first.dispatcher.admitTask(newDispatch({ taskId: "fails", request: { callbackUrl: "http://127.0.0.1:9/" } }), caller);
    await first.dispatcher.admitTask(newDispatch({ taskId: "retries", request: { onInterrupt: "retry" } }), caller);
    await first.dispatcher.admitTask(newDispatch({ taskId: "waits" }), caller);
    await vi.waitFor(() => expect(held).toHaveLength(2));
    await first.stop();

    const second = await startEngine([createInMemoryAdapter()], { dataDir: first.dataDir });
    for (const taskId of ["retries", "waits"]) {
      const task = await second.store.findTask("default", taskId);
      expect(await second.dispatcher.waitForEnd(task as never, 60_000)).toMatchObject({ state: "completed" });
    }
    expect(await second.store.findTask("default", "fails")).toMatchObject({ state: "failed", result: { errorCode: "bridge_restarted" } });
    expect(second.callbacksDue).toEqual([{ tenant: "default", receiver: "http://127.0.0.1:9" }]);
    const seq = (await second.store.findTask("default", "retries"))?.seq ?? 0;
    const stored = (await second.store.readTaskEvents(seq, 0, 100, "execution")).map(({ type, data }) =>
      type === "execution.progress" ? data : type,
    );
    expect(stored).toEqual(["execution.started", '{"step":"held"}', '{"restarted":true}', "assistant.text", "execution.completed"]);
  });

  test("a restart ends the tool calls that were open in the interrupted run, once, before the task ends or runs again", async () => {
    const started: string[] = [];
    const run: Run = async ({ taskId }, emit, signal) => {
      emit("tool.invoked", { toolCallId: "1", toolName: "shell", input: {} });
      emit("tool.completed", { toolCallId: "1", toolName: "shell", output: "", isError: false });
      emit("tool.invoked", { toolCallId: "2", toolName: "shell", input: {} });
      started.push(taskId);
      await once(signal, "abort");
      return {};
    };
    const first = await startEngine([createInMemoryAdapter({ run })], { maxConcurrent: () => 2 });
    await first.dispatcher.admitTask(newDispatch({ taskId: "fails" }), caller);
    await first.dispatcher.admitTask(newDispatch({ taskId: "retries", request: { onInterrupt: "retry" } }), caller);
    await vi.waitFor(() => expect(started).toHaveLength(2));
    await first.stop();

    const second = await startEngine([createInMemoryAdapter()], { dataDir: first.dataDir });
    for (const taskId of ["fails", "retries"]) {
      const task = await second.store.findTask("default", taskId);
      await second.dispatcher.waitForEnd(task as never, 60_000);
      const stored = await second.store.readTaskEvents(task?.seq ?? 0, 0, 100, "execution");
      const ends = stored.filter(({ type }) => type === "tool.completed").map(({ data }) => JSON.parse(data));
      expect(ends).toMatchObject([
        { toolCallId: "1", isError: false },
        { toolCallId: "2", toolName: "shell", isError: true },
      ]);
      expect(stored.at(-1)?.type).toBe(taskId === "fails" ? "execution.failed" : "execution.completed");
    }
  });

  test("a restart ends the queued tasks of an adapter that is no longer loaded", async () => {
    const { run } = createHeldRuntime();
    const first = await startEngine([createInMemoryAdapter({ run, provider: "gone" })], { maxConcurrent: () => 1 });
    for (const taskId of ["a", "b"]) await first.dispatcher.admitTask(newDispatch({ taskId }), caller);
    await first.stop();
    const second = await startEngine([createInMemoryAdapter()], { dataDir: first.dataDir });
    expect(await second.store.findTask("default", "b")).toMatchObject({
      state: "failed",
      result: { errorCode: "adapter_offline", error: expect.stringContaining("gone is not loaded") },
    });
  });
});

describe("drain", () => {
  test("drain ends the waits for tasks that are still queued, when Bridge closes its port", async () => {
    const { run } = createHeldRuntime();
    const engine = await startEngine([createInMemoryAdapter({ run })], { maxConcurrent: () => 1, drainSeconds: 0 });
    await engine.dispatcher.admitTask(newDispatch({ taskId: "running" }), caller);
    const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId: "queued" }), caller);
    const waiting = engine.dispatcher.waitForEnd(task, 60_000, new AbortController().signal);
    await engine.dispatcher.drain();
    engine.dispatcher.endWaits();
    expect(await waiting).toMatchObject({ taskId: "queued", state: "queued" });
    expect(await engine.dispatcher.waitForEnd(task, 60_000)).toMatchObject({ state: "queued" });
  });

  test("drain rejects new tasks, lets running tasks end, and leaves queued tasks for the next start", async () => {
    const { run, held } = createHeldRuntime();
    const engine = await startEngine([createInMemoryAdapter({ run })], { maxConcurrent: () => 1, drainSeconds: 5 });
    const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId: "running" }), caller);
    await engine.dispatcher.admitTask(newDispatch({ taskId: "queued" }), caller);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    const drained = engine.dispatcher.drain();
    await expect(engine.dispatcher.admitTask(newDispatch({ taskId: "new" }), caller)).rejects.toMatchObject({ code: "draining" });
    expect(await engine.dispatcher.admitTask(newDispatch({ taskId: "queued" }), caller)).toMatchObject({ replayed: true });
    held[0]?.release();
    await drained;
    expect(await engine.dispatcher.waitForEnd(task, 0)).toMatchObject({ state: "completed" });
    expect(await engine.store.findTask("default", "queued")).toMatchObject({ state: "queued" });
  });

  test("drain stops tasks that do not end in time: they end as bridge_shutdown, or are queued again", async () => {
    const { run, held } = createHeldRuntime();
    const engine = await startEngine([createInMemoryAdapter({ run })], { drainSeconds: 0 });
    await engine.dispatcher.admitTask(newDispatch({ taskId: "fails" }), caller);
    await engine.dispatcher.admitTask(newDispatch({ taskId: "retries", request: { onInterrupt: "retry" } }), caller);
    await vi.waitFor(() => expect(held).toHaveLength(2));
    await engine.dispatcher.drain();
    expect(await engine.store.findTask("default", "fails")).toMatchObject({ state: "failed", result: { errorCode: "bridge_shutdown" } });
    expect(await engine.store.findTask("default", "retries")).toMatchObject({ state: "queued", restarts: 1 });
  });
});

describe("while the disk accepts no writes", () => {
  test("the temporary directory of a task is removed before its end is stored, because its files may fill the disk", async () => {
    const tmp = Promise.withResolvers<string>();
    const ended = Promise.withResolvers<Awaited<ReturnType<Run>>>();
    const run: Run = async ({ directories }) => {
      await mkdir(directories.tmp, { recursive: true });
      tmp.resolve(directories.tmp);
      return ended.promise;
    };
    const engine = await startEngine([createInMemoryAdapter({ run })]);
    await engine.dispatcher.admitTask(newDispatch({ taskId: "full" }), caller);
    const directory = await tmp.promise;
    const resumeWrites = await (await databaseOf(engine.dataDir)).stopWrites();
    ended.resolve({ status: "ok", output: "done", durationMs: 1, connection: "in-process" });
    await vi.waitFor(() => expect(existsSync(directory)).toBe(false));
    await resumeWrites();
    await vi.waitFor(async () => expect(await engine.store.findTask("default", "full")).toMatchObject({ state: "completed" }));
  });

  test("a rejected dispatch that found a free slot frees it", async () => {
    const engine = await startEngine([createInMemoryAdapter()], { maxConcurrent: () => 1 });
    const resumeWrites = await (await databaseOf(engine.dataDir)).stopWrites();
    await expect(engine.dispatcher.admitTask(newDispatch({ taskId: "new" }), caller)).rejects.toMatchObject({
      code: "storage_unavailable",
    });
    await resumeWrites();
    await vi.waitFor(() => expect(engine.dispatcher.load("memory")).toEqual({ running: 0, queued: 0, maxConcurrent: 1 }));
    const { task } = await vi.waitFor(() => engine.dispatcher.admitTask(newDispatch({ taskId: "new" }), caller));
    expect(await endOf(engine, task)).toMatchObject({ state: "completed" });
  });

  test("while the disk accepts no writes dispatches and cancellations are rejected immediately, a shutdown ends in time, and accepted tasks are kept", async () => {
    const { run, held } = createHeldRuntime();
    const engine = await startEngine([createInMemoryAdapter({ run })], { maxConcurrent: () => 1, lastWritesMs: 100 });
    for (const taskId of ["running", "queued"]) await engine.dispatcher.admitTask(newDispatch({ taskId }), caller);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    const resumeWrites = await (await databaseOf(engine.dataDir)).stopWrites();
    await expect(engine.dispatcher.admitTask(newDispatch({ taskId: "new" }), caller)).rejects.toMatchObject({
      code: "storage_unavailable",
    });
    expect(engine.dispatcher.load("memory")).toEqual({ running: 1, queued: 1, maxConcurrent: 1 });
    await expect(engine.dispatcher.cancel("default", "queued")).rejects.toMatchObject({ code: "storage_unavailable" });
    await engine.dispatcher.drain();
    await engine.stop();
    await resumeWrites();

    const next = await startEngine([createInMemoryAdapter()], { dataDir: engine.dataDir });
    expect(await next.store.findTask("default", "running")).toMatchObject({ state: "failed" });
    const queued = await next.store.findTask("default", "queued");
    expect(await next.dispatcher.waitForEnd(queued as never, 60_000)).toMatchObject({ state: "completed" });
  });
});

describe("child tasks", () => {
  test("child tasks are ordinary tasks, in the lane of their adapter", async () => {
    const engine = await startEngine([createCompositeAdapter(), createInMemoryAdapter()], { maxConcurrent: () => 1 });
    const traced = { ...caller, traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "congo=2" };
    const tasks = await Promise.all(
      ["a", "b", "c"].map((taskId) => engine.dispatcher.admitTask(newDispatch({ taskId, provider: "composite" }), traced)),
    );
    for (const { task } of tasks) expect(await endOf(engine, task)).toMatchObject({ result: { output: "child said hello" } });
    const [child] = await engine.store.listTasks({ tenant: "default", parentTaskId: "a" }, { before: null, limit: 10 });
    expect(await engine.store.findTask("default", child?.taskId ?? "")).toMatchObject({
      provider: "memory",
      state: "completed",
      agentId: "agent",
      request: { profile: "inspect" },
      traceparent: traced.traceparent,
      tracestate: "congo=2",
    });
  });

  test("child tasks are canceled with their parent", async () => {
    const { run, held } = createHeldRuntime();
    const engine = await startEngine([createCompositeAdapter(), createInMemoryAdapter({ run })]);
    const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId: "p", provider: "composite" }), caller);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    await engine.dispatcher.cancel("default", "p");
    expect(await engine.dispatcher.waitForEnd(task, 60_000)).toMatchObject({ state: "cancelled" });
    const [child] = await engine.store.listTasks({ tenant: "default", parentTaskId: "p" }, { before: null, limit: 10 });
    expect(child).toMatchObject({ state: "cancelled" });
  });

  test("child tasks end with their parent after a restart", async () => {
    const { run, held } = createHeldRuntime();
    // The composite adapter cannot shut down, because its child cannot end without the store.
    const first = await startEngine([createCompositeAdapter(), createInMemoryAdapter({ run })], { checkLimitMs: 1000 });
    await first.dispatcher.admitTask(newDispatch({ taskId: "p", provider: "composite" }), caller);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    await first.stop();
    const { store } = await startEngine([createCompositeAdapter(), createInMemoryAdapter()], { dataDir: first.dataDir });
    const [child] = await store.listTasks({ tenant: "default", parentTaskId: "p" }, { before: null, limit: 10 });
    for (const taskId of ["p", child?.taskId ?? ""])
      expect(await store.findTask("default", taskId)).toMatchObject({ state: "failed", result: { errorCode: "bridge_restarted" } });
  });

  test("child tasks have no more permissions than their parent, and cannot wait for the slot that it holds", async () => {
    const engine = await startEngine([createCompositeAdapter({ profile: "modify" }), createInMemoryAdapter()]);
    const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId: "p", provider: "composite" }), caller);
    await engine.dispatcher.waitForEnd(task, 60_000);
    const [child] = await engine.store.listTasks({ tenant: "default", parentTaskId: "p" }, { before: null, limit: 1 });
    expect(await engine.store.findTask("default", child?.taskId ?? "")).toMatchObject({ request: { profile: "inspect" } });

    const circular = await startEngine([createCompositeAdapter({ provider: "composite" })]);
    const { task: own } = await circular.dispatcher.admitTask(newDispatch(), caller);
    expect(await endOf(circular, own)).toMatchObject({
      state: "failed",
      result: { errorCode: "adapter_error", error: expect.stringContaining("slot") },
    });
  });

  test.each([
    [{ provider: "nobody" }, "adapter_offline", /nobody is not loaded.*BRIDGE_ADAPTERS/],
    [{ outputStrategy: { type: "structured", schema: { type: "nothing" } } }, "adapter_error", /JSON Schema.*outputStrategy\.schema/],
  ])("child tasks return the reason when they are rejected: %j", async (change, errorCode, error) => {
    const engine = await startEngine([createCompositeAdapter(change), createInMemoryAdapter()]);
    const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId: "p", provider: "composite" }), caller);
    expect(await endOf(engine, task)).toMatchObject({ result: { errorCode, error: expect.stringMatching(error) } });
  });
});
