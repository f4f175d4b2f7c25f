import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import type { AdapterConfig, AdapterEvent, ApprovalAnswer, ExecutionRequest } from "#contract";
import type { AcpProfile } from "../../../../adapters/shared/acp/acp-profile.ts";
import { type AdapterBench, openBench } from "../../../conformance/adapter-bench.ts";
import { answers, createScriptedAdapter, doing, received, type Script, scripted, scriptedProfile } from "./scripted-acp.ts";

const benches: AdapterBench[] = [];

/** A fixture with the scripted agent. At its end it checks that no process is left and that the contract was kept. */
async function open(profile: Partial<AcpProfile> = {}, config: Partial<AdapterConfig> = {}) {
  const scenarios = {} as Parameters<typeof openBench>[0]["scenarios"];
  const fixture = openBench({ createAdapter: () => createScriptedAdapter(profile), config, hasProcesses: true, scenarios });
  benches.push(fixture);
  await fixture.initialize();
  return fixture;
}

afterEach(async () => {
  for (const fixture of benches.splice(0)) {
    await fixture.close();
    expect(fixture.breaches).toEqual([]);
  }
});

/** Runs a script as a task. Returns its result, its events and its home. */
async function run(script: Script, changes: Partial<ExecutionRequest> = {}, profile: Partial<AcpProfile> = {}) {
  const fixture = await open(profile);
  const task = await fixture.start({ ...scripted(script), ...changes });
  return { result: await task.result, events: task.events, home: task.request.directories.home };
}

const texts = (events: readonly AdapterEvent[]) =>
  events.flatMap((event) => (event.type === "assistant.text" ? [event.data.content] : [])).join("");
const methods = (home: string) => received(home).flatMap(({ method }) => method ?? []);
const paramsOf = (home: string, method: string) => received(home).find((message) => message.method === method)?.params;
const note = (text: string) => ({ update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } });

test("the start of an agent ends when its session opens, and when its process exits", async () => {
  const steps: string[] = [];
  const profile: Partial<AcpProfile> = {
    async waitForStart({ argv }) {
      expect(argv).toContainEqual(expect.stringMatching(/script\.json$/));
      steps.push("start");
      return () => void steps.push("end of the start");
    },
    prompt({ message }) {
      steps.push("prompt");
      return message;
    },
  };
  expect((await run({ steps: [{ end: {} }] }, {}, profile)).result).toMatchObject({ status: "ok" });
  expect(steps.splice(0)).toEqual(["start", "end of the start", "prompt", "end of the start"]);
  const failing = await run({ session: { error: { code: -32_000, message: "no session" } } }, {}, profile);
  expect(failing.result).toMatchObject({ status: "error" });
  expect(steps).toEqual(["start", "end of the start"]);
});

test("an agent whose task is canceled before its start never starts", async () => {
  const asked = Promise.withResolvers<void>();
  const fixture = await open({
    waitForStart: (_, signal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(() => {}));
        asked.resolve();
      }),
  });
  const task = await fixture.start(doing());
  await asked.promise;
  await fixture.adapter.cancel(task.request.taskId);
  expect(await task.result).toMatchObject({ status: "error", errorCode: "cancelled" });
  expect(existsSync(path.join(task.request.directories.home, "received.jsonl"))).toBe(false);
});

test("the session gets the mode, options, authentication and fields of the profile", async () => {
  const profile: Partial<AcpProfile> = {
    authMethod: "key",
    sessionFields: ({ systemPrompt }) => ({ _meta: { instructions: systemPrompt } }),
    mode: (request) => (request.profile === "inspect" ? "look" : "work"),
    configOptions: ({ model }) => (model === undefined ? {} : { model }),
    prompt: ({ message }) => `> ${message}`,
  };
  const { result, home } = await run(
    { steps: [{ end: {} }] },
    { systemPrompt: "Be brief.", model: "large", message: "Go", profile: "inspect" },
    profile,
  );
  expect(result).toMatchObject({ status: "ok", output: "", model: "large" });
  expect(methods(home)).toEqual([
    "initialize",
    "authenticate",
    "session/new",
    "session/set_mode",
    "session/set_config_option",
    "session/prompt",
    "the end of stdin",
  ]);
  expect(paramsOf(home, "authenticate")).toEqual({ methodId: "key" });
  expect(paramsOf(home, "session/new")).toEqual({
    _meta: { instructions: "Be brief." },
    cwd: expect.stringMatching(/^\//),
    mcpServers: [],
  });
  expect(paramsOf(home, "session/set_mode")).toMatchObject({ modeId: "look" });
  expect(paramsOf(home, "session/set_config_option")).toMatchObject({ configId: "model", value: "large" });
  expect(paramsOf(home, "session/prompt")).toMatchObject({ prompt: [{ type: "text", text: "> Go" }] });
});

test("a task with a permission request, a rejected call and an open call emits one start and one end per call", async () => {
  const toolCall = { toolCallId: "1", title: "rm a", kind: "execute", status: "pending" };
  const options = [
    { optionId: "yes", name: "Yes", kind: "allow_once" },
    { optionId: "no", name: "No", kind: "reject_once" },
  ];
  const open = { sessionUpdate: "tool_call", toolCallId: "2", title: "b", status: "in_progress" };
  const { result, events, home } = await run(
    { steps: [{ ask: { toolCall, options } }, { update: open }, { say: "Well." }, { end: {} }] },
    { approvals: "deny" },
  );
  expect(result).toMatchObject({ status: "ok", output: "Well." });
  expect(answers(home)).toEqual([{ outcome: { outcome: "selected", optionId: "no" } }]);
  expect(events.map(({ type, data }) => [type, "toolCallId" in data && data["toolCallId"], "isError" in data && data["isError"]])).toEqual([
    ["tool.invoked", "1", false],
    ["tool.completed", "1", true],
    ["tool.invoked", "2", false],
    ["assistant.text", false, false],
    ["assistant.text", false, false],
    ["tool.completed", "2", true],
  ]);
});

test("updates shortly after the end of the turn are recorded", async () => {
  const { result } = await run({ steps: [{ say: "Done." }, { end: {} }, { wait: 50 }, { cost: 0.25 }] }, {}, { costScope: "session" });
  expect(result).toMatchObject({ status: "ok", output: "Done.", costUsd: 0.25 });
});

test("each task of a session reports only its own cost", async () => {
  const fixture = await open({ costScope: "session" });
  const steps = [{ cost: 0.25 }, { end: {} }];
  const first = await fixture.run(scripted({ steps }));
  expect(first.result.costUsd).toBe(0.25);
  const { resumeToken = "" } = first.result;
  expect((await fixture.run({ ...scripted({ steps }), resumeToken })).result).toMatchObject({ costUsd: 0.25, resumeToken });
});

test("the cost of a failed task is not part of the cost of the next one", async () => {
  const fixture = await open({ costScope: "session" });
  const { resumeToken = "" } = (await fixture.run(scripted({ steps: [{ cost: 0.25 }, { end: {} }] }))).result;
  const failing = scripted({ steps: [{ cost: 0.25 }, { error: { code: -32603, message: "no" } }] });
  expect((await fixture.run({ ...failing, resumeToken })).result).toMatchObject({ status: "error" });
  const after = await fixture.run({ ...scripted({ steps: [{ cost: 0.25 }, { end: {} }] }), resumeToken });
  expect(after.result).toMatchObject({ status: "ok" });
  expect(after.result).not.toHaveProperty("costUsd");
});

test("no cost is reported for an agent whose cost is unreliable", async () => {
  const { result } = await run({ steps: [{ cost: 0.25 }, { end: {} }] });
  expect(result).toMatchObject({ status: "ok", resumeToken: expect.any(String) });
  expect(result).not.toHaveProperty("costUsd");
});

test("an agent that answers session/cancel keeps its text and usage, and gets no signal", async () => {
  const fixture = await open();
  const usage = { inputTokens: 3, outputTokens: 1 };
  const task = await fixture.start(
    scripted({ steps: [{ say: "So far" }, { untilCancelled: true }, { end: { stopReason: "cancelled", usage } }] }),
  );
  await task.working;
  await fixture.adapter.cancel(task.request.taskId);
  expect(await task.result).toMatchObject({ status: "error", errorCode: "cancelled", output: expect.stringMatching(/^So/), usage });
  expect(methods(task.request.directories.home).slice(-2)).toEqual(["session/cancel", "the end of stdin"]);
});

test("an agent that ignores session/cancel, the end of its stdin and SIGTERM is killed", async () => {
  const fixture = await open();
  const task = await fixture.start(scripted({ ignores: ["cancel", "EOF", "SIGTERM"], steps: [{ say: "working" }, { hang: true }] }));
  await task.working;
  await fixture.adapter.cancel(task.request.taskId);
  expect(await task.result).toMatchObject({ status: "error", errorCode: "cancelled" });
});

test("an agent that does not exit when its stdin closes gets SIGTERM after its limit, and its answer stays", async () => {
  const { result } = await run({ ignores: ["EOF"], steps: [{ say: "Done." }, { end: {} }] }, {}, { exitLimitMs: 50 });
  expect(result).toMatchObject({ status: "ok", output: "Done." });
});

test("processes that an agent leaves behind are killed and counted", async () => {
  let orphans = 0;
  const onOrphansKilled = (count: number): void => {
    orphans += count;
  };
  const fixture = await open({}, { onOrphansKilled });
  expect((await fixture.run(doing({ leaveBehind: true }, { say: "Done." }))).result).toMatchObject({ status: "ok", output: "Done." });
  expect(orphans).toBe(1);
});

test('a permission request after the cancellation is answered with "cancelled"', async () => {
  const fixture = await open();
  const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
  const ask = { toolCall: { toolCallId: "1", title: "rm a" }, options };
  const task = await fixture.start({
    ...scripted({ steps: [{ say: "working" }, { untilCancelled: true }, { ask }, { end: { stopReason: "cancelled" } }] }),
    approvals: "allow",
    profile: "modify",
  });
  await task.working;
  await fixture.adapter.cancel(task.request.taskId);
  expect(await task.result).toMatchObject({ errorCode: "cancelled" });
  expect(answers(task.request.directories.home)).toEqual([{ outcome: { outcome: "cancelled" } }]);
});

/** An agent that asks permission for several calls at once, and approvals that the test answers. */
async function openAsking(count: number, ...steps: Record<string, unknown>[]) {
  const people = new Map<string, (answer: ApprovalAnswer) => void>();
  const asked = Promise.withResolvers<void>();
  const requestApproval: AdapterConfig["requestApproval"] = ({ toolCallId }) =>
    new Promise((resolve) => {
      people.set(toolCallId, resolve);
      if (people.size === count) asked.resolve();
    });
  const options = [
    { optionId: "yes", name: "Yes", kind: "allow_once" },
    { optionId: "no", name: "No", kind: "reject_once" },
  ];
  const asks = Array.from({ length: count }, (_, index) => ({
    toolCall: { toolCallId: String(index + 1), title: `rm ${index + 1}`, kind: "execute", status: "pending" },
    options,
  }));
  const fixture = await open({ capabilities: { ...scriptedProfile.capabilities, approvals: true } }, { requestApproval });
  const task = await fixture.start({ ...scripted({ steps: [{ askAll: asks }, ...steps] }), profile: "modify", approvals: "ask" });
  await asked.promise;
  const say = (id: string, decision: ApprovalAnswer["decision"], reason: string | null = null) => people.get(id)?.({ decision, reason });
  return { fixture, task, say, home: task.request.directories.home };
}
const toolEvents = (events: readonly AdapterEvent[]) =>
  events.flatMap(({ type, data }) =>
    "toolCallId" in data ? [`${type} ${data["toolCallId"]} ${"output" in data ? data.output : ""}`.trim()] : [],
  );

test("several permission requests wait at the same time, each for its own answer", async () => {
  const { task, say, home } = await openAsking(3, { untilAnswered: true }, { say: "Done." }, { end: {} });
  expect(toolEvents(task.events)).toEqual(["tool.invoked 1", "tool.invoked 2", "tool.invoked 3"]);
  say("3", "reject", "not this one");
  await expect.poll(() => toolEvents(task.events).at(-1)).toBe("tool.completed 3 not this one");
  say("2", "approve");
  say("1", "reject");
  expect(await task.result).toMatchObject({ status: "ok", output: "Done." });
  expect(answers(home)).toEqual(["no", "yes", "no"].map((optionId) => ({ outcome: { outcome: "selected", optionId } })));
  expect(toolEvents(task.events).filter((line) => line.startsWith("tool.completed"))).toHaveLength(3);
});

test('permission requests that wait when the task is canceled are answered with "cancelled" at once', async () => {
  const { fixture, task, say, home } = await openAsking(
    2,
    { untilCancelled: true },
    { untilAnswered: true },
    { end: { stopReason: "cancelled" } },
  );
  await fixture.adapter.cancel(task.request.taskId);
  expect(await task.result).toMatchObject({ status: "error", errorCode: "cancelled" });
  expect(answers(home)).toEqual([1, 2].map(() => ({ outcome: { outcome: "cancelled" } })));
  const eventCount = task.events.length;
  say("1", "approve");
  say("2", "reject", "too late");
  await new Promise(setImmediate);
  expect(task.events).toHaveLength(eventCount);
});

test.each<[does: string, steps: Record<string, unknown>[], expected: object]>([
  ["ends its turn", [{ untilFile: "asked" }, { say: "Never mind." }, { end: {} }], { status: "ok", output: "Never mind." }],
  ["dies", [{ exit: { code: 3, stderr: "out of luck\n" } }], { status: "error", errorCode: "runtime_crashed" }],
])("an agent that %s while a permission request waits ends the task without the answer", async (_, steps, expected) => {
  const { task, say, home } = await openAsking(1, ...steps);
  writeFileSync(path.join(home, "asked"), "");
  expect(await task.result).toMatchObject(expected);
  expect(toolEvents(task.events)).toEqual(["tool.invoked 1", "tool.completed 1 The runtime did not report how this call ended."]);
  say("1", "approve");
  await new Promise(setImmediate);
});

test("Bridge offers the agent no files and no terminal", async () => {
  const { home } = await run({ steps: [{ end: {} }] });
  expect(paramsOf(home, "initialize")).toMatchObject({
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  });
});

test("lines that are not messages, and messages of unknown kinds, are ignored", async () => {
  const { result, events } = await run({
    steps: [
      { raw: 'a log line\n{"not":"a message"}\n{"broken\n[]\n\n' },
      { update: { sessionUpdate: "tomorrow", x: 1 } },
      { raw: '{"jsonrpc":"2.0","method":"_auth/status_update","params":{}}\n' },
      {
        raw: '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"another","update":{"sessionUpdate":"plan","entries":[]}}}\n',
      },
      { raw: '{"jsonrpc":"2.0","id":"late","result":{}}\n{"jsonrpc":"2.0","method":"session/update"}\n' },
      { say: "Done." },
      { end: {} },
    ],
  });
  expect(result).toMatchObject({ status: "ok", output: "Done." });
  expect(events.map(({ type }) => type)).toEqual(["assistant.text", "assistant.text"]);
});

test("a line of more than 8 MiB that reports a tool call is cut, and the task goes on", async () => {
  const call = { toolCallId: "1", title: "build", kind: "execute" };
  const start =
    '{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","rawOutput":"';
  const { result, events } = await run({
    steps: [
      { update: { sessionUpdate: "tool_call", ...call, status: "in_progress", rawInput: { command: "make" } } },
      { raw: start },
      { flood: 9 * 1024 ** 2 },
      { raw: '"}}}\n' },
      { say: "Done." },
      { end: {} },
    ],
  });
  expect(result).toMatchObject({ status: "ok", output: "Done." });
  expect(events.filter(({ type }) => type === "tool.completed")).toMatchObject([
    { data: { toolCallId: "1", isError: false, output: expect.stringMatching(/^x+ … \[cut by Bridge/) } },
  ]);
});

test("a line without an end exceeds the limit and fails the task", async () => {
  const { result } = await run({ steps: [{ say: "x" }, { flood: 9 * 1024 ** 2 }, { hang: true }] });
  expect(result).toMatchObject({ status: "error", errorCode: "output_limit", error: expect.stringContaining("8 MiB") });
});

test.each<[reason: string, expected: object]>([
  ["end_turn", { status: "ok", output: "I say." }],
  ["max_turn_requests", { status: "error", errorCode: "max_turns" }],
  ["max_tokens", { status: "error", errorCode: "model_error", error: expect.stringContaining("its answer is incomplete") }],
  ["refusal", { status: "error", errorCode: "model_error", error: "The model refused the task. I say." }],
  ["cancelled", { status: "error", errorCode: "adapter_error", error: "The agent canceled the task." }],
  ["tired", { status: "error", errorCode: "adapter_error", error: expect.stringContaining("tired") }],
])("the stop reason %s has its outcome", async (stopReason, expected) => {
  const { result } = await run({ steps: [note("I say."), { end: { stopReason } }] });
  expect(result).toMatchObject(expected);
});

test("the text before an error is streamed and is not the output", async () => {
  const error = { code: -32603, message: "Internal error: API Error: 500", data: { errorKind: "server_error" } };
  const { result, events } = await run({ steps: [{ say: "API Error: 500" }, { error }] });
  expect(result).toMatchObject({ status: "error", errorCode: "model_error", error: expect.stringContaining("API Error: 500") });
  expect(result).not.toHaveProperty("output");
  expect(result).not.toHaveProperty("resumeToken");
  expect(texts(events)).toBe("API Error: 500");
});

test("a session that needs a login fails with authentication_required", async () => {
  const { result, home } = await run({ session: { error: { code: -32000, message: "Authentication required" } } });
  expect(result).toMatchObject({ status: "error", errorCode: "authentication_required" });
  expect(methods(home)).not.toContain("session/prompt");
});

test("a turn that ends with success but reported a failure fails", async () => {
  const readNotice: AcpProfile["readNotice"] = (update) =>
    update["sessionUpdate"] === "broken" ? { text: "status 429", failed: true } : null;
  const { result } = await run({ steps: [{ update: { sessionUpdate: "broken" } }, { end: {} }] }, {}, { readNotice });
  expect(result).toMatchObject({ status: "error", errorCode: "rate_limited", error: "The agent reports: status 429" });
});

test("a turn that the agent ends because of a rejected call fails with the rejection", async () => {
  const ask = { toolCall: { toolCallId: "1", title: "rm a" }, options: [] };
  const { result } = await run({ steps: [{ ask }, { end: { stopReason: "cancelled" } }] }, { profile: "inspect" });
  expect(result).toMatchObject({ errorCode: "adapter_error", error: expect.stringMatching(/canceled .* profile is inspect/) });
});

test("the error of an agent that crashes has the end of its stderr", async () => {
  const { result } = await run({ steps: [{ say: "Half" }, { exit: { code: 3, stderr: "out of luck\n" } }] });
  expect(result).toMatchObject({
    status: "error",
    errorCode: "runtime_crashed",
    error: "The program node exited with code 3. out of luck",
  });
  expect(result).not.toHaveProperty("output");
});

test("an agent that does not start fails with spawn_failed", async () => {
  const { result } = await run({}, {}, { find: () => ({ argv: ["/nowhere/agent"] }) });
  expect(result).toMatchObject({ status: "error", errorCode: "spawn_failed" });
});

test("a session is resumed, never loaded, and earlier turns are not reported again", async () => {
  const fixture = await open();
  const first = await fixture.start(doing({ remember: "zebra" }, { say: "noted" }));
  const { resumeToken = "" } = await first.result;
  const second = await fixture.run({ ...doing({ recall: true }), resumeToken });
  expect(second).toMatchObject({ result: { output: "zebra", resumeToken }, text: "zebra" });
  expect(methods(first.request.directories.home)).toContain("session/resume");
  expect(methods(first.request.directories.home)).not.toContain("session/load");
});

test("a connection that cannot resume sessions rejects a task with a resume token", async () => {
  const capabilities = { ...scriptedProfile.capabilities, sessionResume: false };
  const { result } = await run({ steps: [{ end: {} }] }, { resumeToken: "x" }, { capabilities });
  expect(result).toMatchObject({
    status: "error",
    errorCode: "adapter_error",
    error: expect.stringMatching(/acp: .* Omit `resumeToken`\./),
  });
});

test("a lost session, or an agent that can no longer resume, fails the task before the prompt", async () => {
  const lost = await run({}, { resumeToken: "x" });
  expect(lost.result).toMatchObject({ errorCode: "adapter_error", error: expect.stringContaining("Resource not found") });
  const unable = await run({ resumes: false }, { resumeToken: "x" });
  expect(unable.result).toMatchObject({ errorCode: "adapter_error", error: expect.stringContaining("cannot resume") });
  expect(methods(unable.home)).not.toContain("session/prompt");
});

test("MCP servers are passed to the session; an unsupported transport fails the task before the prompt", async () => {
  const stdio = { name: "files", transport: "stdio", command: "/bin/files", env: { KEY: "x" } } as const;
  const { home } = await run({ steps: [{ end: {} }] }, { mcpServers: [stdio] });
  expect(paramsOf(home, "session/new")?.["mcpServers"]).toEqual([
    { name: "files", command: "/bin/files", args: [], env: [{ name: "KEY", value: "x" }] },
  ]);
  const refused = await run({}, { mcpServers: [{ name: "web", transport: "sse", url: "http://127.0.0.1:1" }] });
  expect(refused.result).toMatchObject({ errorCode: "adapter_error", error: expect.stringContaining("sse") });
  expect(methods(refused.home)).not.toContain("session/prompt");
});

test("the preflight reports the agent's version and that it cannot resume sessions", async () => {
  const health = async (config: Script) => (await open({}, { settings: { config } })).adapter.checkHealth();
  expect(await health({})).toMatchObject({ status: "healthy", connection: "acp", version: "1.2.3" });
  expect((await health({ resumes: false })).preflight[0]?.detail).toContain("cannot resume sessions");
  expect(await health({ initialize: { protocolVersion: 2 } })).toMatchObject({
    status: "offline",
    detail: expect.stringContaining("version 2"),
  });
});

test("the preflight accepts an agent that answers but does not exit", async () => {
  const { adapter } = await open({}, { settings: { config: { ignores: ["EOF"] } } });
  expect(await adapter.checkHealth()).toMatchObject({ status: "healthy", version: "1.2.3" });
});

test("the preflight reports a program that is not an agent, with its output", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "acp-"));
  try {
    const program = path.join(directory, "tool");
    writeFileSync(program, "#!/bin/sh\necho 'unknown option --acp'\nexit 2\n");
    chmodSync(program, 0o700);
    const { adapter } = await open({ find: () => ({ argv: [program] }) });
    expect(await adapter.checkHealth()).toMatchObject({
      status: "offline",
      detail: expect.stringMatching(/does not support .* unknown option --acp/),
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test("a response whose id is the number of its request as text is accepted", async () => {
  const fixture = await open();
  const { result } = await fixture.run(scripted({ steps: [{ say: "Done." }, { endWithTextId: true }] }));
  expect(result).toMatchObject({ status: "ok", output: "Done." });
});

test.each<[string, object, string]>([
  ["a link", { type: "resource_link", uri: "file:///b.txt", name: "b.txt" }, "[b.txt](file:///b.txt)"],
  ["an image", { type: "image", data: "AAAA", mimeType: "image/png" }, "[image of 3 bytes (image/png)]"],
  ["a text file", { type: "resource", resource: { uri: "file:///b.txt", text: "All of it." } }, "All of it."],
])("an answer that is only %s is not empty", async (_, content, output) => {
  const fixture = await open({ emptyAnswers: "after tools" });
  const { result } = await fixture.run(doing({ update: { sessionUpdate: "agent_message_chunk", content } }));
  expect(result).toMatchObject({ status: "ok", output });
});
