import { mkdir, utimes, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { AdapterConfig, AdapterEvent, ExecutionRequest } from "#contract";
import type { ConnectionResult, ProgramConnection, ProgramTask } from "../../../../adapters/shared/agent-program/agent-program.ts";
import { createProgramAdapter } from "../../../../adapters/shared/agent-program/create-program-adapter.ts";
import { createAdapterConfig } from "../../../conformance/adapter-config.ts";
import { createExecutionRequest } from "../../../conformance/execution-request.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { scriptedConnection, scriptedProgram } from "./scripted-program.ts";

async function openAdapter(connections: ProgramConnection[], config: Partial<AdapterConfig> = {}) {
  const root = await temporaryDirectory();
  const adapter = createProgramAdapter(scriptedProgram(...connections));
  const events: AdapterEvent[] = [];
  adapter.onEvent((event) => events.push(event));
  onTestFinished(() => adapter.shutdown());
  const initialize = () => adapter.initialize(createAdapterConfig(root, { env: { PATH: process.env["PATH"] }, ...config }));
  const request = (changes: Partial<ExecutionRequest> = {}) => createExecutionRequest(root, { message: "hello", ...changes });
  return { adapter, events, root, initialize, request };
}

/** A connection whose tasks run a function of the test. */
const doing = (execute: (task: ProgramTask) => Promise<ConnectionResult>, changes: Parameters<typeof scriptedConnection>[0] = {}) =>
  scriptedConnection({ ...changes, execute });

describe("the connection of a task", () => {
  test("the connection of a task is the first one that supports it", async () => {
    const first = scriptedConnection({ name: "acp", unsupportedReason: ({ resumeToken }) => (resumeToken === undefined ? null : "no") });
    const { adapter, initialize, request } = await openAdapter([first, scriptedConnection()]);
    await initialize();
    const speak = { metadata: { does: "echo-message" } };
    expect((await adapter.execute(request(speak))).connection).toBe("acp");
    expect((await adapter.execute(request({ ...speak, taskId: "t2", resumeToken: "s" }))).connection).toBe("cli");
  });

  test("the connection of a task is missing if none supports the task, which then fails with the reasons", async () => {
    const { adapter, initialize, request } = await openAdapter([scriptedConnection({ unsupportedReason: () => "it is too small." })]);
    await initialize();
    expect(await adapter.execute(request())).toMatchObject({
      status: "error",
      errorCode: "adapter_error",
      error: expect.stringContaining("cli: it is too small."),
    });
  });

  test("the connection of a task supports approvals if the task needs them; a task with inspect does not need them", async () => {
    const withoutApprovals = scriptedConnection({ unsupportedReason: () => null });
    const asking = scriptedConnection({
      name: "acp",
      capabilities: { approvals: true },
      unsupportedReason: ({ resumeToken }) => (resumeToken === undefined ? null : "it cannot resume."),
    });
    const { adapter, initialize, request } = await openAdapter([withoutApprovals, asking]);
    await initialize();
    expect(adapter.capabilities()).toMatchObject({ approvals: true });
    const run = (changes: Partial<ExecutionRequest>) =>
      adapter.execute(request({ metadata: { does: "echo-message" }, approvals: "ask", ...changes }));
    expect(await run({})).toMatchObject({ status: "ok", connection: "acp" });
    expect(await run({ profile: "inspect", resumeToken: "s" })).toMatchObject({ status: "ok", connection: "cli" });
    expect(await run({ resumeToken: "s" })).toMatchObject({
      errorCode: "adapter_error",
      error: expect.stringMatching(
        /cli: this connection does not support approvals\. Set `approvals` to "deny" or "allow"\. acp: it cannot resume\./,
      ),
    });
  });

  test("the connection of a task counts for the approvals capability only if it is usable", async () => {
    const asking = scriptedConnection({ name: "acp", capabilities: { approvals: true }, find: () => ({ missing: "install it." }) });
    const { adapter, initialize, request } = await openAdapter([scriptedConnection(), asking]);
    await initialize();
    expect(adapter.capabilities()).toMatchObject({ approvals: false });
    expect(await adapter.execute(request({ approvals: "ask" }))).toMatchObject({ error: expect.stringContaining("acp: install it.") });
  });

  test("the connection of a task decides the capabilities of the adapter", async () => {
    const missing = scriptedConnection({ name: "acp", find: () => ({ missing: "install it" }), capabilities: { costTracking: true } });
    const { adapter, initialize } = await openAdapter([missing, scriptedConnection({ capabilities: { costTracking: false } })]);
    expect(adapter.capabilities().costTracking).toBe(true);
    await initialize();
    expect(adapter.capabilities().costTracking).toBe(false);
  });
});

describe("the output of a task", () => {
  const say = (text: string, ending: ConnectionResult) =>
    doing(async ({ timeline }) => {
      timeline.appendText(text);
      return ending;
    });
  const cancelled = { status: "error", errorCode: "cancelled", error: "Stopped." } as const;
  const unfit = { status: "error", errorCode: "output_invalid", error: "No object." } as const;
  const failed = { status: "error", errorCode: "model_error", error: "No such model." } as const;

  test.each<[string, string, ConnectionResult, string | undefined]>([
    ["the streamed text", "Said.", { status: "ok" }, "Said."],
    ["the output that the runtime reports instead of the streamed text", "Said.", { status: "ok", output: "Own." }, "Own."],
    ["the partial text of a canceled task", "Half.", cancelled, "Half."],
    ["absent for a canceled task without text", "", cancelled, undefined],
    ["the text that does not match the schema", "Prose.", unfit, "Prose."],
    ["absent for a failed task", "API error 404", failed, undefined],
  ])("the output of a task is %s", async (_name, text, ending, output) => {
    const { adapter, initialize, request } = await openAdapter([say(text, ending)]);
    await initialize();
    const result = await adapter.execute(request());
    expect(result).toEqual({ ...ending, ...(output !== undefined && { output }), durationMs: expect.any(Number), connection: "cli" });
  });
});

describe("the conversation of a task", () => {
  const steps = async ({ timeline }: ProgramTask): Promise<ConnectionResult> => {
    timeline.appendText("I look.");
    timeline.startTool("1", "shell", { command: "ls" });
    timeline.finishTool("1", "a.md", false);
    timeline.appendText("Nearly done.");
    timeline.appendText("One file.");
    return { status: "ok", output: "One file." };
  };

  test("the conversation of a task has the messages of a connection that does not stream, before and after tool calls", async () => {
    const { adapter, events, initialize, request } = await openAdapter([doing(steps, { capabilities: { streaming: false } })]);
    await initialize();
    const { output, conversationMessages } = await adapter.execute(request());
    expect(output).toBe("One file.");
    expect(conversationMessages).toEqual([
      { role: "user", content: "hello" },
      { role: "assistant", content: "I look.", toolCalls: [{ toolCallId: "1", toolName: "shell", input: { command: "ls" } }] },
      { role: "tool", content: "a.md", toolCallId: "1" },
      { role: "assistant", content: "Nearly done." },
      { role: "assistant", content: "One file." },
    ]);
    expect(events.map(({ type }) => type)).toEqual(["tool.invoked", "tool.completed"]);
  });

  test("the conversation of a task is recorded by Bridge for a connection that streams", async () => {
    const { adapter, initialize, request } = await openAdapter([doing(steps)]);
    await initialize();
    expect(await adapter.execute(request())).not.toHaveProperty("conversationMessages");
  });
});

test("a runtime that exceeds the text limit is stopped", async () => {
  const talkative = doing(async ({ timeline, signal }) => {
    while (!signal.aborted) timeline.appendText("x".repeat(1024 ** 2));
    return { status: "error", errorCode: "cancelled", error: "Stopped.", resumeToken: "s" };
  });
  const { adapter, initialize, request } = await openAdapter([talkative]);
  await initialize();
  const result = await adapter.execute(request());
  expect(result).toMatchObject({
    status: "error",
    errorCode: "output_limit",
    error: expect.stringContaining("32 MiB"),
    resumeToken: "s",
  });
  expect(result.output).toBeUndefined();
});

test("open tool calls of a task end before its result, also if the connection throws", async () => {
  const buggy = doing(async ({ timeline }) => {
    timeline.startTool("1", "shell", {});
    throw new Error("a bug");
  });
  const { adapter, events, initialize, request } = await openAdapter([buggy]);
  await initialize();
  await expect(adapter.execute(request())).rejects.toThrow("a bug");
  expect(events.map(({ type }) => type)).toEqual(["tool.invoked", "tool.completed"]);
  expect(await adapter.cancel("t1")).toBe(false);
});

test("the connection decides whether an empty answer is a success", async () => {
  const silent = doing(async () => ({ status: "ok" }));
  for (const [connection, expected] of [
    [
      { ...silent, emptyAnswers: "accepted" as const },
      { status: "ok", output: "" },
    ],
    [silent, { status: "error", errorCode: "model_error" }],
  ] as const) {
    const { adapter, initialize, request } = await openAdapter([connection]);
    await initialize();
    expect(await adapter.execute(request())).toMatchObject(expected);
  }
});

test("an event after the end of its task is not emitted", async () => {
  const late: (() => void)[] = [];
  const { adapter, events, initialize, request } = await openAdapter([
    doing(async ({ timeline }) => {
      late.push(() => timeline.appendText("late"));
      return { status: "ok" };
    }),
  ]);
  await initialize();
  expect((await adapter.execute(request())).output).toBeUndefined();
  for (const emitLate of late) emitLate();
  expect(events).toEqual([]);
});

describe("home", () => {
  const homeSeen = async (config: Partial<AdapterConfig>): Promise<string> => {
    const { adapter, root, initialize, request } = await openAdapter(
      [doing(async (task) => ({ status: "ok", output: task.request.directories.home }))],
      config,
    );
    await initialize();
    return ((await adapter.execute(request())).output ?? "").replace(root, "<root>");
  };

  test("home is the agent's, unless the operator sets `home` to `user`", async () => {
    expect(await homeSeen({ env: { HOME: "/home/operator" } })).toBe("<root>/home");
    expect(await homeSeen({ env: { HOME: "/home/operator" }, settings: { home: "user" } })).toBe("/home/operator");
    expect(await homeSeen({ env: {}, settings: { home: "user" } })).toBe(homedir());
  });
});

test.each([{ home: "root" }, { env: "PATH" }, { command: "" }, { config: "{}" }])("settings like %j are rejected", async (settings) => {
  const { adapter, initialize } = await openAdapter([scriptedConnection()], { settings });
  await expect(initialize()).rejects.toThrow();
  expect((await adapter.checkHealth()).status).toBe("offline");
});

test("totals of sessions are in the adapter's directory, and old ones are removed at its start", async () => {
  const counting = doing(async ({ totals, request: { directories } }) => {
    const before = await totals.read(directories.home, "s");
    await totals.write(directories.home, "s", { costUsd: (before?.costUsd ?? 0) + 1 });
    return { status: "ok", output: String(before?.costUsd) };
  });
  const { adapter, root, initialize, request } = await openAdapter([counting]);
  const forgotten = path.join(root, "sessions", "old.json");
  await mkdir(path.dirname(forgotten));
  await writeFile(forgotten, "{}");
  await utimes(forgotten, 0, 0);
  await initialize();
  await expect(utimes(forgotten, 0, 0)).rejects.toThrow("ENOENT");
  expect([(await adapter.execute(request())).output, (await adapter.execute(request())).output]).toEqual(["undefined", "1"]);
  expect((await adapter.execute(request({ directories: { ...request().directories, home: "/elsewhere" } }))).output).toBe("undefined");
});

test("a failed sweep of a connection is logged and does not fail the health check", async () => {
  const warnings: object[] = [];
  const silent = (): void => {};
  const logger = { debug: silent, info: silent, error: silent, warn: (fields: object) => void warnings.push(fields) };
  const reason = new Error("a read-only file system");
  const { adapter, initialize } = await openAdapter([scriptedConnection({ sweep: () => Promise.reject(reason) })], { logger });
  await initialize();
  expect((await adapter.checkHealth()).status).toBe("healthy");
  expect(warnings).toEqual([{ err: reason }]);
});
