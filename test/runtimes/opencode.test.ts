import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { Connection, ExecutionRequest } from "#contract";
import { createOpenCodeAdapter } from "../../adapters/opencode/index.ts";
import { PROMPT_OPENING } from "../../adapters/shared/agent-program/prompt.ts";
import { adapterConformance } from "../conformance/adapter.ts";
import { type AdapterSubject, openBench, processesOf } from "../conformance/adapter-bench.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import type { Tool } from "./model-server/scenarios.ts";
import { createModelServer } from "./model-server/server.ts";
import { runtimesPath } from "./programs.ts";

const model = await createModelServer({ messagePrefix: PROMPT_OPENING });
afterAll(() => model.close());

const env = { PATH: `${runtimesPath()}${path.delimiter}${process.env["PATH"]}` };
const limit = { context: 1_000_000, output: 8_000 };
const priced = { cost: { input: 1, output: 2, cache_read: 0.5 }, limit };
const configOf = (scripted: object) => ({
  model: "scripted/model",
  provider: {
    scripted: {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL: `${model.url}/v1`, apiKey: "sk-of-the-runtime-suite" },
      models: { model: scripted },
    },
  },
});
const play = (...steps: Parameters<typeof model.scenario>[0]) => ({ message: model.scenario(steps) });

const shared: AdapterSubject = {
  createAdapter: createOpenCodeAdapter,
  hasProcesses: true,
  patienceMs: 60_000,
  scenarios: {
    speak: (text) => play({ text }),
    echo: () => ({ systemPrompt: model.scenario([{ echo: true }]) }),
    hang: () => play({ tools: [{ kind: "read", path: "nothing" }] }, { say: "I wait.", tools: [{ kind: "shell", command: "sleep 60" }] }),
    fail: { errorCode: "authentication_required", ask: () => play({ error: 401 }) },
    useTool: () => play({ say: "I look.", tools: [{ kind: "shell", command: "echo seen" }] }, { text: "I have seen it, and that is all." }),
    resume: {
      remember: (text) => ({ message: `${text} ${play({ text: "I keep it." }).message}` }),
      recall: () => play({ recall: true }),
      usagePerTurn: { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20, cacheWriteTokens: 0 },
    },
    askFirst: () => play({ say: "May I?", tools: [{ kind: "shell", command: "sh -c 'echo seen > asked.txt'" }] }, { text: "Well." }),
    // 110 uncached tokens at 1, 20 cached tokens at 0.5 and 30 output tokens at 2 dollars per million.
    cost: { costUsd: 0.00018, ask: () => play({ text: "A known price." }) },
  },
};

const connections = ["http-api", "cli"] as const;
for (const connection of connections)
  adapterConformance(`opencode over ${connection}`, { ...shared, config: { settings: { connection, config: configOf(priced) }, env } });

describe.each(connections)("opencode over %s", (connection) => {
  test("a task with profile inspect cannot write with a file tool, a shell or a sub-agent", async () => {
    const bench = await open(connection);
    writeIn(bench.workspace, { "seen.txt": "to be read" });
    const { tools, result } = await bench.run({
      ...play(
        {
          tools: [
            { kind: "write", path: "written.txt", content: "x" },
            { kind: "shell", command: "touch touched.txt" },
            subAgent("touch delegated.txt"),
            { kind: "read", path: "seen.txt" },
          ],
        },
        { text: "I could only read." },
      ),
      profile: "inspect",
    });
    expect(result).toMatchObject({ status: "ok", output: "I could only read." });
    expect(tools).toEqual({ write: true, bash: true, task: true, read: false });
    expect(existing(bench.workspace, ["written.txt", "touched.txt", "delegated.txt"])).toEqual([]);
  });

  test.each([
    ["a larger repository", (root: string) => execFileSync("git", ["init", "--quiet", root])],
    ["a directory that is not a git repository", (root: string) => mkdirSync(path.join(root, ".git"))],
  ])("denied calls do not run, and edits are limited to the workspace, also in %s", async (_where, prepare) => {
    const bench = await open(connection);
    prepare(bench.root);
    const { tools, result } = await bench.run({
      ...play(
        {
          tools: [
            { kind: "shell", command: "touch touched.txt" },
            subAgent("touch delegated.txt"),
            { kind: "write", path: "inside.txt", content: "x" },
          ],
        },
        { tools: [{ kind: "write", path: path.join(bench.root, "outside.txt"), content: "x" }] },
        { tools: [{ kind: "write", path: "../beside.txt", content: "x" }] },
        { text: "Done." },
      ),
      approvals: "deny",
    });
    expect(result).toMatchObject({ status: "ok", output: "Done." });
    expect(tools).toEqual({ bash: true, task: true, write: true });
    const names = ["inside.txt", "touched.txt", "delegated.txt", "../outside.txt", "../beside.txt"];
    expect(existing(bench.workspace, names)).toEqual(["inside.txt"]);
  });

  test("files in the workspace and the agent's home configure nothing and load no code", async () => {
    const bench = await open(connection);
    const { home } = bench;
    const permissive = JSON.stringify({ permission: { "*": "allow" }, agent: { bridge: { permission: { "*": "allow" } } } });
    const code = `require("node:fs").writeFileSync(${JSON.stringify(path.join(home, "loaded"))}, ""); module.exports = {}`;
    writeIn(bench.workspace, { "opencode.json": permissive, ".opencode/opencode.json": permissive, ".opencode/tool/x.js": code });
    for (const place of [".opencode", ".config/opencode"])
      writeIn(path.join(home, place), { "opencode.json": permissive, "plugin/x.js": code, "plugins/x.js": code, "tool/x.js": code });
    // The loader of the program reads this file in its working directory, and resolves modules of the program by it.
    writeIn(bench.workspace, { "tsconfig.json": '{"compilerOptions":{"paths":{"*":["./x.ts"]}}}', "x.ts": code });
    // The directory of the programs that OpenCode has downloaded.
    const search = path.join(home, ".cache/opencode/bin/rg");
    writeIn(home, { ".cache/opencode/bin/rg": `#!/bin/sh\ntouch ${home}/loaded` });
    chmodSync(search, 0o755);
    const { result } = await bench.run({
      ...play(
        {
          tools: [
            { kind: "shell", command: "touch touched.txt" },
            { kind: "raw", name: "glob", input: { pattern: "*" } },
          ],
        },
        { text: "Refused." },
      ),
      profile: "inspect",
    });
    expect(result).toMatchObject({ status: "ok", output: "Refused." });
    expect(existsSync(path.join(bench.workspace, "touched.txt"))).toBe(false);
    expect(existsSync(path.join(home, "loaded"))).toBe(false);
    // No package was installed for plugins either.
    expect(existsSync(path.join(home, ".npm"))).toBe(false);
  });

  test("a workspace with plugins is rejected, because OpenCode would load them", async () => {
    const bench = await open(connection);
    const marker = path.join(bench.home, "loaded");
    const code = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(marker)}, ""); export default { id: "x", setup() {} };`;
    writeIn(bench.workspace, { ".opencode/plugins/x.js": code });
    const { result } = await bench.run(play({ text: "Not said." }));
    expect(result).toMatchObject({ status: "error", errorCode: "adapter_error", error: expect.stringContaining(".opencode/plugins/x.js") });
    expect(existsSync(marker)).toBe(false);
  });

  test("a task on a model without prices has no cost, and no title is requested", async () => {
    const bench = await open(connection, { config: configOf({ limit }) });
    const before = model.requests.length;
    const { result } = await bench.run(play({ text: "Who knows the price?" }));
    expect(result).toMatchObject({ status: "ok", model: "scripted/model", usage: { inputTokens: 130 } });
    expect(result.costUsd).toBeUndefined();
    expect(model.requests.length - before).toBe(1);
  });

  test("the usage includes sub-agents, or is not reported", async () => {
    const bench = await open(connection);
    const { result } = await bench.run(play({ tools: [subAgent("true")] }, { text: "It is done." }));
    expect(result).toMatchObject({ status: "ok", output: "It is done." });
    // Two model calls of the task and two of its sub-agent.
    expect(result.usage?.inputTokens).toBe(connection === "http-api" ? 4 * 130 : undefined);
  });
});

describe("opencode", () => {
  test("opencode with approvals runs commands on paths outside the workspace, and limits its file tools to the workspace", async () => {
    const bench = await open("http-api");
    const outside = path.join(bench.root, "outside");
    writeIn(outside, { "secret.txt": "the-secret-outside\n" });
    const at = (name: string) => path.join(outside, name);
    const { result, tools, events } = await bench.run({
      ...play(
        { tools: [{ kind: "shell", command: `touch ${at("touched.txt")}` }] },
        { tools: [{ kind: "write", path: at("written.txt"), content: "x" }] },
        { tools: [{ kind: "read", path: at("secret.txt") }] },
        { tools: [{ kind: "raw", name: "glob", input: { pattern: "*", path: outside } }] },
        { text: "Done." },
      ),
    });
    expect(result).toMatchObject({ status: "ok", output: "Done." });
    expect(tools).toEqual({ bash: false, write: true, read: true, glob: true });
    expect(existing(outside, ["touched.txt", "written.txt"])).toEqual(["touched.txt"]);
    expect(JSON.stringify(events)).not.toContain("the-secret-outside");
  });

  test("opencode resumes a session over the other connection, and rejects an unknown session", async () => {
    const bench = await open("http-api");
    const first = await bench.run({ message: `zebra-4711 ${play({ text: "I keep it." }).message}` });
    const cli = await open("cli", { root: bench.root });
    const resumeToken = first.result.resumeToken as string;
    const second = await cli.run({ ...play({ recall: true }), resumeToken });
    expect(second.result).toMatchObject({ status: "ok", output: expect.stringContaining("zebra-4711"), resumeToken });
    for (const one of [bench, cli]) {
      const { result } = await one.run({ ...play({ text: "?" }), resumeToken: "ses_0000000000000000000000000" });
      expect(result).toMatchObject({ status: "error", errorCode: "adapter_error", error: expect.stringContaining("session") });
    }
  });

  test("opencode returns structured output, also with profile inspect", async () => {
    const bench = await open("http-api");
    const schema = { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] };
    const { result, events } = await bench.run({
      ...play({ tools: [{ kind: "raw", name: "StructuredOutput", input: { colour: "blue" } }] }),
      profile: "inspect",
      outputStrategy: { type: "structured", schema },
    });
    expect(result).toMatchObject({ status: "ok", outputs: { colour: "blue" } });
    expect(events.map(({ type }) => type)).toEqual(["usage.reported"]);
    const prose = await bench.run({ ...play({ text: '{"colour":"red"}' }), outputStrategy: { type: "structured", schema } });
    expect(prose.result).toMatchObject({ status: "ok", output: '{"colour":"red"}' });
  });

  test("opencode stops after repeated failures of a provider, and reports the attempts", async () => {
    const bench = await open("http-api");
    const { result, events } = await bench.run(play({ error: 503 }));
    expect(result).toMatchObject({ status: "error", errorCode: "model_error", error: expect.stringContaining("Scripted error 503") });
    expect(events).toMatchObject([1, 2, 3, 4].map((retry) => ({ type: "execution.progress", data: { retry } })));
  });

  test.each([
    [429, "rate_limited"],
    [404, "model_error"],
    [400, "model_error"],
    [403, "authentication_required"],
  ] as const)("opencode reports %i as %s", async (error, errorCode) => {
    const bench = await open("http-api");
    expect((await bench.run(play({ error }))).result).toMatchObject({
      status: "error",
      errorCode,
      error: expect.stringContaining("Scripted"),
    });
  });

  test("opencode reports an unknown model", async () => {
    const bench = await open("http-api");
    const { result } = await bench.run({ ...play({ text: "?" }), model: "scripted/unknown" });
    expect(result).toMatchObject({ status: "error", errorCode: "model_error", error: expect.stringContaining("scripted/unknown") });
  });

  test("without a provider calls no model, and reports what to configure", async () => {
    const bench = await open("http-api", { config: {} });
    expect(await bench.adapter.checkHealth()).toMatchObject({ status: "degraded", detail: expect.stringContaining("ANTHROPIC_API_KEY") });
    const { result } = await bench.run(play({ text: "?" }));
    expect(result).toMatchObject({ status: "error", errorCode: "authentication_required" });
  });

  test.each([
    ["anthropic/claude-sonnet-4-5", { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: model.url }],
    ["openai/gpt-5", { OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${model.url}/v1` }],
    ["google/gemini-2.5-flash", { GEMINI_API_KEY: "k", GOOGLE_GEMINI_BASE_URL: model.url }],
  ])("calls %s at the base URL of its vendor's variables", async (name, variables) => {
    const bench = await open("http-api", { config: {}, env: variables });
    const { result } = await bench.run({ ...play({ text: "Here I am." }), model: name });
    expect(result.error).toBeUndefined();
    expect(result).toMatchObject({ status: "ok", output: "Here I am.", model: name });
  });

  test("opencode passes its password outside of arguments, expands nothing in a system prompt, and exits soon after a cancel", async () => {
    const bench = await open("http-api");
    const before = model.requests.length;
    const { request, working, result } = await bench.start({
      ...play({ say: "I wait.", tools: [{ kind: "shell", command: "sleep 60" }] }),
      systemPrompt: "{env:OPENCODE_SERVER_PASSWORD} {file:/etc/hostname}",
    });
    await working;
    const lines = processesOf(request.taskId).map((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8"));
    expect(lines.some((line) => line.includes("serve"))).toBe(true);
    expect(lines.join()).not.toMatch(/password|sk-of-the/i);
    expect(JSON.stringify(model.requests.slice(before).map(({ body }) => body))).toContain(
      "{env:OPENCODE_SERVER_PASSWORD} {file:/etc/hostname}",
    );
    expect(await bench.adapter.cancel(request.taskId)).toBe(true);
    expect(await result).toMatchObject({ status: "error", errorCode: "cancelled" });
    expect(processesOf(request.taskId)).toEqual([]);
  });
});

/** Opens an adapter with separate directories for a test. */
async function open(connection: Connection, changes: { config?: object; env?: Record<string, string>; root?: string } = {}) {
  const root = changes.root ?? (await temporaryDirectory());
  const workspace = path.join(root, "workspace");
  const directories = { workspace, cwd: workspace, home: path.join(root, "home") };
  for (const directory of [workspace, directories.home]) mkdirSync(directory, { recursive: true });
  const subject: AdapterSubject = {
    ...shared,
    config: { settings: { connection, config: changes.config ?? configOf(priced) }, env: { ...env, ...changes.env } },
  };
  const bench = openBench(subject);
  onTestFinished(async () => {
    await bench.close();
    expect(bench.breaches).toEqual([]);
  });
  await bench.initialize();
  const start = async (given: Partial<ExecutionRequest>) =>
    await bench.start({ ...given, directories: { ...directories, tmp: path.join(root, "tmp", randomUUID()) } });
  return {
    ...{ adapter: bench.adapter, root, workspace, home: directories.home, start },
    async run(given: Partial<ExecutionRequest>) {
      const task = await start(given);
      const result = await task.result;
      const tools = task.events.flatMap((event) => (event.type === "tool.completed" ? [[event.data.toolName, event.data.isError]] : []));
      return { events: task.events, tools: Object.fromEntries(tools) as Record<string, boolean>, result };
    },
  };
}

function writeIn(directory: string, files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

const existing = (directory: string, names: readonly string[]) => names.filter((name) => existsSync(path.join(directory, name)));

/** A sub-agent that runs one command and ends. */
const subAgent = (command: string): Tool => ({
  kind: "raw",
  name: "task",
  input: {
    description: "A part of it",
    prompt: play({ tools: [{ kind: "shell", command }] }, { text: "My part is done." }).message,
    subagent_type: "general",
  },
});
