import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { ExecutionRequest, McpServerSpec } from "#contract";
import { createCodexAdapter } from "../../adapters/codex/index.ts";
import { PROMPT_OPENING } from "../../adapters/shared/agent-program/prompt.ts";
import { adapterConformance } from "../conformance/adapter.ts";
import { processesOf } from "../conformance/adapter-bench.ts";
import { createAdapterConfig } from "../conformance/adapter-config.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import type { Step } from "./model-server/scenarios.ts";
import { createModelServer } from "./model-server/server.ts";
import { runtimesPath } from "./programs.ts";
import { startTask, toolsOf } from "./start-task.ts";

const model = await createModelServer({ messagePrefix: PROMPT_OPENING });
afterAll(() => model.close());

const env = {
  PATH: `${runtimesPath()}${path.delimiter}${process.env["PATH"]}`,
  OPENAI_BASE_URL: `${model.url}/v1`,
  OPENAI_API_KEY: "sk-of-the-runtime-suite",
};
const connections = ["acp", "cli"] as const;
type Connection = (typeof connections)[number];
const mcpScript = path.join(import.meta.dirname, "table/mcp-server.js");
const mcpServer = (variables: Record<string, string>): McpServerSpec => ({
  name: "words",
  transport: "stdio",
  command: process.execPath,
  args: [mcpScript],
  env: variables,
});
/** The reported usage of one call of the scripted model. */
const oneCall = { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20 };
/** Codex offers plain tools to a model that it does not know. The models that it knows write programs that call the tools. */
const plain = { model: "scripted-model" };
const play = (...steps: Step[]) => ({ ...plain, message: model.scenario(steps) });

for (const connection of connections) {
  adapterConformance(`codex over ${connection}`, {
    createAdapter: createCodexAdapter,
    config: { settings: { connection }, env },
    hasProcesses: true,
    patienceMs: 30_000,
    scenarios: {
      speak: (text) => play({ text }),
      echo: () => ({ ...plain, systemPrompt: model.scenario([{ echo: true }]) }),
      hang: () => play({ say: "I wait.", tools: [{ kind: "shell", command: "sleep 60" }] }),
      fail: { errorCode: "authentication_required", ask: () => play({ error: 401 }) },
      useTool: () =>
        play({ say: "I look.", tools: [{ kind: "shell", command: "echo seen" }] }, { text: "I have seen it, and that is all." }),
      resume: {
        remember: (text) => ({ ...plain, message: `${text} ${play({ text: "I keep it." }).message}` }),
        recall: () => play({ recall: true }),
        usagePerTurn: oneCall,
      },
      cost: null,
    },
  });
}

describe.each(connections)("codex over %s", (connection) => {
  const touch = (file: string, more: object = {}): Step => ({
    tools: [{ kind: "raw", name: "exec_command", input: { cmd: `touch '${file}'`, ...more } }],
  });
  const escalated = { sandbox_permissions: "require_escalated", justification: "It must be." };

  test("a task with profile inspect changes nothing, for any tool call and any approvals", async () => {
    const { run, directories, dataDir, outside, requests } = await openBench(connection);
    const changing = path.join(dataDir, "changing.mjs");
    writeFileSync(changing, readFileSync(mcpScript, "utf8").replace("readOnlyHint: true", "readOnlyHint: false"));
    const { result } = await run({
      profile: "inspect",
      approvals: "allow",
      mcpServers: [
        mcpServer({ WORD: "cobalt" }),
        { name: "changing", transport: "stdio", command: process.execPath, args: [changing], env: { WORD: "crimson" } },
      ],
      ...play(
        touch(path.join(directories.workspace, "a.txt")),
        { tools: [{ kind: "write", path: path.join(directories.workspace, "b.txt"), content: "x" }] },
        touch(path.join(directories.workspace, "c.txt"), escalated),
        touch(path.join(directories.home, "d.txt")),
        touch(path.join(directories.tmp, "e.txt")),
        touch(path.join(outside, "f.txt")),
        { tools: [{ kind: "mcp", server: "words", tool: "lookup", input: { key: "blue" } }] },
        { tools: [{ kind: "mcp", server: "changing", tool: "lookup", input: { key: "red" } }] },
        { tools: [{ kind: "shell", command: "cat note.txt" }] },
        { text: "I only read." },
      ),
    });
    expect(result).toMatchObject({ status: "ok", output: "I only read." });
    expect(readdirSync(directories.workspace)).toEqual(["note.txt"]);
    expect([...readdirSync(directories.home), ...readdirSync(outside)]).toEqual([".codex"]);
    expect(requests()).toContain("Read-only file system");
    // Only tools that are annotated as read-only are used.
    expect(requests()).toContain("cobalt for blue");
    expect(requests()).not.toContain("crimson for red");
    expect(requests()).toContain("a-plain-note");
  });

  test("the model receives the reasoning level", async () => {
    const { run, requests } = await openBench(connection);
    const { result } = await run({ reasoningLevel: "high", ...play({ text: "Thought." }) });
    expect(result).toMatchObject({ status: "ok", output: "Thought." });
    expect(requests()).toContain('"effort":"high"');
  });

  test.each(["deny", "allow"] as const)(
    "a task with profile modify and approvals %s changes only the workspace, without approval requests",
    async (approvals) => {
      const { run, directories, outside, requests } = await openBench(connection, { cwd: "sub" });
      const shared = path.join("/tmp", `bridge-test-${randomUUID()}`);
      onTestFinished(() => rmSync(shared, { force: true }));
      const { result, tools } = await run({
        approvals,
        mcpServers: [mcpServer({ WORD: "cobalt" })],
        ...play(
          touch("a.txt"),
          touch(path.join(directories.workspace, "b.txt")),
          { tools: [{ kind: "write", path: "c.txt", content: "x" }] },
          touch(path.join(outside, "d.txt")),
          touch(shared),
          { tools: [{ kind: "shell", command: 'touch "$TMPDIR/own.txt" && echo made-its-own' }] },
          touch(path.join(outside, "e.txt"), escalated),
          { tools: [{ kind: "shell", command: `curl -sS -m 5 ${model.url}/leak` }] },
          { tools: [{ kind: "mcp", server: "words", tool: "lookup", input: { key: "blue" } }] },
          { text: "Done." },
        ),
      });
      expect(result).toMatchObject({ status: "ok", output: "Done." });
      expect(readdirSync(directories.workspace).sort()).toEqual(["b.txt", "note.txt", "sub"]);
      expect(readdirSync(directories.cwd).sort()).toEqual(["a.txt", "c.txt"]);
      expect(readdirSync(outside)).toEqual([]);
      expect(existsSync(shared)).toBe(false);
      expect(requests()).toContain("made-its-own");
      expect(model.requests.map((request) => request.path)).not.toContain("/leak");
      expect(requests()).toContain("cobalt for blue");
      expect(tools.at(-1)).toMatchObject({ isError: false });
    },
  );

  test("a system prompt of 300 kB and the secrets of MCP servers are passed without command line arguments", async () => {
    const { start, adapter, requests } = await openBench(connection);
    const secret = `s3cret "$HOME" 'x' \`id\` \\`;
    const observed = start({
      systemPrompt: `prompt-of-the-dispatch ${"y".repeat(300_000)}`,
      mcpServers: [mcpServer({ WORD: secret, OTHER: "s3cret too" })],
      ...play(
        { tools: [{ kind: "mcp", server: "words", tool: "lookup", input: { key: "blue" } }] },
        { tools: [{ kind: "shell", command: "env; sleep 60" }] },
      ),
    });
    await expect.poll(() => observed.events.filter(({ type }) => type === "tool.invoked").length, { timeout: 30_000 }).toBe(2);
    const processes = processesOf(observed.request.taskId).map((pid) => ({
      program: readlinkSync(`/proc/${pid}/exe`),
      commandLine: readFileSync(`/proc/${pid}/cmdline`, "latin1"),
    }));
    await adapter.cancel(observed.request.taskId);
    expect((await observed.done).result).toMatchObject({ status: "error", errorCode: "cancelled" });
    expect(processes.map(({ commandLine }) => commandLine).join()).not.toMatch(/s3cret|prompt-of-the-dispatch|sk-of-the/);
    // The servers have the marker of their task, so Bridge finds them if they outlive it.
    expect(processes.some(({ commandLine }) => commandLine.includes(mcpScript))).toBe(true);
    // The launcher script that npm installs for Codex is not used.
    expect(processes.some(({ commandLine }) => commandLine.includes("codex.js"))).toBe(false);
    expect(requests()).toContain("prompt-of-the-dispatch");
    expect(toolsOf(observed.events)[0]).toMatchObject({ toolName: expect.stringContaining("lookup"), isError: false });
    expect(toolsOf(observed.events).some(({ output }) => findText(output).includes(`${secret} for blue`))).toBe(true);
  });

  test("commands see neither the key nor the secrets of MCP servers", async () => {
    const { run } = await openBench(connection);
    const { tools } = await run({
      mcpServers: [mcpServer({ WORD: "s3cret" })],
      ...play({ tools: [{ kind: "shell", command: "env" }] }, { text: "Seen." }),
    });
    const output = JSON.stringify(tools[0]?.output);
    expect(output).toContain("BRIDGE_TASK_ID=");
    expect(output).not.toMatch(/sk-of-the-runtime-suite|s3cret/);
  });

  test("a resumed session uses the system prompt of the new dispatch", async () => {
    const { run, requests } = await openBench(connection);
    const first = await run({ systemPrompt: "prompt-one", ...play({ text: "One." }) });
    const resumeToken = first.result.resumeToken as string;
    const second = await run({ systemPrompt: "prompt-two", resumeToken, profile: "inspect", ...play(touch("x.txt"), { recall: true }) });
    expect(second.result).toMatchObject({ status: "ok", resumeToken, output: expect.stringContaining("[[scenario") });
    expect(requests()).toContain("prompt-two");
    // The profile belongs to the task, not to the session.
    expect(requests()).toContain("Read-only file system");
  });

  test.each([
    [400, "model_error"],
    [403, "authentication_required"],
    [404, "model_error"],
    [429, "rate_limited"],
    [500, "model_error"],
  ])("a status %d of the API is reported as %s, and its text is not part of the output", async (status, errorCode) => {
    const { run } = await openBench(connection);
    const { result } = await run(play({ tools: [{ kind: "shell", command: "true" }] }, { error: status }));
    expect(result).toMatchObject({ status: "error", errorCode, error: expect.stringMatching(/./) });
    expect(result.output).toBeUndefined();
  });

  test("a temporary error does not fail the task", async () => {
    const { run } = await openBench(connection);
    const { result } = await run(play({ error: 500, times: 1 }, { text: "After all." }));
    expect(result).toMatchObject({ status: "ok", output: "After all." });
  });

  test("missing credentials are reported by the health check and by the result, with the variables to set", async () => {
    const { run, adapter } = await openBench(connection, { env: { OPENAI_API_KEY: undefined, OPENAI_BASE_URL: undefined } });
    const advice = /set OPENAI_API_KEY or CODEX_API_KEY, or BRIDGE_CODEX_HOME=user/;
    expect(await adapter.checkHealth()).toMatchObject({ status: "degraded", connection, detail: expect.stringMatching(advice) });
    const { result } = await run(play({ text: "Never said." }));
    expect(result).toMatchObject({ status: "error", errorCode: "authentication_required", error: expect.stringMatching(advice) });
  });

  test("an unknown resume token is rejected", async () => {
    const { run } = await openBench(connection);
    for (const resumeToken of ["--last", "Bridge", randomUUID()]) {
      const { result } = await run({ resumeToken, ...play({ text: "Never said." }) });
      expect(result).toMatchObject({ status: "error", errorCode: "adapter_error" });
    }
  });

  test("an unsupported MCP server fails the task with its name before a model call", async () => {
    const { run, requests } = await openBench(connection);
    const { result } = await run({ mcpServers: [{ name: "old", transport: "sse", url: model.url }], ...play({ text: "Never said." }) });
    expect(result).toMatchObject({ status: "error", errorCode: "adapter_error", error: expect.stringContaining('"old"') });
    expect(requests()).toBe("[]");
  });

  test("agent instructions of a repository around the workspace are ignored", async () => {
    const { run, dataDir, requests } = await openBench(connection);
    const around = path.dirname(dataDir);
    mkdirSync(path.join(around, ".git"));
    writeFileSync(path.join(around, ".git/HEAD"), "ref: refs/heads/main\n");
    writeFileSync(path.join(around, "AGENTS.md"), "TRAP-instructions");
    mkdirSync(path.join(around, ".agents/skills/trap"), { recursive: true });
    writeFileSync(path.join(around, ".agents/skills/trap/SKILL.md"), "---\nname: trap\ndescription: TRAP-skill\n---\nx");
    expect((await run(play({ text: "An answer." }))).result).toMatchObject({ status: "ok" });
    expect(requests()).not.toContain("TRAP-");
  });

  test("the health check reports that the sandbox works", async () => {
    const { adapter } = await openBench(connection);
    expect(await adapter.checkHealth()).toMatchObject({
      status: "healthy",
      connection,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      preflight: [
        { step: "primary connection", ok: true, detail: expect.stringContaining("sandbox") },
        { step: "authentication", ok: true, detail: "OPENAI_API_KEY" },
        { step: "multi-agent capability", ok: true },
        { step: "timeout", ok: true },
      ],
    });
  });
});

describe("codex", () => {
  test("settings in the workspace or the home have no effect, and tasks that find them use the cli connection", async () => {
    const { run, directories, outside } = await openBench();
    const trap = ["[mcp_servers.trap]", 'command = "/usr/bin/touch"', `args = ["${outside}/server"]`];
    const free = ['sandbox_mode = "danger-full-access"', 'approval_policy = "never"', 'approvals_reviewer = "auto_review"'];
    const rule = `prefix_rule(pattern = ["touch"], decision = "allow")\n`;
    for (const directory of [directories.workspace, directories.home]) {
      mkdirSync(path.join(directory, ".codex/rules"), { recursive: true });
      writeFileSync(path.join(directory, ".codex/config.toml"), [...free, ...trap].join("\n"));
      writeFileSync(path.join(directory, ".codex/rules/default.rules"), rule);
    }
    const { result } = await run({
      profile: "inspect",
      ...play({ tools: [{ kind: "shell", command: `touch ${outside}/shell` }] }, { text: "Nothing happened." }),
    });
    expect(result).toMatchObject({ status: "ok", connection: "cli", output: "Nothing happened." });
    expect(readdirSync(outside)).toEqual([]);
  });

  test("settings in the home have no effect over acp", async () => {
    const { run, directories, outside } = await openBench("acp");
    mkdirSync(path.join(directories.home, ".codex"));
    writeFileSync(path.join(directories.home, ".codex/config.toml"), `[mcp_servers.trap]\ncommand = "touch"\nargs = ["${outside}/server"]`);
    expect((await run(play({ text: "Nothing happened." }))).result).toMatchObject({ status: "ok", connection: "acp" });
    expect(readdirSync(outside)).toEqual([]);
  });

  test("rules in the home allow no command outside the sandbox over acp", async () => {
    const { run, directories, outside } = await openBench("acp");
    const rules = path.join(directories.home, ".codex/rules");
    mkdirSync(rules, { recursive: true });
    writeFileSync(path.join(rules, "default.rules"), `prefix_rule(pattern = ["touch"], decision = "allow")\n`);
    const touch = { kind: "raw", name: "exec_command", input: { cmd: `touch ${outside}/x.txt` } } as const;
    const { result } = await run({ profile: "inspect", ...play({ tools: [touch] }, { text: "Tried." }) });
    expect(result).toMatchObject({ status: "ok", output: "Tried." });
    expect(readdirSync(outside)).toEqual([]);
  });

  test.each(connections)("the usage over %s is unknown for a task with sub-agents", async (connection) => {
    const { run } = await openBench(connection);
    // The sub-agent hangs, because its report before the last answer would cause another request to the model.
    const delegated = { message: `Do it. ${play({ hang: true, say: "I am at it." }).message}` };
    const { result, events } = await run(
      play({ tools: [{ kind: "raw", name: "spawn_agent", input: delegated }] }, { text: "It is done." }),
    );
    expect(result).toMatchObject({ status: "ok", output: "It is done." });
    expect(events.flatMap((event) => (event.type === "tool.invoked" ? [event.data.toolName] : []))).toEqual(["spawn_agent"]);
    expect(result.usage).toBeUndefined();
  });

  test("a task cannot write settings for the next task", async () => {
    const { run, directories } = await openBench("acp");
    await run(play({ tools: [{ kind: "shell", command: "mkdir .codex; echo 'model = \"x\"' > .codex/config.toml" }] }, { text: "Tried." }));
    expect(existsSync(path.join(directories.workspace, ".codex/config.toml"))).toBe(false);
  });

  test("a stopped task does not affect the next task", async () => {
    const { run, start, adapter } = await openBench("acp");
    const stopped = start(play({ tools: [{ kind: "shell", command: "sleep 60" }] }));
    await expect.poll(() => stopped.events.some(({ type }) => type === "tool.invoked"), { timeout: 30_000 }).toBe(true);
    await adapter.cancel(stopped.request.taskId);
    expect((await stopped.done).result).toMatchObject({ errorCode: "cancelled" });
    expect((await run(play({ text: "On it goes." }))).result).toMatchObject({ status: "ok", connection: "acp" });
  });

  test("no other model is called for a session title over acp", async () => {
    const { run, requests } = await openBench("acp");
    expect((await run(play({ text: "An answer." }))).result).toMatchObject({ status: "ok" });
    expect(requests()).not.toContain("very short title");
  });

  test("only the login is used from the operator's home", async () => {
    const { run, adapter, directories, outside } = await openBench(undefined, { settings: { home: "user" } });
    const operator = path.join(outside, "operator");
    mkdirSync(path.join(operator, ".codex"), { recursive: true });
    writeFileSync(path.join(operator, ".codex/config.toml"), 'sandbox_mode = "danger-full-access"\napprovals_reviewer = "auto_review"\n');
    await adapter.initialize(configIn(directories.home, { settings: { home: "user" }, env: { HOME: operator } }));
    const { result } = await run({
      profile: "inspect",
      ...play({ tools: [{ kind: "shell", command: "touch x.txt" }] }, { text: "Tried." }),
    });
    expect(result).toMatchObject({ status: "ok", connection: "cli" });
    expect(readdirSync(directories.workspace)).toEqual(["note.txt"]);
    expect(readFileSync(path.join(operator, ".codex/config.toml"), "utf8")).toContain("danger-full-access");
    await adapter.initialize(
      configIn(directories.home, {
        settings: { home: "user" },
        env: { HOME: operator, OPENAI_API_KEY: undefined, OPENAI_BASE_URL: undefined },
      }),
    );
    expect(await adapter.checkHealth()).toMatchObject({
      status: "degraded",
      detail: expect.stringMatching(/not logged in: run codex login/i),
    });
  });

  test("a session can be resumed over the other connection, and each task reports its own usage", async () => {
    const over = { acp: await openBench("acp"), cli: await openBench("cli") };
    const { directories } = over.cli;
    const dataDir = over.cli.dataDir;
    await over.acp.adapter.initialize(configIn(dataDir, { settings: { connection: "acp" } }));
    const first = await over.cli.run({ message: `zebra ${play({ text: "Kept." }).message}`, ...plain });
    const resumeToken = first.result.resumeToken as string;
    expect(first.result.usage).toEqual(oneCall);
    for (const connection of ["acp", "cli", "acp", "cli"] as const) {
      const { result } = await over[connection].run({ directories, resumeToken, ...play({ recall: true }) });
      expect(result).toMatchObject({ status: "ok", resumeToken, connection, output: expect.stringContaining("zebra"), usage: oneCall });
    }
    const failed = await over.cli.run({ directories, resumeToken, ...play({ error: 400 }) });
    expect(failed.result.usage).toBeUndefined();
    // The usage of the failed task is unknown, so the usage of the next task is unknown too.
    const after = await over.cli.run({ directories, resumeToken, ...play({ text: "Again." }) });
    expect(after.result).toMatchObject({ status: "ok" });
    expect(after.result.usage).toBeUndefined();
  });

  const strict = { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false };

  test.each([
    ["a schema that the vendor supports is passed to the model", strict, true],
    ["any other schema is applied by Bridge", { type: "object", properties: { n: { type: "number" } } }, false],
  ])("%s", async (_, schema, given) => {
    const { run } = await openBench("cli");
    const { result } = await run({ outputStrategy: { type: "structured", schema }, ...play({ text: '{"n":4}' }) });
    expect(result).toMatchObject({ status: "ok", output: '{"n":4}' });
    const { body } = model.requests.findLast((request) => request.body !== null) ?? {};
    expect((body as { text?: { format?: { schema?: unknown } } }).text?.format?.schema).toEqual(given ? schema : undefined);
  });

  test("an unknown model is reported as a warning", async () => {
    const { run } = await openBench("cli");
    const { result, events } = await run(play({ text: "An answer." }));
    expect(result).toMatchObject({ status: "ok", output: "An answer.", model: plain.model });
    const warnings = events.flatMap((event) => (event.type === "execution.progress" ? [event.data["warning"]] : []));
    expect(warnings).toEqual([expect.stringContaining("Model metadata for `scripted-model` not found")]);
  });
});

interface Changes {
  settings?: Record<string, unknown>;
  env?: Record<string, string | undefined>;
}

/** Opens an adapter with separate directories for a test. */
async function openBench(connection?: Connection, { cwd = ".", ...changes }: Changes & { cwd?: string } = {}) {
  const root = await temporaryDirectory();
  const outside = path.join(homedir(), `.bridge-test-${randomUUID()}`);
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }));
  const workspace = path.join(root, "workspace");
  const directories = { workspace, cwd: path.join(workspace, cwd), home: path.join(root, "home"), tmp: path.join(root, "tmp") };
  for (const directory of [outside, directories.cwd, directories.home]) mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(workspace, "note.txt"), "a-plain-note\n");

  const adapter = createCodexAdapter();
  onTestFinished(() => adapter.shutdown());
  const dataDir = path.join(root, "data");
  mkdirSync(dataDir);
  await adapter.initialize(configIn(dataDir, { ...changes, settings: { ...changes.settings, ...(connection && { connection }) } }));
  const seen = model.requests.length;

  const start = (given: Partial<ExecutionRequest>) => startTask(adapter, directories, given);
  return {
    adapter,
    dataDir,
    directories,
    outside,
    start,
    run: (given: Partial<ExecutionRequest>) => start(given).done,
    /** The requests to the model since the start of the test. */
    requests: () => JSON.stringify(model.requests.slice(seen).map(({ body }) => body)),
  };
}

function configIn(dataDir: string, { settings = {}, env: changed = {} }: Changes) {
  return createAdapterConfig(dataDir, { settings, env: { ...env, ...changed } });
}

/** The text in an output of an MCP tool, without the text that Codex adds. */
const findText = (output: unknown): string => {
  if (typeof output === "string") return output;
  return typeof output === "object" && output !== null ? Object.values(output).map(findText).join("\n") : "";
};
