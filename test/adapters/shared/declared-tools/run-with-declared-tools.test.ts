import { readdir } from "node:fs/promises";
import path from "node:path";
import type { MCPClient } from "@ai-sdk/mcp";
import { describe, expect, onTestFinished, test } from "vitest";
import type { AdapterEvent, ExecutionRequest, ExecutionResult, McpServerSpec } from "#contract";
import type { ConnectionResult, ProgramConnection, ProgramTask } from "../../../../adapters/shared/agent-program/agent-program.ts";
import { createProgramAdapter } from "../../../../adapters/shared/agent-program/create-program-adapter.ts";
import type { OpenCall } from "../../../../adapters/shared/declared-tools/open-calls.ts";
import { createAdapterConfig } from "../../../conformance/adapter-config.ts";
import { createExecutionRequest } from "../../../conformance/execution-request.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { scriptedConnection, scriptedProgram } from "../agent-program/scripted-program.ts";
import { connectToServer } from "./connect-to-server.ts";

const tools = ["ask_user", "send_mail"].map((name) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: "object", properties: { to: {} } },
}));

/** One turn of a program. `client` is connected to Bridge's server if the task declares tools. */
type Turn = (task: ProgramTask, client: MCPClient | null) => Promise<unknown>;

const cancelled: ConnectionResult = { status: "error", errorCode: "cancelled", error: "The task was canceled." };
/** Resolves when the program must stop. */
const untilStopped = ({ signal }: ProgramTask): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** An adapter of a program that runs these turns, one per task, in one session. */
async function openProgram(turns: Turn[], changes: Parameters<typeof scriptedConnection>[0] = {}, isListing = true) {
  const root = await temporaryDirectory();
  const tasks: ProgramTask[] = [];
  const execute: ProgramConnection["execute"] = async (task) => {
    tasks.push(task);
    const server = task.offeredTools?.http;
    const client = server === undefined ? null : await connectToServer(server);
    if (isListing) await client?.listTools();
    try {
      const turn = turns[tasks.length - 1];
      const ending = await Promise.race([turn?.(task, client), untilStopped(task).then(() => cancelled)]);
      return {
        resumeToken: "session-1",
        usage: { inputTokens: 1, outputTokens: 2 },
        ...((ending ?? { status: "ok" }) as ConnectionResult),
      };
    } finally {
      await client?.close();
    }
  };
  const adapter = createProgramAdapter(
    scriptedProgram(scriptedConnection({ execute, capabilities: { tools: true }, emptyAnswers: "accepted", ...changes })),
  );
  const events: AdapterEvent[] = [];
  adapter.onEvent((event) => events.push(event));
  onTestFinished(() => adapter.shutdown());
  await adapter.initialize(createAdapterConfig(root));
  const run = (given: Partial<ExecutionRequest> = {}) =>
    adapter.execute(createExecutionRequest(root, { taskId: `t${tasks.length + 1}`, tools, ...given }));
  return { adapter, events, tasks, run, openCalls: () => readdir(path.join(root, "open-calls")).catch(() => []) };
}

const call = (client: MCPClient | null, name: string, input: Record<string, unknown> = {}) =>
  client?.callTool({ name, arguments: input }).catch(() => {});
/** Calls a tool and waits for its result, as programs do. */
const calling =
  (...calls: [name: string, input?: Record<string, unknown>][]): Turn =>
  (_, client) =>
    Promise.all(calls.map(([name, input]) => call(client, name, input)));

const callsOf = ({ outputs = {} }: ExecutionResult) => (outputs["toolCalls"] ?? []) as OpenCall[];

test("a call ends the task, with the call reported and left open", async () => {
  const { run, events, tasks } = await openProgram([
    async (task, client) => {
      task.timeline.appendText("I must ask. ");
      await call(client, "ask_user", { to: "Eve" });
    },
  ]);
  const result = await run();
  expect(result).toEqual({
    status: "ok",
    output: "",
    outputs: { toolCalls: [{ toolCallId: expect.stringMatching(/^call_/), toolName: "ask_user", input: { to: "Eve" } }] },
    resumeToken: "session-1",
    usage: { inputTokens: 1, outputTokens: 2 },
    durationMs: expect.any(Number),
    connection: "cli",
  });
  expect(events.map(({ type }) => type)).toEqual(["assistant.text", "tool.invoked"]);
  expect(events[1]).toMatchObject({ data: { toolCallId: callsOf(result)[0]?.toolCallId, toolName: "ask_user", input: { to: "Eve" } } });
  const server = tasks[0]?.offeredTools?.http;
  expect(server).toMatchObject({ url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/) });
  await expect(connectToServer(server as McpServerSpec)).rejects.toThrow();
});

test("several calls of one answer are all left open, in their order", async () => {
  const { run } = await openProgram([calling(["send_mail", { to: "Eve" }], ["ask_user"])]);
  const names = callsOf(await run()).map(({ toolName }) => toolName);
  expect(names.toSorted()).toEqual(["ask_user", "send_mail"]);
});

test("a task that calls no declared tool ends normally", async () => {
  const { run, tasks } = await openProgram([
    async ({ timeline }) => {
      timeline.appendText("Done.");
      return { status: "ok" };
    },
  ]);
  const result = await run();
  expect(result).toMatchObject({ status: "ok", output: "Done." });
  expect(result.outputs).toBeUndefined();
  expect(tasks[0]?.request.mcpServers).toHaveLength(1);
});

test("a program that never reads the list of tools fails the task", async () => {
  const { run } = await openProgram([async () => ({ status: "ok", output: "Guessed." })], {}, false);
  expect(await run()).toMatchObject({ status: "error", errorCode: "adapter_error", error: expect.stringContaining("without them") });
});

test("the server follows those of the dispatch, with a unique name", async () => {
  const { run, tasks } = await openProgram([async () => {}]);
  const own: McpServerSpec = { name: "bridge", transport: "stdio", command: "own" };
  await run({ mcpServers: [own] });
  expect(tasks[0]?.request.mcpServers).toEqual([own, expect.objectContaining({ name: "bridge_2", transport: "http" })]);
});

test("invalid tool names are changed for the program and restored for the caller", async () => {
  const named = [`${"x".repeat(100)} y`, "größe", "gr__e"].map((name) => ({ name, description: "", inputSchema: {} }));
  const { run } = await openProgram([
    async (_, client) => {
      const listed = (await client?.listTools())?.tools.map(({ name }) => name) ?? [];
      for (const name of listed) expect(name).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
      expect(new Set(listed).size).toBe(3);
      await Promise.all(listed.map((name) => call(client, name)));
    },
  ]);
  const names = callsOf(await run({ tools: named })).map(({ toolName }) => toolName);
  expect(names.toSorted()).toEqual(named.map(({ name }) => name).toSorted());
});

test("a reserved tool name is changed only for the program", async () => {
  const { run } = await openProgram([calling(["ask_user_2"])], { reservedToolNames: ["ask_user"] });
  expect(callsOf(await run())).toMatchObject([{ toolName: "ask_user" }]);
});

describe("the next message answers", () => {
  const idsOf = (result: ExecutionResult) => callsOf(result).map(({ toolCallId }) => toolCallId);
  const resumeToken = "session-1";

  test("the only call with its result, which the program receives with the call", async () => {
    const { run, tasks, openCalls } = await openProgram([calling(["ask_user", { to: "Eve" }]), async () => ({ status: "ok" })]);
    const [id] = idsOf(await run());
    expect(await openCalls()).toHaveLength(1);
    expect(await run({ message: "Eve says yes.", resumeToken })).toMatchObject({ status: "ok", resumeToken });
    expect(tasks[1]?.request.message).toContain(
      JSON.stringify({ toolCallId: id, tool: "ask_user", input: { to: "Eve" }, result: "Eve says yes." }),
    );
    expect(await openCalls()).toEqual([]);
  });

  test("several calls by their ids, followed by a message", async () => {
    const { run, tasks } = await openProgram([calling(["ask_user"], ["send_mail"]), async () => ({ status: "ok" })]);
    const [one = "", other = ""] = idsOf(await run());
    const message = `${JSON.stringify({ [one]: { says: "yes" }, [other]: "sent" })}\n\nBe quick.`;
    await run({ message, resumeToken });
    const prompt = tasks[1]?.request.message ?? "";
    expect(prompt).toContain('"result":"{\\"says\\":\\"yes\\"}"');
    expect(prompt).toContain('"result":"sent"');
    expect(prompt.endsWith("\n\nBe quick.")).toBe(true);
  });

  test("the next message answers and the turn may call tools again", async () => {
    const { run, tasks, openCalls } = await openProgram([calling(["ask_user"]), calling(["send_mail"]), async () => ({ status: "ok" })]);
    const first = idsOf(await run());
    const second = idsOf(await run({ message: "yes", resumeToken }));
    expect(second).not.toEqual(first);
    expect(await openCalls()).toHaveLength(1);
    await run({ message: "sent", resumeToken, tools: [] });
    expect(tasks[2]?.request.message).toContain('"tool":"send_mail"');
    expect(tasks[2]?.request.message).not.toContain('"tool":"ask_user"');
  });

  test.each([
    ["text", () => "yes", /waits for the results of 2 tool calls/],
    ["only one of them", ([id]: string[]) => JSON.stringify({ [id ?? ""]: "yes" }), /waits for the results of 2 tool calls/],
    [
      "an unknown call id",
      (ids: string[]) => JSON.stringify(Object.fromEntries([...ids, "call_c"].map((id) => [id, 1]))),
      /results for unknown calls: call_c/,
    ],
  ])("the next message answers with %s to several calls: it is rejected, and the calls still wait", async (_, messageOf, words) => {
    const { run, tasks } = await openProgram([calling(["ask_user"], ["send_mail"]), async () => ({ status: "ok" })]);
    const ids = idsOf(await run());
    expect(await run({ message: messageOf(ids), resumeToken })).toMatchObject({
      status: "error",
      errorCode: "adapter_error",
      error: expect.stringMatching(words),
      resumeToken,
    });
    expect(tasks).toHaveLength(1);
    expect(await run({ message: JSON.stringify(Object.fromEntries(ids.map((id) => [id, "1"]))), resumeToken })).toMatchObject({
      status: "ok",
    });
  });

  test("a turn that fails leaves the calls open", async () => {
    const { run, tasks } = await openProgram([
      calling(["ask_user"]),
      async () => ({ status: "error", errorCode: "model_error", error: "no" }),
      async () => ({ status: "ok" }),
    ]);
    await run();
    expect(await run({ message: "yes", resumeToken })).toMatchObject({ errorCode: "model_error" });
    expect(await run({ message: "yes", resumeToken })).toMatchObject({ status: "ok" });
    expect(tasks[2]?.request.message).toBe(tasks[1]?.request.message);
  });

  test("a session without open calls, or of another agent, gets the unchanged message", async () => {
    const { run, tasks } = await openProgram([async () => ({ status: "ok" }), calling(["ask_user"]), async () => ({ status: "ok" })]);
    await run({ message: '{"a": 1}', resumeToken });
    await run();
    const [{ request }] = tasks as [ProgramTask];
    await run({ message: "Other.", resumeToken, directories: { ...request.directories, home: "/other" } });
    expect(tasks.map(({ request }) => request.message)).toEqual(['{"a": 1}', "Do it.", "Other."]);
  });
});

describe("a task with a waiting call", () => {
  test("a task with a waiting call can be canceled, and leaves no open calls", async () => {
    const { adapter, run, events, openCalls } = await openProgram([
      async ({ timeline }, client) => {
        timeline.startTool("1", "shell", {});
        await call(client, "ask_user");
      },
    ]);
    const done = run();
    await expect.poll(() => events.length).toBe(2);
    await adapter.cancel("t1");
    expect(await done).toMatchObject({ status: "error", errorCode: "cancelled" });
    expect(await openCalls()).toEqual([]);
    expect(events.map(({ type }) => type)).toEqual(["tool.invoked", "tool.invoked", "tool.completed", "tool.completed"]);
  });

  test("a task with a waiting call fails if its program fails, and the calls end with it", async () => {
    const { run, events } = await openProgram([
      async (_, client) => {
        void call(client, "ask_user");
        await expect.poll(() => events.length).toBe(1);
        return { status: "error", errorCode: "runtime_crashed", error: "gone" };
      },
    ]);
    expect(await run()).toMatchObject({ status: "error", errorCode: "runtime_crashed" });
    expect(events.map(({ type }) => type)).toEqual(["tool.invoked", "tool.completed"]);
  });

  test("a task with a waiting call fails if the program has no session to resume", async () => {
    const { run } = await openProgram([
      async (task, client) => {
        void call(client, "ask_user");
        await untilStopped(task);
        return { ...cancelled, resumeToken: undefined };
      },
    ]);
    expect(await run()).toMatchObject({ status: "error", errorCode: "adapter_error", error: expect.stringContaining("cannot be resumed") });
  });

  test("a task with a waiting call also ends with the call if the program ends its turn itself", async () => {
    const { run, events } = await openProgram([
      async (_, client) => {
        void call(client, "ask_user");
        await expect.poll(() => events.length).toBe(1);
        return { status: "ok", output: "I have asked." };
      },
    ]);
    expect(await run()).toMatchObject({ status: "ok", output: "", outputs: { toolCalls: [{ toolName: "ask_user" }] } });
  });
});

test("a connection without the tools capability is not used for a task with declared tools", async () => {
  const { run, tasks } = await openProgram([], { capabilities: { tools: false } });
  expect(await run()).toMatchObject({
    errorCode: "adapter_error",
    error: expect.stringContaining("cli: this connection does not support declared tools"),
  });
  expect(tasks).toEqual([]);
});

test("a connection that passes the tools to the model itself gets no MCP server", async () => {
  const { run, tasks } = await openProgram([async () => {}], { passesDeclaredTools: true });
  await run();
  expect(tasks[0]?.request.mcpServers).toBeUndefined();
  expect(tasks[0]?.request.tools).toEqual(tools);
});
