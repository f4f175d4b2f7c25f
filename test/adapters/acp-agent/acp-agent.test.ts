import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type AdapterConfig, type AdapterEvent, type ExecutionRequest, findEntry, findFamily } from "#contract";
import type { AcpAgent } from "../../../adapters/acp-agent/settings.ts";
import { catalog } from "../../../adapters/index.ts";
import { type AdapterBench, openBench } from "../../conformance/adapter-bench.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { answers, received } from "../shared/acp/scripted-acp.ts";
import { commandWith, createScriptedAgent, doing, playing, scriptedCommand } from "./scripted-agent.ts";

const benches: AdapterBench[] = [];
afterEach(async () => {
  for (const bench of benches.splice(0)) {
    await bench.close();
    expect(bench.breaches).toEqual([]);
  }
});

async function open(agent: Partial<AcpAgent> = {}, config: Partial<AdapterConfig> = {}): Promise<AdapterBench> {
  const scenarios = {} as Parameters<typeof openBench>[0]["scenarios"];
  const bench = openBench({ createAdapter: () => createScriptedAgent(agent), config, hasProcesses: true, scenarios });
  benches.push(bench);
  await bench.initialize();
  return bench;
}

async function run(changes: Partial<ExecutionRequest>, agent: Partial<AcpAgent> = {}, config: Partial<AdapterConfig> = {}) {
  const task = await (await open(agent, config)).start(changes);
  const result = await task.result;
  const messages = received(task.request.directories.home);
  return {
    result,
    events: task.events,
    home: task.request.directories.home,
    methods: messages.flatMap(({ method }) => method ?? []),
    paramsOf: (method: string) => messages.find((message) => message.method === method)?.params,
  };
}

const textOf = (events: readonly AdapterEvent[]) =>
  events.flatMap((event) => (event.type === "assistant.text" ? [event.data.content] : [])).join("");

test("acp:<name> loads an adapter for the agent of that name", async () => {
  const found = findFamily(catalog, "acp:goose");
  expect(found).toMatchObject({ family: { prefix: "acp" }, member: "goose" });
  const agent = found?.family.find("goose", { agents: { goose: { command: ["goose", "acp"], env: [], home: "agent", modes: {} } } });
  if (agent === undefined || "missing" in agent) return expect.unreachable();
  expect((await agent.load()).createAdapter().provider).toBe("goose");
  expect(found?.family.find("other", { agents: {} })).toEqual({ missing: expect.stringContaining("BRIDGE_ACP_AGENTS") });
  expect(findEntry(catalog, "acp:goose")).toBeUndefined();
});

test("an agent whose program is missing is offline, and its health names the setting", async () => {
  const { adapter } = await open({ command: ["no-such-agent", "acp"] });
  expect(await adapter.checkHealth()).toMatchObject({
    status: "offline",
    detail: expect.stringMatching(/no-such-agent.*BRIDGE_ACP_AGENTS/),
  });
});

test("health reports the agent's version and the configured variables that are not set", async () => {
  const { adapter } = await open({ env: ["AGENT_KEY"] }, { env: {} });
  const health = await adapter.checkHealth();
  expect(health).toMatchObject({ status: "healthy", connection: "acp", version: "1.2.3" });
  expect(health.preflight).toContainEqual({
    step: "authentication",
    ok: true,
    detail: "managed by the agent; configured variables that are not set: AGENT_KEY",
  });
});

test("health does not reveal the arguments of the agent's command, which may contain a key", async () => {
  const { adapter } = await open({ command: ["sh", "-c", "exit 1", "--api-key", "key-4711"] });
  const { detail } = await adapter.checkHealth();
  expect(detail).toMatch(/sh does not support the Agent Client Protocol/);
  expect(detail).not.toContain("4711");
});

test.each([
  [
    "prints its own path when it fails",
    '#!/bin/sh\necho "$0: no key" >&2',
    /^acp: mute does not support the Agent Client Protocol\. mute: no key$/,
  ],
  ["cannot be started", "#!/no/such/interpreter", /^acp: The program mute did not start: .*spawn mute ENOENT/],
])("health does not reveal the path of a program that %s", async (_, script, words) => {
  const bin = await temporaryDirectory();
  await writeFile(path.join(bin, "mute"), `${script}\n`, { mode: 0o755 });
  const { adapter } = await open({ command: ["mute"] }, { env: { PATH: `${bin}:/usr/bin:/bin` } });
  const { status, detail } = await adapter.checkHealth();
  expect(status).toBe("offline");
  expect(detail).toMatch(words);
  expect(detail).not.toContain(bin);
});

describe("an agent that violates the protocol", () => {
  test.each([
    ["no version", { protocolVersion: null }],
    ["another version", { protocolVersion: 2 }],
  ])("an agent that violates the protocol is offline when it reports %s", async (_, initialize) => {
    const { adapter } = await open({ command: await commandWith({ initialize }) });
    expect(await adapter.checkHealth()).toMatchObject({
      status: "offline",
      detail: expect.stringMatching(/uses (an unknown version|version 2) of the Agent Client Protocol; Bridge requires version 1/),
    });
  });

  test("an agent that violates the protocol is reported as an unknown version when it answers null to initialize", async () => {
    const script = 'read line; echo \'{"jsonrpc":"2.0","id":0,"result":null}\'; cat';
    const { adapter } = await open({ command: ["sh", "-c", script] });
    expect((await adapter.checkHealth()).detail).toContain("uses an unknown version");
  });

  test("an agent that violates the protocol has no version when its name and version are not valid", async () => {
    const agentInfo = { name: { first: "x" }, version: "1".repeat(100_000) };
    const { adapter } = await open({ command: await commandWith({ initialize: { agentInfo } }) });
    const { status, version, preflight } = await adapter.checkHealth();
    expect([status, version, preflight[0]?.detail]).toEqual(["healthy", null, "acp: the agent of an unknown version, ACP 1"]);
  });

  test.each([
    ["a list of invalid entries", [null, 5, {}]],
    ["not a list", { model: "large" }],
  ])("an agent that violates the protocol fails a task that names a model when its session options are %s", async (_, configOptions) => {
    const command = await commandWith({ session: { result: { configOptions } } });
    const { result } = await run({ ...doing({ say: "x" }), model: "large" }, { command });
    expect(result).toMatchObject({
      status: "error",
      errorCode: "adapter_error",
      error: expect.stringContaining("does not support model selection"),
    });
  });

  test.each([["a line\nbreak"], ["x".repeat(5_000)], [5]])(
    "an agent that violates the protocol fails the task when it returns the unusable session id %j",
    async (sessionId) => {
      const { result } = await run(doing({ say: "x" }), { command: await commandWith({ session: { result: { sessionId } } }) });
      expect(result).toMatchObject({ status: "error", errorCode: "adapter_error", error: expect.stringContaining("without a valid id") });
    },
  );
});

test("the agent receives the configured variables and no other variable of Bridge", async () => {
  const env = { PATH: process.env["PATH"], AGENT_KEY: "given", OTHER_KEY: "kept" };
  const { result } = await run(doing({ variable: "AGENT_KEY" }, { say: " " }, { variable: "OTHER_KEY" }), { env: ["AGENT_KEY"] }, { env });
  expect(result.output).toBe("given not set");
});

test("the prompt begins with the instructions, followed by the message", async () => {
  const { paramsOf } = await run({ message: "/help", systemPrompt: "Be brief." });
  const text = "Instructions:\n<instructions>\nBe brief.\n</instructions>\n\nYour task:\n\n/help";
  expect(paramsOf("session/prompt")).toMatchObject({ prompt: [{ type: "text", text }] });
});

test.each([
  ["inspect", "plan"],
  ["modify", undefined],
] as const)("under %s the session has the mode %s", async (profile, modeId) => {
  const { methods, paramsOf } = await run({ ...doing({ say: "x" }), profile }, { modes: { inspect: "plan" } });
  expect(methods.includes("session/set_mode")).toBe(modeId !== undefined);
  if (modeId !== undefined) expect(paramsOf("session/set_mode")).toMatchObject({ modeId });
});

test("Bridge authenticates with the configured method", async () => {
  const { paramsOf } = await run(doing({ say: "x" }), { authMethod: "api-key" });
  expect(paramsOf("authenticate")).toEqual({ methodId: "api-key" });
});

describe("the model of a dispatch", () => {
  const option = (fields: object) => ({ name: "Model", type: "select", currentValue: "small", options: [], ...fields });

  test.each([
    ["its category", { id: "llm", category: "model" }, "llm"],
    ["its id", { id: "model" }, "model"],
  ])("the model of a dispatch is set through the session option found by %s", async (_, fields, configId) => {
    const session = { result: { configOptions: [option({ id: "mode", category: "mode" }), option(fields)] } };
    const { result, paramsOf } = await run({ ...doing({ say: "x" }), model: "large" }, { command: await commandWith({ session }) });
    expect(result).toMatchObject({ status: "ok", model: "large" });
    expect(paramsOf("session/set_config_option")).toMatchObject({ configId, value: "large" });
  });

  test("the model of a dispatch fails the task before a model call when the agent offers no option for it", async () => {
    const { result, methods } = await run({ ...doing({ say: "x" }), model: "large" });
    expect(result).toMatchObject({
      status: "error",
      errorCode: "adapter_error",
      error: expect.stringContaining("does not support model selection"),
    });
    expect(methods).not.toContain("session/prompt");
  });
});

describe("with the profile inspect", () => {
  const options = [
    { optionId: "yes", name: "Yes", kind: "allow_once" },
    { optionId: "no", name: "No", kind: "reject_once" },
  ];
  const call = (kind: string | undefined) => ({ toolCallId: "1", title: "do it", ...(kind !== undefined && { kind }) });

  test.each([
    ["read", "yes"],
    ["search", "yes"],
    ["edit", "no"],
    ["delete", "no"],
    ["move", "no"],
    ["execute", "no"],
    ["fetch", "no"],
    ["switch_mode", "no"],
    ["other", "no"],
    ["Read", "no"],
    [undefined, "no"],
  ])("a permission request for a call of kind %s is answered with %s", async (kind, optionId) => {
    for (const approvals of ["allow", "deny"] as const) {
      const asked = { ...doing({ ask: { toolCall: call(kind), options } }, { say: "Well." }), profile: "inspect", approvals } as const;
      const { result, home } = await run(asked);
      expect(result).toMatchObject({ status: "ok", output: "Well." });
      expect(answers(home)).toEqual([{ outcome: { outcome: "selected", optionId } }]);
    }
  });

  test("a permission request without a kind takes the kind of the announced call", async () => {
    const announced = { update: { sessionUpdate: "tool_call", ...call("read"), status: "pending" } };
    const { home } = await run({ ...doing(announced, { ask: { toolCall: call(undefined), options } }), profile: "inspect" });
    expect(answers(home)).toEqual([{ outcome: { outcome: "selected", optionId: "yes" } }]);
  });

  test("a call has the tool name that the agent reports, or else its kind", async () => {
    const named = { ...call("execute"), toolCallId: "1", _meta: { toolName: "run_shell_command" } };
    const { events } = await run(
      doing({ ask: { toolCall: named, options } }, { ask: { toolCall: { ...call("edit"), toolCallId: "2" }, options } }),
    );
    expect(events.flatMap((event) => (event.type === "tool.invoked" ? [event.data.toolName] : []))).toEqual(["run_shell_command", "edit"]);
  });

  test("a call is rejected when the agent offers only to allow it always", async () => {
    const always = [{ optionId: "always", name: "Always", kind: "allow_always" }, options[1]];
    const { home } = await run({ ...doing({ ask: { toolCall: call("read"), options: always } }), profile: "inspect" });
    expect(answers(home)).toEqual([{ outcome: { outcome: "selected", optionId: "no" } }]);
  });
});

describe("sessions", () => {
  const commandReporting = (agentCapabilities: object) => commandWith({ initialize: { agentCapabilities } });

  test("an agent that can only load sessions loads one, and replayed messages emit no events", async () => {
    const command = await commandReporting({ loadSession: true });
    const bench = await open({ command });
    await bench.adapter.checkHealth();
    expect(bench.adapter.capabilities().sessionResume).toBe(true);
    const { resumeToken = "" } = (await bench.run(doing({ remember: "zebra" }, { say: "noted" }))).result;
    const task = await bench.start({ ...doing({ recall: true }), resumeToken });
    expect(await task.result).toMatchObject({ status: "ok", output: "zebra", resumeToken });
    expect(textOf(task.events)).toBe("zebra");
    expect(received(task.request.directories.home).map(({ method }) => method)).toContain("session/load");
  });

  test("an agent that can resume sessions does not load them", async () => {
    const bench = await open();
    const { resumeToken = "" } = (await bench.run(doing({ say: "noted" }))).result;
    const task = await bench.start({ ...doing({ say: "x" }), resumeToken });
    await task.result;
    const methods = received(task.request.directories.home).map(({ method }) => method);
    expect([methods.includes("session/resume"), methods.includes("session/load")]).toEqual([true, false]);
  });

  test("Bridge loads the session when the agent advertises resume but does not implement it", async () => {
    const bench = await open({ command: await commandWith({ lacks: ["session/resume"] }) });
    const { resumeToken = "" } = (await bench.run(doing({ remember: "zebra" }, { say: "noted" }))).result;
    const task = await bench.start({ ...doing({ recall: true }), resumeToken });
    expect(await task.result).toMatchObject({ status: "ok", output: "zebra", resumeToken });
    expect(textOf(task.events)).toBe("zebra");
    const methods = received(task.request.directories.home).map(({ method }) => method);
    expect(methods.filter((method) => method?.startsWith("session/"))).toEqual([
      ...["session/new", "session/prompt"],
      ...["session/resume", "session/load", "session/prompt"],
    ]);
  });

  test("Bridge does not load a session that the agent reports as unknown", async () => {
    const { result, methods } = await run({ ...doing({ say: "x" }), resumeToken: "lost" });
    expect(result).toMatchObject({ status: "error", error: expect.stringContaining("Resource not found") });
    expect(methods).not.toContain("session/load");
  });

  test("after initialize, an agent that can neither resume nor load does not claim sessionResume", async () => {
    const bench = await open({ command: await commandReporting({}) });
    await bench.adapter.checkHealth();
    expect(bench.adapter.capabilities()).toMatchObject({ sessionResume: false, tools: false });
    expect((await bench.run(doing({ say: "x" }))).result).not.toHaveProperty("resumeToken");
  });
});

describe("usage and cost", () => {
  const usage = { inputTokens: 110, cachedReadTokens: 20, outputTokens: 30, thoughtTokens: 5, totalTokens: 160 };

  test("usage and cost are reported when the agent reports them, and the cost covers one task", async () => {
    const bench = await open();
    const first = (await bench.run(playing({ cost: 0.25 }, { end: { usage } }))).result;
    expect(first).toMatchObject({ costUsd: 0.25, usage: { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20 } });
    const second = (await bench.run({ ...playing({ cost: 0.25 }, { end: { usage } }), resumeToken: first.resumeToken ?? "" })).result;
    expect(second.costUsd).toBeCloseTo(0.25);
    // In a resumed session it is unknown which turns the agent counts.
    expect(second).not.toHaveProperty("usage");
  });

  test("usage and cost are absent when the agent does not report them", async () => {
    const { result } = await run(doing({ say: "x" }), { command: scriptedCommand });
    expect(result).not.toHaveProperty("usage");
    expect(result).not.toHaveProperty("costUsd");
  });
});
