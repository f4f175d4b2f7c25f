import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import type { AdapterConfig, ExecutionAdapter, ExecutionResult, OutputStrategy } from "#contract";
import type { TaskRequest } from "../../../src/task.ts";
import { createInMemoryAdapter, type Run } from "../../adapters/in-memory-adapter.ts";
import { scaled } from "../../harness/machine.ts";
import { caller, endOf, newDispatch, startEngine } from "../engine.ts";

const untilCancelled: Run = async (_request, emit, signal) => {
  emit("execution.progress", { step: "works" });
  await once(signal, "abort");
  return {};
};

describe("a task ends and releases its slot although its adapter violates the contract:", () => {
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;

  test.each<[string, Run]>([
    ["a result with a bigint", async () => ({ outputs: { count: 10n } })],
    ["a circular result", async () => ({ outputs: circular })],
    ["messages that are not JSON", async () => ({ conversationMessages: [{ role: "assistant", content: "", toolCalls: [call] }] })],
  ])("%s", async (_, run) => {
    const engine = await startEngine([createInMemoryAdapter({ run })]);
    const { task } = await engine.dispatcher.admitTask(
      newDispatch({ taskId: "t", request: { callbackUrl: "http://127.0.0.1:9/" } }),
      caller,
    );
    expect(await endOf(engine, task)).toMatchObject({
      state: "failed",
      result: { errorCode: "adapter_error", error: "The adapter's result cannot be stored." },
    });
    await vi.waitFor(() => expect(engine.dispatcher.load("memory")).toMatchObject({ running: 0, queued: 0 }));
    expect(engine.eventsOf("t").map(({ type }) => type)).toEqual(["execution.started", "execution.failed"]);
    expect(engine.callbacksDue).toHaveLength(1);
  });
  const call = { toolCallId: "1", toolName: "count", input: 10n };

  test("an event that is not JSON", async () => {
    const run: Run = async (_request, emit) => {
      emit("tool.invoked", { toolCallId: "1", toolName: "count", input: 10n });
      emit("tool.completed", { toolCallId: "1", toolName: "count", output: circular, isError: false });
      return { output: "done" };
    };
    const engine = await startEngine([createInMemoryAdapter({ run })]);
    const { task } = await engine.dispatcher.admitTask(newDispatch(), caller);
    expect(await endOf(engine, task)).toMatchObject({ state: "completed", result: { output: "done" } });
  });

  test.each<[string, () => Promise<boolean>]>([
    ["throws instead of rejecting", () => fail("cancel")],
    ["returns no promise", () => undefined as never],
    ["rejects", () => Promise.reject(new Error("cancel"))],
    ["never settles", () => new Promise(() => {})],
  ])("a cancel function that %s", async (_, cancel) => {
    const inner = createInMemoryAdapter({ run: untilCancelled });
    const stop = (handle: string) => {
      void inner.cancel(handle);
      return cancel();
    };
    const engine = await startEngine([{ ...inner, cancel: stop }]);
    const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId: "t" }), caller);
    await vi.waitFor(() => expect(engine.eventsOf("t")).toHaveLength(2));
    await engine.dispatcher.cancel("default", "t");
    expect(await engine.dispatcher.waitForEnd(task, 60_000)).toMatchObject({ state: "cancelled" });
    await vi.waitFor(() => expect(engine.dispatcher.load("memory")).toMatchObject({ running: 0 }));
  });

  test("capabilities that throw when the task starts", async () => {
    const inner = createInMemoryAdapter();
    let asked = 0;
    const engine = await startEngine([{ ...inner, capabilities: () => (++asked === 1 ? inner.capabilities() : fail("capabilities")) }], {
      idleSeconds: 60,
    });
    const { task } = await engine.dispatcher.admitTask(newDispatch(), caller);
    expect(await endOf(engine, task)).toMatchObject({ state: "failed", result: { errorCode: "adapter_error" } });
    await vi.waitFor(() => expect(engine.dispatcher.load("memory")).toMatchObject({ running: 0 }));
  });
});

describe("a task with an output schema whose runtime calls a tool of the dispatch", () => {
  const tools = [{ name: "ask_user", description: "Asks.", inputSchema: { type: "object" } }];
  const request = {
    tools,
    outputStrategy: { type: "structured" as const, schema: { type: "object", required: ["answer"], properties: { answer: {} } } },
  };

  test.each([
    [
      "ends with the call: the answer comes after its result",
      { toolCalls: [{ toolCallId: "1", toolName: "ask_user", input: {} }] },
      "completed",
    ],
    ["is not excused for calls of other tools", { toolCalls: [{ toolCallId: "1", toolName: "shell", input: {} }] }, "failed"],
    ["is not excused for no call", { toolCalls: [] }, "failed"],
    ["is checked if there are other outputs", { toolCalls: [{ toolCallId: "1", toolName: "ask_user" }], other: 1 }, "failed"],
  ])("%s", async (_, outputs, state) => {
    const engine = await startEngine([createInMemoryAdapter({ run: async () => ({ output: "", outputs }) })]);
    const { task } = await engine.dispatcher.admitTask(newDispatch({ request }), caller);
    expect(await endOf(engine, task)).toMatchObject({
      state,
      result: state === "completed" ? { outputs } : { errorCode: "output_invalid" },
    });
  });
});

describe("the conversation of a task ends with the assistant's message", () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const structured = { type: "structured", schema } as const;
  const fenced = 'Here:\n```json\n{"n": 1}\n```';

  async function endWith(run: Run, outputStrategy: OutputStrategy = { type: "stream" }) {
    const engine = await startEngine([createInMemoryAdapter({ run, capabilities: { streaming: false } })]);
    const { task } = await engine.dispatcher.admitTask(newDispatch({ request: { outputStrategy } }), caller);
    const { result } = await endOf(engine, task);
    const [question, ...messages] = result?.conversationMessages ?? [];
    expect(question?.role).toBe("user");
    return { output: result?.output, errorCode: result?.errorCode, messages };
  }
  const assistantMessage = (content: string) => ({ role: "assistant", content });

  test("if no event contained it", async () => {
    expect(await endWith(async () => ({ output: "Done." }))).toMatchObject({ output: "Done.", messages: [assistantMessage("Done.")] });
  });

  test("unchanged, if `output` is the object in it", async () => {
    expect(await endWith(async () => ({ output: fenced }), structured)).toMatchObject({
      output: '{"n": 1}',
      messages: [assistantMessage(fenced)],
    });
  });

  test("the conversation of a task ends with the assistant's message and the object, if the runtime reports it separately", async () => {
    const run: Run = async (_request, emit) => {
      emit("assistant.text", { content: "I answer." });
      return { output: "I answer.", outputs: { n: 1 } };
    };
    expect(await endWith(run, structured)).toMatchObject({
      output: '{"n":1}',
      messages: [assistantMessage("I answer."), assistantMessage('{"n":1}')],
    });
  });

  test("unchanged, if `output` is a file", async () => {
    const run: Run = async ({ directories }) => {
      await writeFile(path.join(directories.workspace, "r.md"), "the file");
      return { output: "Written." };
    };
    expect(await endWith(run, { type: "file", path: "r.md" })).toMatchObject({
      output: "the file",
      messages: [assistantMessage("Written.")],
    });
  });

  test("unchanged, if it does not match the schema", async () => {
    expect(await endWith(async () => ({ output: "No." }), structured)).toMatchObject({
      output: "No.",
      errorCode: "output_invalid",
      messages: [assistantMessage("No.")],
    });
  });

  test("the conversation of a task ends with the assistant's message as the adapter reports it", async () => {
    const conversationMessages = [
      { role: "user" as const, content: "hello" },
      { role: "assistant" as const, content: "Own." },
    ];
    expect(await endWith(async () => ({ output: "Done.", conversationMessages }))).toMatchObject({ messages: [assistantMessage("Own.")] });
  });
});

describe("a tool call whose end the runtime does not report", () => {
  const call = { toolCallId: "1", toolName: "shell", input: {} };
  const noEnd = {
    type: "tool.completed",
    data: {
      toolCallId: "1",
      toolName: "shell",
      output: "The task ended before the runtime reported the end of this call.",
      isError: true,
    },
  };
  const hang: Run = async (_request, emit, signal) => {
    emit("tool.invoked", call);
    await once(signal, "abort");
    // Too late: the end of the task is decided.
    emit("tool.completed", { toolCallId: "1", toolName: "shell", output: "killed", isError: true });
    return {};
  };

  test.each<[string, Run, Partial<TaskRequest>, "failed" | "completed"]>([
    ["a timeout", hang, { timeoutSeconds: 1 }, "failed"],
    [
      "a failure",
      async (_request, emit) => {
        emit("tool.invoked", call);
        return { status: "error", errorCode: "runtime_crashed", error: "It crashed." };
      },
      {},
      "failed",
    ],
    [
      "a bug of the adapter",
      async (_request, emit) => {
        emit("tool.invoked", call);
        return fail("a bug");
      },
      {},
      "failed",
    ],
    [
      "a success",
      async (_request, emit) => {
        emit("tool.invoked", call);
        return { output: "Done." };
      },
      {},
      "completed",
    ],
  ])("a tool call whose end the runtime does not report ends after %s, before the end of the task", async (_, run, request, state) => {
    const engine = await startEngine([createInMemoryAdapter({ run })]);
    const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId: "t", request }), caller);
    const ended = await endOf(engine, task);
    expect(ended.state).toBe(state);
    expect(engine.eventsOf("t").slice(1, -1)).toEqual([{ type: "tool.invoked", data: call }, noEnd]);
    expect(ended.result?.conversationMessages).toContainEqual({ role: "tool", toolCallId: "1", content: noEnd.data.output });
  });

  test("a tool call whose end the runtime does not report ends after a cancellation", async () => {
    const engine = await startEngine([createInMemoryAdapter({ run: hang })]);
    const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId: "t" }), caller);
    await vi.waitFor(() => expect(engine.eventsOf("t")).toHaveLength(2));
    await engine.dispatcher.cancel("default", "t");
    expect((await endOf(engine, task)).state).toBe("cancelled");
    expect(engine.eventsOf("t").slice(1, -1)).toEqual([{ type: "tool.invoked", data: call }, noEnd]);
  });

  test("a tool call whose end the runtime does not report ends before the task runs again after an interruption of Bridge", async () => {
    const engine = await startEngine([createInMemoryAdapter({ run: hang })]);
    await engine.dispatcher.admitTask(newDispatch({ taskId: "t", request: { onInterrupt: "retry" } }), caller);
    await vi.waitFor(() => expect(engine.eventsOf("t")).toHaveLength(2));
    await engine.dispatcher.drain();
    await vi.waitFor(() => expect(engine.eventsOf("t").slice(1, 3)).toEqual([{ type: "tool.invoked", data: call }, noEnd]));
  });

  test("a tool call whose end the runtime does not report stays open if the caller executes the call after the task", async () => {
    const run: Run = async (_request, emit) => {
      emit("tool.invoked", { ...call, toolName: "ask_user" });
      emit("tool.invoked", { ...call, toolCallId: "2" });
      return { outputs: { toolCalls: [{ toolCallId: "1", toolName: "ask_user", input: {} }] } };
    };
    const engine = await startEngine([createInMemoryAdapter({ run })]);
    const tools = [{ name: "ask_user", description: "Asks.", inputSchema: { type: "object" } }];
    const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId: "t", request: { tools } }), caller);
    await endOf(engine, task);
    expect(engine.eventsOf("t").slice(3, -1)).toEqual([{ ...noEnd, data: { ...noEnd.data, toolCallId: "2" } }]);
  });
});

describe("a runtime that is silent", () => {
  const idleSeconds = scaled(100) / 1000;

  test.each([
    ["in a tool call", (ask: (provider: string) => Promise<ExecutionResult>) => ask("memory"), "memory"],
    ["while a child task is in a tool call", async (ask: (provider: string) => Promise<ExecutionResult>) => ask("memory"), "top"],
  ])("%s is not idle", async (_, relay, provider) => {
    let idleChecks = 0;
    const run: Run = async (_request, emit, signal) => {
      emit("tool.invoked", { toolCallId: "1", toolName: "shell", input: {} });
      // A second task that is really idle shows that the limit has passed several times.
      while (idleChecks < 3 && !signal.aborted) await delay(1);
      emit("tool.completed", { toolCallId: "1", toolName: "shell", output: "built", isError: false });
      return { output: "Built." };
    };
    const idle = createInMemoryAdapter({ provider: "idle", run: untilCancelled });
    const engine = await startEngine(
      [composite("top", async (ask) => ({ output: (await relay(ask)).output ?? "" })), createInMemoryAdapter({ run }), idle],
      { idleSeconds },
    );
    const { task } = await engine.dispatcher.admitTask(newDispatch({ provider }), caller);
    for (; idleChecks < 3; idleChecks += 1) {
      const { task: silent } = await engine.dispatcher.admitTask(newDispatch({ provider: "idle" }), caller);
      expect((await endOf(engine, silent)).result?.errorCode).toBe("idle_timeout");
    }
    expect(await endOf(engine, task)).toMatchObject({ state: "completed", result: { output: "Built." } });
  });

  test("a runtime that is silent in a tool call ends with the timeout of the task, which names the last warning", async () => {
    const run: Run = async (_request, emit, signal) => {
      emit("tool.invoked", { toolCallId: "1", toolName: "shell", input: {} });
      emit("execution.progress", { warning: "Reconnecting... 1/5 (429 Too Many Requests)" });
      await once(signal, "abort");
      return {};
    };
    const engine = await startEngine([createInMemoryAdapter({ run })], { idleSeconds });
    const { task } = await engine.dispatcher.admitTask(newDispatch({ request: { timeoutSeconds: 1 } }), caller);
    expect((await endOf(engine, task)).result).toMatchObject({
      errorCode: "timeout",
      error: "The task took longer than 1 s. The last warning of the runtime: Reconnecting... 1/5 (429 Too Many Requests)",
    });
  });

  test("after a tool call has ended is idle, and a warning from before the call is not its reason", async () => {
    const run: Run = async (_request, emit, signal) => {
      emit("execution.progress", { warning: "Unknown model." });
      emit("tool.invoked", { toolCallId: "1", toolName: "shell", input: {} });
      emit("tool.completed", { toolCallId: "1", toolName: "shell", output: "", isError: false });
      await once(signal, "abort");
      return {};
    };
    const engine = await startEngine([createInMemoryAdapter({ run })], { idleSeconds });
    const { task } = await engine.dispatcher.admitTask(newDispatch(), caller);
    expect((await endOf(engine, task)).result).toMatchObject({
      errorCode: "idle_timeout",
      error: `The runtime emitted no event for ${idleSeconds} s.`,
    });
  });
});

test("a file output that the task did not write is output_invalid, and one that it wrote is the output", async () => {
  const run: Run = async ({ directories, message }) => {
    if (message.startsWith("write")) await writeFile(path.join(directories.workspace, "r.md"), "Report of Monday");
    return { output: "There is no report today." };
  };
  const engine = await startEngine([createInMemoryAdapter({ run })]);
  const outputStrategy = { type: "file", path: "r.md" } as const;
  const results = [];
  for (const message of ["write", "look"]) {
    const { task } = await engine.dispatcher.admitTask(newDispatch({ request: { message, outputStrategy } }), caller);
    results.push((await endOf(engine, task)).result);
  }
  expect(results).toMatchObject([
    { status: "ok", output: "Report of Monday" },
    { status: "error", errorCode: "output_invalid", output: "There is no report today." },
  ]);
});

test("a file output that the first run of a task wrote is its output when the task runs again", async () => {
  const written = Promise.withResolvers<void>();
  const run: Run = async ({ directories }, _emit, signal) => {
    await writeFile(path.join(directories.workspace, "r.md"), "Report of Monday");
    written.resolve();
    await once(signal, "abort");
    return {};
  };
  const first = await startEngine([createInMemoryAdapter({ run })], { drainSeconds: 0 });
  const request = { ...newDispatch().request, onInterrupt: "retry", outputStrategy: { type: "file", path: "r.md" } } as const;
  const { task } = await first.dispatcher.admitTask(newDispatch({ request }), caller);
  await written.promise;
  await first.dispatcher.drain();
  await first.stop();
  const second = await startEngine([createInMemoryAdapter({ run: async () => ({ output: "It is complete." }) })], {
    dataDir: first.dataDir,
  });
  expect((await endOf(second, task)).result).toMatchObject({ status: "ok", output: "Report of Monday" });
});

test("a cost has no digits that binary fractions add", async () => {
  const engine = await startEngine([createInMemoryAdapter({ run: async () => ({ costUsd: 0.1 + 0.2 }) })]);
  const { task } = await engine.dispatcher.admitTask(newDispatch(), caller);
  expect((await endOf(engine, task)).result?.costUsd).toBe(0.3);
});

describe("a parent task", () => {
  test("a parent task that was canceled starts no more children while its runtime still runs", async () => {
    const answers: ExecutionResult[] = [];
    const parent = composite("parent", async (ask) => {
      for (let round = 0; round < 3; round += 1) answers.push(await ask("memory"));
      return {};
    });
    const engine = await startEngine([parent, createInMemoryAdapter({ run: untilCancelled })]);
    const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId: "p", provider: "parent" }), caller);
    await vi.waitFor(() => expect(engine.dispatcher.load("memory").running).toBe(1));
    await engine.dispatcher.cancel("default", "p");
    expect(await engine.dispatcher.waitForEnd(task, 60_000)).toMatchObject({ state: "cancelled" });
    await vi.waitFor(() => expect(answers).toHaveLength(3));
    expect(answers.map(({ errorCode }) => errorCode)).toEqual(["cancelled", "cancelled", "cancelled"]);
    expect(await engine.store.listTasks({ tenant: "default", parentTaskId: "p" }, { before: null, limit: 10 })).toHaveLength(1);
  });

  test("a parent task is not idle while its children's children emit events", async () => {
    const chatter: Run = async (_request, emit) => {
      for (let step = 0; step < 8; step += 1) {
        emit("execution.progress", { step });
        await delay(scaled(50));
      }
      return { output: "long" };
    };
    const relay = (provider: string, next: string) => composite(provider, async (ask) => ({ output: (await ask(next)).output ?? "" }));
    const engine = await startEngine([relay("top", "middle"), relay("middle", "memory"), createInMemoryAdapter({ run: chatter })], {
      idleSeconds: scaled(200) / 1000,
    });
    const { task } = await engine.dispatcher.admitTask(newDispatch({ provider: "top" }), caller);
    expect(await endOf(engine, task)).toMatchObject({ state: "completed", result: { output: "long" } });
  });
});

/** Holds the inserts of tasks after their commit until the gate opens. Resolves when the first one is stored. */
function holdInserts({ store }: Pick<Awaited<ReturnType<typeof startEngine>>, "store">, gate: Promise<void>): Promise<void> {
  const insert = store.insertTaskIfAbsent;
  const stored = Promise.withResolvers<void>();
  vi.spyOn(store, "insertTaskIfAbsent").mockImplementation(async (...given) => {
    const inserted = await insert(...given);
    stored.resolve();
    await gate;
    return inserted;
  });
  return stored.promise;
}

test("a drain waits for a task that is being stored as running", async () => {
  const engine = await startEngine([createInMemoryAdapter()], { drainSeconds: 5 });
  const gate = Promise.withResolvers<void>();
  const stored = holdInserts(engine, gate.promise);
  const admitted = engine.dispatcher.admitTask(newDispatch({ taskId: "t" }), caller);
  await stored;
  expect(await engine.store.findTask("default", "t")).toMatchObject({ state: "running" });
  const drained = engine.dispatcher.drain();
  gate.resolve();
  await drained;
  await admitted;
  expect(await engine.store.findTask("default", "t")).toMatchObject({ state: "completed" });
});

test("a drain whose time limit has passed ends a task that is being stored as running, and does not start its runtime", async () => {
  const messages: string[] = [];
  const gate = Promise.withResolvers<void>();
  const run: Run = async ({ message }, emit, signal) => {
    messages.push(message);
    emit("execution.progress", { step: "works" });
    await once(signal, "abort");
    // The drain has stopped this run, and the insert of the other task is still in progress.
    gate.resolve();
    return {};
  };
  const engine = await startEngine([createInMemoryAdapter({ run })], { drainSeconds: 0 });
  await engine.dispatcher.admitTask(newDispatch({ taskId: "running", request: { message: "running" } }), caller);
  await vi.waitFor(() => expect(messages).toHaveLength(1));
  const stored = holdInserts(engine, gate.promise);
  const admitted = engine.dispatcher.admitTask(newDispatch({ taskId: "t" }), caller);
  await stored;
  await engine.dispatcher.drain();
  await admitted;
  expect(await engine.store.findTask("default", "t")).toMatchObject({ state: "failed", result: { errorCode: "bridge_shutdown" } });
  expect(messages).toEqual(["running"]);
});

test("a drain waits for a task whose claim is in progress", async () => {
  const engine = await startEngine([createInMemoryAdapter()], { drainSeconds: 5, maxConcurrent: () => 1 });
  const claim = engine.store.startNextTaskIfQueued;
  const gate = Promise.withResolvers<void>();
  const claimed = vi.spyOn(engine.store, "startNextTaskIfQueued").mockImplementation(async (...given) => {
    const task = await claim(...given);
    await gate.promise;
    return task;
  });
  for (const taskId of ["first", "t"]) await engine.dispatcher.admitTask(newDispatch({ taskId }), caller);
  await vi.waitFor(() => expect(claimed).toHaveBeenCalledTimes(1));
  const drained = engine.dispatcher.drain();
  gate.resolve();
  await drained;
  expect(await engine.store.findTask("default", "t")).toMatchObject({ state: "completed" });
});

/** A runtime that runs child tasks and ignores its cancellation. */
function composite(
  provider: string,
  run: (ask: (provider: string) => Promise<ExecutionResult>) => Promise<Partial<ExecutionResult>>,
): ExecutionAdapter {
  let config: AdapterConfig | undefined;
  const adapter = createInMemoryAdapter({
    provider,
    run: ({ taskId }) => run((next) => config?.runChild({ parentTaskId: taskId, provider: next, message: "go" }) ?? fail("no config")),
  });
  return {
    ...adapter,
    async initialize(given) {
      config = given;
      await adapter.initialize(given);
    },
  };
}

function fail(what: string): never {
  throw new Error(what);
}

describe("a task with files", () => {
  const files = Array.from({ length: 20 }, (_, index) => ({ path: `in/${index}.txt`, content: `${index}` }));

  test("a task with files that is canceled while they are written does not start its runtime", async () => {
    let starts = 0;
    const run: Run = async () => {
      starts += 1;
      return {};
    };
    const engine = await startEngine([createInMemoryAdapter({ run })]);
    for (let round = 0; round < 20; round += 1) {
      const taskId = `t${round}`;
      const { task } = await engine.dispatcher.admitTask(newDispatch({ taskId, request: { files } }), caller);
      // After this number of turns, the writes have started and have not ended.
      while ((await engine.store.findTaskProgress("default", taskId))?.state === "queued") await delay(0);
      const before = starts;
      const { changed } = await engine.dispatcher.cancel("default", taskId);
      const { state } = await engine.dispatcher.waitForEnd(task, 5_000);
      expect([changed, state]).toEqual([true, "cancelled"]);
      // The runtime may have started before the cancellation, but not after it.
      const atCancel = starts;
      await vi.waitFor(() => expect(engine.dispatcher.load("memory")).toMatchObject({ running: 0 }));
      expect({ round, before, starts }).toEqual({ round, before, starts: atCancel });
    }
    expect(starts).toBeLessThan(20);
  });
});
