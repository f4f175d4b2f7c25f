import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { ExecutionRequest } from "#contract";
import { createClaudeAdapter } from "../../adapters/claude/index.ts";
import { PROMPT_OPENING } from "../../adapters/shared/agent-program/prompt.ts";
import { adapterConformance } from "../conformance/adapter.ts";
import { processesOf } from "../conformance/adapter-bench.ts";
import { createAdapterConfig } from "../conformance/adapter-config.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import type { Step, Tool } from "./model-server/scenarios.ts";
import { createModelServer } from "./model-server/server.ts";
import { runtimesPath } from "./programs.ts";
import { startTask, toolsOf } from "./start-task.ts";
import { trapServers, writeTraps } from "./write-traps.ts";

const model = await createModelServer({ messagePrefix: PROMPT_OPENING });
afterAll(() => model.close());

const env = {
  PATH: `${runtimesPath()}${path.delimiter}${process.env["PATH"]}`,
  ANTHROPIC_BASE_URL: model.url,
  ANTHROPIC_API_KEY: "sk-of-the-runtime-suite",
  CLAUDE_CODE_MAX_RETRIES: "1",
};
const connections = ["acp", "cli"] as const;
type Connection = (typeof connections)[number];
const mcpServer = path.join(import.meta.dirname, "table/mcp-server.js");
/** The reported usage of one call of the scripted model. */
const oneCall = { inputTokens: 150, outputTokens: 30, cacheReadTokens: 20, cacheWriteTokens: 10 };
const usage = { acp: oneCall, cli: { ...oneCall, thinkingTokens: 5 } };
const oneCallUsd = 0.001134;
const play = (...steps: Step[]) => ({ message: model.scenario(steps) });

for (const connection of connections) {
  adapterConformance(`claude over ${connection}`, {
    createAdapter: createClaudeAdapter,
    config: { settings: { connection }, env },
    hasProcesses: true,
    patienceMs: 30_000,
    scenarios: {
      speak: (text) => play({ text }),
      echo: () => ({ systemPrompt: model.scenario([{ echo: true }]) }),
      hang: () => play({ say: "I wait.", tools: [{ kind: "shell", command: "sleep 60" }] }),
      fail: { errorCode: "authentication_required", ask: () => play({ error: 401 }) },
      useTool: () =>
        play({ say: "I look.", tools: [{ kind: "shell", command: "echo seen" }] }, { text: "I have seen it, and that is all." }),
      resume: {
        remember: (text) => ({ message: `${text} ${play({ text: "I keep it." }).message}` }),
        recall: () => play({ recall: true }),
        usagePerTurn: usage[connection],
      },
      askFirst: () => play({ say: "May I?", tools: [{ kind: "shell", command: "sh -c 'echo seen > asked.txt'" }] }, { text: "Well." }),
      cost: { costUsd: oneCallUsd, ask: () => play({ text: "A known price." }) },
    },
  });
}

describe.each(connections)("claude over %s", (connection) => {
  test("text before an error in the model's stream is not part of the answer, and the error of a provider is no text", async () => {
    const { run } = await openBench(connection);
    const broken: Step = { breakIn: "text", say: "Some text first. ", withError: true };
    const { result, events } = await run(play(broken, { text: "The whole answer." }));
    expect(result).toMatchObject({ status: "ok", output: "The whole answer." });
    const discarded = events.findIndex(({ type }) => type === "assistant.text_discarded");
    expect(discarded).toBeGreaterThan(0);
    expect(JSON.stringify(events.slice(discarded))).not.toContain("Some text first");
    const failed = await run(play({ error: 529 }));
    expect(failed.result).toMatchObject({ status: "error", errorCode: "model_error" });
    expect(failed.events.filter(({ type }) => type === "assistant.text")).toEqual([]);
    expect(failed.result.conversationMessages).toBeUndefined();
  });

  test("a task with profile inspect changes nothing and reads nothing outside the workspace, for any tool call", async () => {
    const { run, directories, outside } = await openBench(connection);
    symlinkSync(path.join(outside, "secret.txt"), path.join(directories.workspace, "link.txt"));
    const inside = (name: string) => path.join(directories.workspace, name);
    const seen = model.requests.length;
    const { result, tools } = await run({
      profile: "inspect",
      approvals: "allow",
      mcpServers: [{ name: "words", transport: "stdio", command: process.execPath, args: [mcpServer] }],
      ...play(
        { tools: [{ kind: "write", path: inside("a.txt"), content: "x" }] },
        { tools: [{ kind: "shell", command: `touch ${inside("b.txt")}` }] },
        { tools: [{ kind: "raw", name: "Edit", input: { file_path: inside("note.txt"), old_string: "plain", new_string: "changed" } }] },
        { tools: [{ kind: "mcp", server: "words", tool: "lookup", input: { key: "blue" } }] },
        { tools: [{ kind: "read", path: path.join(outside, "secret.txt") }] },
        { tools: [{ kind: "read", path: inside("link.txt") }] },
        { tools: [{ kind: "read", path: inside("note.txt") }] },
        { text: "I only read." },
      ),
    });
    expect(result).toMatchObject({ status: "ok", output: "I only read." });
    expect(tools.map(({ isError }) => isError)).toEqual([true, true, true, true, true, true, false]);
    expect(JSON.stringify(tools.at(-1)?.output)).toContain("plain");
    expect(offeredTools(model, seen)).toEqual(["Glob", "Grep", "Read"]);
    expect(readdirSync(directories.workspace).sort()).toEqual(["link.txt", "note.txt"]);
    expect(readFileSync(inside("note.txt"), "utf8")).toBe("plain\n");
    expect(requestsOf(model)).not.toContain("the-secret-outside");
  });

  test("a task with profile modify and without approvals edits the workspace, and calls that need an approval are rejected", async () => {
    const { run, directories, outside } = await openBench(connection);
    const { result, tools } = await run({
      profile: "modify",
      approvals: "deny",
      ...play(
        { tools: [{ kind: "write", path: path.join(directories.workspace, "a.txt"), content: "x" }] },
        { tools: [{ kind: "shell", command: `touch ${outside}/b.txt` }] },
        { tools: [{ kind: "write", path: path.join(outside, "c.txt"), content: "x" }] },
        { text: "Done." },
      ),
    });
    expect(result).toMatchObject({ status: "ok", output: "Done." });
    expect(tools.map(({ isError }) => isError)).toEqual([false, true, true]);
    expect(existsSync(path.join(directories.workspace, "a.txt"))).toBe(true);
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
  });

  test("a task with profile modify and with approvals runs commands, and its file tools are limited to the workspace", async () => {
    const { run, directories, outside } = await openBench(connection);
    const { tools } = await run({
      ...play(
        { tools: [{ kind: "shell", command: "echo made > made.txt" }] },
        { tools: [{ kind: "write", path: path.join(outside, "c.txt"), content: "x" }] },
        { text: "Done." },
      ),
    });
    expect(tools.map(({ isError }) => isError)).toEqual([false, true]);
    expect(readFileSync(path.join(directories.workspace, "made.txt"), "utf8")).toBe("made\n");
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
  });

  test("settings, hooks, memory, skills, agents and MCP servers in the workspace or the home have no effect", async () => {
    const { run, directories, outside } = await openBench(connection);
    const { workspace, home } = directories;
    writeTraps(workspace, path.join(workspace, ".claude"), outside);
    writeTraps(path.join(home, ".claude"), path.join(home, ".claude"), outside);
    writeFileSync(path.join(home, ".claude.json"), JSON.stringify(trapServers(outside)));
    const seen = model.requests.length;
    const { result, tools } = await run({
      profile: "modify",
      approvals: "deny",
      ...play({ tools: [{ kind: "shell", command: `touch ${outside}/shell` }] }, { text: "Nothing happened." }),
    });
    expect(result).toMatchObject({ status: "ok", output: "Nothing happened." });
    expect(tools.map(({ isError }) => isError)).toEqual([true]);
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
    expect(requestsOf(model, seen)).not.toContain("TRAP-");
    expect(model.requests.slice(seen).map(({ headers }) => headers["x-api-key"])).not.toContain("trap-key");
  });

  test("`@path` in a message is not expanded", async () => {
    const { run, directories, outside } = await openBench(connection);
    writeFileSync(path.join(directories.workspace, "inside.txt"), "the-secret-inside\n");
    for (const message of [`@${outside}/secret.txt`, "@inside.txt"]) {
      const { result } = await run({ message, systemPrompt: model.scenario([{ echo: true }]) });
      expect(result.output).toBe(message);
    }
    expect(requestsOf(model)).not.toContain("the-secret");
  });

  test("a system prompt of 300 kB and the secrets of MCP servers are passed without command line arguments", async () => {
    const { start, adapter } = await openBench(connection);
    // This text is passed unchanged, although Claude Code expands variables.
    const secret = ["s3cret ", "{HOME} ", "HOME ", "{NOT_SET:-x}"].join("$");
    const observed = start({
      systemPrompt: `prompt-of-the-dispatch ${"y".repeat(300_000)}`,
      mcpServers: [{ name: "words", transport: "stdio", command: process.execPath, args: [mcpServer], env: { WORD: secret } }],
      ...play({ tools: [{ kind: "mcp", server: "words", tool: "lookup", input: { key: "blue" } }] }, { say: "Now I wait.", hang: true }),
    });
    await expect.poll(() => observed.events.some((event) => event.type === "assistant.text"), { timeout: 30_000 }).toBe(true);
    const commandLines = processesOf(observed.request.taskId).map((pid) => readFileSync(`/proc/${pid}/cmdline`, "latin1"));
    await adapter.cancel(observed.request.taskId);
    expect((await observed.done).result).toMatchObject({ status: "error", errorCode: "cancelled" });
    expect(commandLines.length).toBeGreaterThan(1);
    expect(commandLines.join()).not.toMatch(/s3cret|prompt-of-the-dispatch/);
    expect(systemOf(model)).toContain("prompt-of-the-dispatch");
    expect(toolsOf(observed.events)[0]).toMatchObject({ toolName: "mcp__words__lookup", isError: false });
    expect(JSON.stringify(toolsOf(observed.events)[0]?.output)).toContain(`${secret} for blue`);
  });

  test("MCP servers with any names are used without approvals, and none replaces another", async () => {
    const { run } = await openBench(connection);
    const servers = ["GitHub (prod)", "GitHub.prod", "workspace"].map((name) => {
      const env = { WORD: `word of ${name}` };
      return { name, transport: "stdio" as const, command: process.execPath, args: [mcpServer], env };
    });
    const lookup = (server: string) => ({ kind: "mcp", server, tool: "lookup", input: { key: "blue" } }) as const;
    const { tools } = await run({
      approvals: "deny",
      mcpServers: servers,
      ...play(...["GitHub_prod", "GitHub_prod_2", "workspace_2"].map((server) => ({ tools: [lookup(server)] as [Tool] })), {
        text: "Done.",
      }),
    });
    expect(tools.map(({ isError }) => isError)).toEqual([false, false, false]);
    for (const [index, { name }] of servers.entries()) expect(JSON.stringify(tools[index]?.output)).toContain(`word of ${name}`);
  });

  test("a resumed session uses the system prompt and the model of the new dispatch", async () => {
    const { run } = await openBench(connection);
    const first = await run({ systemPrompt: "prompt-one", model: "claude-sonnet-4-5", ...play({ text: "One." }) });
    const resumeToken = first.result.resumeToken as string;
    const second = await run({ systemPrompt: "prompt-two", model: "claude-haiku-4-5", resumeToken, ...play({ recall: true }) });
    expect(second.result).toMatchObject({ status: "ok", resumeToken, output: expect.stringContaining("[[scenario") });
    expect([first.result.model, second.result.model]).toEqual([
      expect.stringMatching(/^claude-sonnet-4-5/),
      expect.stringMatching(/^claude-haiku-4-5/),
    ]);
    expect(systemOf(model)).toContain("prompt-two");
    expect(systemOf(model)).not.toContain("prompt-one");
    expect(lastBody(model).model).toMatch(/^claude-haiku-4-5/);
  });

  test.each([
    [400, "model_error"],
    [403, "authentication_required"],
    [404, "model_error"],
    [429, "rate_limited"],
    [500, "model_error"],
  ])("a status %d of the API is reported as %s, and its text is not part of the output", async (status, errorCode) => {
    const { run } = await openBench(connection);
    const { result } = await run(play({ error: status }));
    expect(result).toMatchObject({ status: "error", errorCode, error: expect.stringMatching(/./) });
    expect(result.output).toBeUndefined();
  });

  test("missing credentials are reported by the health check and by the result, with the variables to set", async () => {
    const { run, adapter } = await openBench(connection, { ANTHROPIC_API_KEY: undefined });
    const advice = /set ANTHROPIC_API_KEY, or BRIDGE_CLAUDE_HOME=user/;
    expect(await adapter.checkHealth()).toMatchObject({ status: "degraded", connection, detail: expect.stringMatching(advice) });
    const { result } = await run(play({ text: "Never said." }));
    expect(result).toMatchObject({ status: "error", errorCode: "authentication_required" });
    expect(result.error).toMatch(advice);
  });

  test("an unknown resume token is rejected", async () => {
    const { run } = await openBench(connection);
    for (const resumeToken of ["--dangerously-skip-permissions", "Bridge", randomUUID()]) {
      const { result } = await run({ resumeToken, ...play({ text: "Never said." }) });
      expect(result).toMatchObject({ status: "error", errorCode: "adapter_error" });
    }
  });

  test("neither a sub-agent nor a background call runs a command without approvals", async () => {
    const { run, directories } = await openBench(connection);
    const delegated = model.scenario([{ tools: [{ kind: "shell", command: "touch by-sub-agent" }] }, { text: "It was refused." }]);
    const agent = { description: "d", prompt: `Do it. ${delegated}`, subagent_type: "general-purpose" };
    const background = { command: "touch in-background", description: "d", run_in_background: true };
    const { result } = await run({
      profile: "modify",
      approvals: "deny",
      ...play(
        { tools: [{ kind: "raw", name: "Agent", input: agent }] },
        { tools: [{ kind: "raw", name: "Bash", input: background }] },
        { text: "Done." },
      ),
    });
    expect(result).toMatchObject({ status: "ok", output: "Done." });
    expect(requestsOf(model)).toContain("It was refused.");
    expect(readdirSync(directories.workspace)).toEqual(["note.txt"]);
  });

  test("the tools and tokens of a sub-agent are reported, and its text is not part of the answer", async () => {
    const { run } = await openBench(connection);
    const delegated = model.scenario([
      { say: "The sub-agent talks.", tools: [{ kind: "shell", command: "echo sub" }] },
      { text: "Its report." },
    ]);
    const agent = { description: "d", prompt: `Do it. ${delegated}`, subagent_type: "general-purpose" };
    const { result, tools, events } = await run(
      play({ say: "I delegate.", tools: [{ kind: "raw", name: "Agent", input: agent }] }, { text: "It is done." }),
    );
    expect(result).toMatchObject({ status: "ok", output: "It is done." });
    expect(tools.map(({ toolName }) => toolName).sort()).toEqual(["Agent", "Bash"]);
    const text = events.flatMap((event) => (event.type === "assistant.text" ? [event.data.content] : [])).join("");
    expect(text).toBe("I delegate.It is done.");
    expect(result).toMatchObject({ costUsd: expect.closeTo(4 * oneCallUsd, 6), usage: { inputTokens: 4 * oneCall.inputTokens } });
  });

  test("no task continues in the background after its end", async () => {
    const { run } = await openBench(connection);
    const background = { command: "sleep 30", description: "d", run_in_background: true };
    const { tools } = await run(play({ tools: [{ kind: "raw", name: "Bash", input: background }] }, { text: "Done." }));
    expect(tools.map(({ isError }) => isError)).toEqual([true]);
  });
});

describe("claude over cli", () => {
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

  test("Claude Code returns structured output", async () => {
    const { run } = await openBench("cli");
    const { result, tools } = await run({
      outputStrategy: { type: "structured", schema },
      ...play({ say: "The number is ", tools: [{ kind: "raw", name: "StructuredOutput", input: { n: 4 } }] }),
    });
    expect(result).toMatchObject({ status: "ok", outputs: { n: 4 } });
    expect(tools).toEqual([]);
  });

  test("Bridge parses the text if Claude Code does not support the schema", async () => {
    const { run } = await openBench("cli");
    const { result } = await run({
      outputStrategy: { type: "structured", schema: { ...schema, prefixItems: [] } },
      ...play({ text: '```json\n{"n":4}\n```' }),
    });
    expect(result).toMatchObject({ status: "ok", output: '```json\n{"n":4}\n```' });
  });
});

test("a session can be resumed over the other connection", async () => {
  const root = await temporaryDirectory();
  const over = { acp: await openBench("acp", {}, root), cli: await openBench("cli", {}, root) };
  const first = await over.acp.run({ message: `zebra ${play({ text: "Kept." }).message}` });
  const resumeToken = first.result.resumeToken as string;
  const second = await over.cli.run({ resumeToken, ...play({ recall: true }) });
  expect(second.result).toMatchObject({ status: "ok", resumeToken, output: expect.stringContaining("zebra"), usage: usage.cli });
  const third = await over.acp.run({ resumeToken, ...play({ recall: true }) });
  expect(third.result).toMatchObject({ status: "ok", resumeToken, output: expect.stringContaining("zebra"), usage: usage.acp });
  expect(third.result.costUsd).toBeCloseTo(oneCallUsd, 6);
});

/** Opens an adapter with separate directories for a test. */
async function openBench(connection: Connection, changes: Record<string, string | undefined> = {}, given?: string) {
  const root = given ?? (await temporaryDirectory());
  const outside = path.join(root, "outside");
  const workspace = path.join(root, "workspace");
  const directories = { workspace, cwd: workspace, home: path.join(root, "home"), tmp: path.join(root, "tmp") };
  for (const directory of [outside, workspace, directories.home]) mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(outside, "secret.txt"), "the-secret-outside\n");
  writeFileSync(path.join(workspace, "note.txt"), "plain\n");

  const adapter = createClaudeAdapter();
  onTestFinished(() => adapter.shutdown());
  await adapter.initialize(createAdapterConfig(root, { settings: { connection }, env: { ...env, ...changes } }));

  const start = (given: Partial<ExecutionRequest>) => startTask(adapter, directories, given);
  return { adapter, directories, outside, start, run: (given: Partial<ExecutionRequest>) => start(given).done };
}

type Server = typeof model;
const requestsOf = ({ requests }: Server, since = 0): string => JSON.stringify(requests.slice(since).map(({ body }) => body));
/** The tools that were offered to the model since then. */
const offeredTools = ({ requests }: Server, since: number): string[] =>
  [
    ...new Set(
      requests.slice(since).flatMap(({ body }) => ((body as { tools?: { name: string }[] } | null)?.tools ?? []).map(({ name }) => name)),
    ),
  ].sort();
const lastBody = ({ requests }: Server) => requests.findLast(({ body }) => body !== null)?.body as { model: string };
const systemOf = (server: Server): string => JSON.stringify(lastBody(server));
