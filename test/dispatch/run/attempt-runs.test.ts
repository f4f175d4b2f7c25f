import { writeFile } from "node:fs/promises";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import type { AdapterHealthStatus, ExecutionRequest, ExecutionResult } from "#contract";
import type { TaskRequest } from "../../../src/task.ts";
import { createInMemoryAdapter, type InMemoryAdapterOptions, type Run } from "../../adapters/in-memory-adapter.ts";
import { caller, endOf, newDispatch, startEngine } from "../engine.ts";
import { createHeldRuntime } from "../runtimes.ts";

const limited: Partial<ExecutionResult> = { status: "error", errorCode: "rate_limited", error: "429. Try again in 3 hours." };
const failed: Partial<ExecutionResult> = { status: "error", errorCode: "model_error", error: "It failed." };
const fallbacks = [{ provider: "second", model: "large" }];

type Engine = Awaited<ReturnType<typeof startEngine>>;

interface StartOptions extends NonNullable<Parameters<typeof startEngine>[1]>, Pick<InMemoryAdapterOptions, "capabilities"> {
  /** Adapters that are offline. */
  offline?: readonly string[];
}

/** Starts an engine with the adapters `first` and `second`. Retries follow at once. */
function start(first: Run, second: Run, { capabilities, offline = [], ...options }: StartOptions = {}) {
  const able = { sandboxing: true, reportsTools: true, ...capabilities };
  const adapters = Object.entries({ first, second }).map(([provider, run]) => {
    const adapter = createInMemoryAdapter({ provider, run, capabilities: able });
    const health: AdapterHealthStatus = { status: "offline", connection: null, version: null, detail: "It is down.", preflight: [] };
    return offline.includes(provider) ? { ...adapter, checkHealth: async () => health } : adapter;
  });
  return startEngine(adapters, { retryMs: 0, ...options });
}

const dispatch = async ({ dispatcher }: Engine, request: Partial<TaskRequest> = {}, taskId = "t") =>
  (await dispatcher.admitTask(newDispatch({ taskId, provider: "first", request: { fallbacks, ...request } }), caller)).task;

const run = async (engine: Engine, request: Partial<TaskRequest> = {}) => endOf(engine, await dispatch(engine, request));
const providersOf = (result: ExecutionResult | null) => result?.attempts?.map(({ provider, errorCode }) => [provider, errorCode]);
const typesOf = (engine: Engine, taskId = "t") => engine.eventsOf(taskId).map(({ type }) => type);

describe("the attempts of a task", () => {
  test("a task whose vendor rejects a call continues on its fallback, with one start, one end and the sum of the usage", async () => {
    const seen: Pick<ExecutionRequest, "taskId" | "model" | "message">[] = [];
    const engine = await start(
      async (request, emit) => {
        seen.push(request);
        emit("assistant.text", { content: "Half an" });
        for (const beganAt = Date.now(); Date.now() < beganAt + 20; ) await nextTurn();
        return { ...limited, usage: { inputTokens: 5, outputTokens: 1 }, costUsd: 0.5 };
      },
      async (request, emit) => {
        seen.push(request);
        emit("assistant.text", { content: "All." });
        return { output: "All.", model: "large-1", usage: { inputTokens: 7, outputTokens: 2 }, costUsd: 0.25 };
      },
    );
    const task = await run(engine, { model: "small" });
    expect(seen.map(({ taskId, model, message }) => [taskId, model, message])).toEqual([
      ["t", "small", "hello"],
      ["t", "large", "hello"],
    ]);
    expect(task).toMatchObject({ provider: "first", state: "completed" });
    expect(task.result).toMatchObject({ output: "All.", model: "large-1", costUsd: 0.75, usage: { inputTokens: 12, outputTokens: 3 } });
    expect(task.result?.conversationMessages?.map(({ content }) => content)).toEqual(["hello", "All."]);
    const ran = { number: 1, provider: "first", model: "small", startedAt: expect.any(String), usage: { inputTokens: 5, outputTokens: 1 } };
    expect(task.result?.attempts).toEqual([
      { ...ran, errorCode: "rate_limited", reason: limited.error, costUsd: 0.5 },
      {
        ...{ ...ran, number: 2, provider: "second", model: "large", usage: { inputTokens: 7, outputTokens: 2 } },
        ...{ errorCode: null, reason: null, costUsd: 0.25 },
      },
    ]);
    const [firstMs = 0, secondMs = 0] = task.result?.attempts?.map(({ startedAt }) => Date.parse(startedAt ?? "")) ?? [];
    // Tolerance: `startedAt` has whole milliseconds of the system clock; `durationMs` uses the monotonic clock.
    expect(task.result?.durationMs).toBeGreaterThan(secondMs - firstMs - 10);
    const { summary } = (await engine.store.findStoredTask("default", "t")) ?? {};
    expect(summary?.attempts).toEqual(task.result?.attempts);
    expect(typesOf(engine)).toEqual([
      ...["execution.started", "assistant.text", "assistant.text_discarded", "execution.attempt"],
      ...["assistant.text", "execution.completed"],
    ]);
    expect(engine.events.every(({ task: { provider } }) => provider === "first")).toBe(true);
    expect(engine.eventsOf("t").find(({ type }) => type === "execution.attempt")?.data).toEqual({
      ...{ number: 1, provider: "first", model: "small", errorCode: "rate_limited", reason: limited.error },
      next: { provider: "second", model: "large" },
    });
  });

  test("a rejected attempt that reports no usage does not make the usage of the task unknown", async () => {
    const engine = await start(
      async () => limited,
      async () => ({ output: "Done.", usage: { inputTokens: 7, outputTokens: 2 }, costUsd: 0.25 }),
    );
    expect((await run(engine)).result).toMatchObject({ usage: { inputTokens: 7, outputTokens: 2 }, costUsd: 0.25 });
  });

  test("the adapter is tried again as often as the dispatch allows, and then its fallback", async () => {
    let calls = 0;
    const engine = await start(
      async () => {
        calls += 1;
        return failed;
      },
      async () => ({ output: "Done." }),
    );
    const { result } = await run(engine, { retry: { max: 2, on: ["model_error"] } });
    expect(calls).toBe(3);
    expect(providersOf(result)).toEqual([...Array(3).fill(["first", "model_error"]), ["second", null]]);
    expect(typesOf(engine).filter((type) => type === "execution.started" || type === "execution.completed")).toHaveLength(2);
  });

  test("an error that the retries do not name, and a limit that ends in hours, are not retried", async () => {
    let calls = 0;
    const engine = await start(
      async () => {
        calls += 1;
        return limited;
      },
      async () => ({}),
    );
    const { fallbacks: _, ...alone } = { fallbacks, retry: { max: 2, on: ["rate_limited" as const] } };
    const task = await engine.dispatcher.admitTask(newDispatch({ taskId: "t", provider: "first", request: alone }), caller);
    expect(providersOf((await endOf(engine, task.task)).result)).toEqual([["first", "rate_limited"]]);
    expect(calls).toBe(1);
  });

  test.each<[string, Partial<ExecutionResult>]>([
    ["a crash of the runtime", { status: "error", errorCode: "runtime_crashed", error: "It crashed." }],
    ["an invalid output", { status: "error", errorCode: "output_invalid", error: "It is invalid." }],
  ])("nothing follows %s", async (_, result) => {
    const engine = await start(
      async () => result,
      async () => ({ output: "wrong" }),
    );
    const task = await run(engine);
    expect(task.result).toMatchObject({ errorCode: result.errorCode });
    expect(providersOf(task.result)).toEqual([["first", result.errorCode]]);
  });

  test.each<[string, Run, object, boolean]>([
    ["that has done nothing", async () => limited, {}, true],
    ["whose runtime reports its tools too late", async () => limited, { capabilities: { reportsTools: false } }, false],
    [
      "that has called a tool",
      async (_, emit) => {
        emit("tool.invoked", { toolCallId: "1", toolName: "shell", input: {} });
        emit("tool.completed", { toolCallId: "1", toolName: "shell", output: "", isError: false });
        return limited;
      },
      {},
      false,
    ],
    [
      "that has written a file",
      async ({ directories }) => {
        await writeFile(path.join(directories.workspace, "a.txt"), "a");
        return limited;
      },
      {},
      false,
    ],
  ])("a task with the profile modify %s may continue on a fallback or not", async (_, first, options, follows) => {
    const engine = await start(first, async () => ({ output: "Done." }), options);
    const files = [{ path: "given.txt", content: "given" }];
    expect(providersOf((await run(engine, { profile: "modify", files })).result)).toEqual([
      ["first", "rate_limited"],
      ...(follows ? [["second", null]] : []),
    ]);
  });

  test("a task that may only read on a runtime that does not enforce it continues on a fallback if it has done nothing", async () => {
    const engine = await start(
      async () => limited,
      async () => ({ output: "Done." }),
      { capabilities: { sandboxing: false } },
    );
    expect((await run(engine)).result?.output).toBe("Done.");
  });

  test("a task waits for a slot of its fallback, without keeping its own, and can be canceled meanwhile", async () => {
    const { run: held, held: running } = createHeldRuntime();
    const engine = await start(async ({ taskId }) => (taskId === "next" ? { output: "Next." } : limited), held, { maxConcurrent: () => 1 });
    const busy = await engine.dispatcher.admitTask(newDispatch({ taskId: "busy", provider: "second" }), caller);
    await vi.waitFor(() => expect(running).toHaveLength(1));
    const waiting = await dispatch(engine, {}, "waiting");
    await vi.waitFor(() => expect(typesOf(engine, "waiting")).toContain("execution.attempt"));
    const canceled = await dispatch(engine, {}, "canceled");
    await vi.waitFor(() => expect(typesOf(engine, "canceled")).toContain("execution.attempt"));
    expect([engine.dispatcher.load("first").running, engine.dispatcher.load("second").running]).toEqual([0, 1]);
    const next = await engine.dispatcher.admitTask(newDispatch({ taskId: "next", provider: "first" }), caller);
    expect((await endOf(engine, next.task)).result?.output).toBe("Next.");
    await engine.dispatcher.cancel("default", "canceled");
    expect((await endOf(engine, canceled)).state).toBe("cancelled");
    running[0]?.release();
    await endOf(engine, busy.task);
    await vi.waitFor(() => expect(running).toHaveLength(2));
    running[1]?.release();
    expect((await endOf(engine, waiting)).result?.output).toBe("did waiting");
    await vi.waitFor(() => expect(engine.dispatcher.load("second").running).toBe(0));
  });

  test("a task starts on its fallback while its adapter cools down, and on its adapter if both do", async () => {
    const runs: string[] = [];
    const engine = await start(
      async ({ taskId }) => {
        runs.push(`first ${taskId}`);
        return taskId === "last" ? { output: "It works again." } : limited;
      },
      async ({ taskId }) => {
        runs.push(`second ${taskId}`);
        return taskId === "limited" ? limited : { output: "Done." };
      },
    );
    await endOf(engine, await dispatch(engine, {}, "a"));
    const { result } = await endOf(engine, await dispatch(engine, {}, "b"));
    expect(result?.attempts).toEqual([
      expect.objectContaining({
        provider: "first",
        startedAt: null,
        errorCode: null,
        reason: expect.stringMatching(/^first cools down until /),
      }),
      expect.objectContaining({ provider: "second", number: 2, errorCode: null }),
    ]);
    await endOf(engine, await dispatch(engine, {}, "limited"));
    expect((await endOf(engine, await dispatch(engine, {}, "last"))).result?.output).toBe("It works again.");
    expect(runs).toEqual(["first a", "second a", "second b", "second limited", "first last"]);
  });

  test("the session of a resume token forbids other adapters", async () => {
    const engine = await start(
      async ({ resumeToken }) => (resumeToken === undefined ? { output: "Done.", resumeToken: "session" } : limited),
      async () => ({ output: "wrong" }),
    );
    await endOf(engine, await dispatch(engine, {}, "a"));
    const { result } = await endOf(engine, await dispatch(engine, { resumeToken: "session" }, "b"));
    expect(result?.errorCode).toBe("rate_limited");
    expect(result?.attempts?.map(({ provider, reason }) => [provider, reason])).toEqual([
      ["first", limited.error],
      ["second", "The session of the resume token belongs to first."],
    ]);
  });

  test("a dispatch whose adapter is offline is accepted for its first fallback that is not", async () => {
    const engine = await start(
      async () => ({ output: "wrong" }),
      async ({ model }) => ({ output: `Done by ${model}.` }),
      { offline: ["first"] },
    );
    const task = await run(engine, { model: "small" });
    expect(task).toMatchObject({ provider: "second", state: "completed", result: { output: "Done by large." } });
    expect(task.result?.attempts?.map(({ provider, model, startedAt, reason }) => [provider, model, startedAt !== null, reason])).toEqual([
      ["first", "small", false, expect.stringMatching(/^The adapter first is offline/)],
      ["second", "large", true, null],
    ]);
    expect(typesOf(engine).slice(0, 2)).toEqual(["execution.started", "execution.attempt"]);
  });

  test("the time limit is one for all attempts", async () => {
    const engine = await start(
      async () => limited,
      async (_, __, signal) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return {};
      },
    );
    const { result } = await run(engine, { timeoutSeconds: 1 });
    expect(result?.errorCode).toBe("timeout");
    expect(providersOf(result)).toEqual([
      ["first", "rate_limited"],
      ["second", "timeout"],
    ]);
  });
});
