import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { AdapterConfig, ApprovalQuestion, ExecutionRequest } from "#contract";
import { createClaudeAgentSdkAdapter } from "../../adapters/claude-agent-sdk/index.ts";
import { PROMPT_OPENING } from "../../adapters/shared/agent-program/prompt.ts";
import { adapterConformance } from "../conformance/adapter.ts";
import { processesOf } from "../conformance/adapter-bench.ts";
import { createAdapterConfig } from "../conformance/adapter-config.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import type { Step, Tool } from "./model-server/scenarios.ts";
import { createModelServer } from "./model-server/server.ts";
import { sdkDirectory } from "./programs.ts";
import { startTask, toolsOf } from "./start-task.ts";
import { trapServers, writeTraps } from "./write-traps.ts";

const model = await createModelServer({ messagePrefix: PROMPT_OPENING });
afterAll(() => model.close());

const env = {
  PATH: process.env["PATH"],
  ANTHROPIC_BASE_URL: model.url,
  ANTHROPIC_API_KEY: "sk-of-the-runtime-suite",
  CLAUDE_CODE_MAX_RETRIES: "1",
};
const settings = { package: sdkDirectory() };
const mcpServer = path.join(import.meta.dirname, "table/mcp-server.js");
/** The reported usage of one call of the scripted model. */
const oneCall = { inputTokens: 150, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20, cacheWriteTokens: 10 };
const oneCallUsd = 0.001134;
const play = (...steps: Step[]) => ({ message: model.scenario(steps) });
const asking = (name: string): Step => ({ say: "May I?", tools: [{ kind: "shell", command: `sh -c 'echo ran > ${name}.txt'` }] });

adapterConformance("claude-agent-sdk", {
  createAdapter: createClaudeAgentSdkAdapter,
  config: { settings, env },
  hasProcesses: true,
  patienceMs: 30_000,
  scenarios: {
    speak: (text) => play({ text }),
    echo: () => ({ systemPrompt: model.scenario([{ echo: true }]) }),
    hang: () => play({ say: "I wait.", tools: [{ kind: "shell", command: "sleep 60" }] }),
    fail: { errorCode: "authentication_required", ask: () => play({ error: 401 }) },
    useTool: () => play({ say: "I look.", tools: [{ kind: "shell", command: "echo seen" }] }, { text: "I have seen it, and that is all." }),
    resume: {
      remember: (text) => ({ message: `${text} ${play({ text: "I keep it." }).message}` }),
      recall: () => play({ recall: true }),
      usagePerTurn: oneCall,
    },
    askFirst: () => play(asking("asked"), { text: "Well." }),
    cost: { costUsd: oneCallUsd, ask: () => play({ text: "A known price." }) },
  },
});

describe("claude-agent-sdk", () => {
  test("a task with profile inspect changes nothing and reads nothing outside the workspace, for any tool call", async () => {
    const { run, directories, outside } = await openBench();
    symlinkSync(path.join(outside, "secret.txt"), path.join(directories.workspace, "link.txt"));
    const inside = (name: string) => path.join(directories.workspace, name);
    const seen = model.requests.length;
    const { result, tools } = await run({
      profile: "inspect",
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
    const offered = model.requests.slice(seen).flatMap(({ body }) => (body as { tools?: { name: string }[] } | null)?.tools ?? []);
    expect([...new Set(offered.map(({ name }) => name))].sort()).toEqual(["Glob", "Grep", "Read"]);
    expect(readdirSync(directories.workspace).sort()).toEqual(["link.txt", "note.txt"]);
    expect(readFileSync(inside("note.txt"), "utf8")).toBe("plain\n");
    expect(bodies()).not.toContain("the-secret-outside");
  });

  test("a task with profile modify and approvals deny edits the workspace, and other calls are rejected with the reason", async () => {
    const { run, directories, outside } = await openBench();
    const { result, tools } = await run({
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
    expect(tools[1]?.output).toContain('approvals are "deny"');
    expect(existsSync(path.join(directories.workspace, "a.txt"))).toBe(true);
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
  });

  test("a task with profile modify and approvals allow runs commands, and its file tools are limited to the workspace", async () => {
    const { run, directories, outside } = await openBench();
    const { tools } = await run(
      play(asking("made"), { tools: [{ kind: "write", path: path.join(outside, "c.txt"), content: "x" }] }, { text: "Done." }),
    );
    expect(tools.map(({ isError }) => isError)).toEqual([false, true]);
    expect(readFileSync(path.join(directories.workspace, "made.txt"), "utf8")).toBe("ran\n");
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
  });

  test("an approval request follows the preceding text, and its call is reported once", async () => {
    const questions: ApprovalQuestion[] = [];
    const observed: string[][] = [];
    const { start, directories } = await openBench(
      {},
      {
        async requestApproval(question) {
          questions.push(question);
          observed.push(task.events.map(({ type }) => type).filter((type) => type !== "usage.reported"));
          return { decision: "approve", reason: null };
        },
      },
    );
    const task = start({ approvals: "ask", ...play(asking("asked"), { text: "Done." }) });
    const { result, events } = await task.done;
    expect(result).toMatchObject({ status: "ok", output: "Done." });
    expect(questions).toMatchObject([{ taskId: task.request.taskId, toolName: "Bash" }]);
    expect(observed[0]?.at(-1)).toBe("tool.invoked");
    expect(observed[0]).toContain("assistant.text");
    expect(events.filter(({ type }) => type === "tool.invoked")).toHaveLength(1);
    expect(toolsOf(events)).toMatchObject([{ toolCallId: questions[0]?.toolCallId, isError: false }]);
    expect(existsSync(path.join(directories.workspace, "asked.txt"))).toBe(true);
  });

  test("a task that is canceled while an approval is pending does not run the call, for any later decision", async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<{ decision: "approve"; reason: null }>();
    const { start, adapter, directories } = await openBench(
      {},
      {
        requestApproval() {
          asked.resolve();
          return answer.promise;
        },
      },
    );
    const task = start({ approvals: "ask", ...play(asking("never"), { text: "Never said." }) });
    await asked.promise;
    await adapter.cancel(task.request.taskId);
    answer.resolve({ decision: "approve", reason: null });
    const { result } = await task.done;
    expect(result).toMatchObject({ status: "error", errorCode: "cancelled" });
    expect(existsSync(path.join(directories.workspace, "never.txt"))).toBe(false);
    expect(processesOf(task.request.taskId)).toEqual([]);
  });

  test("a canceled task keeps its usage and cost, and its session can be resumed", async () => {
    const { start, run, adapter } = await openBench();
    const task = start({ ...play({ say: "I wait.", tools: [{ kind: "shell", command: "sleep 4717" }] }, { text: "Never." }) });
    await expect.poll(() => task.events.some(({ type }) => type === "tool.invoked"), { timeout: 30_000, interval: 10 }).toBe(true);
    await adapter.cancel(task.request.taskId);
    const { result } = await task.done;
    expect(result).toMatchObject({ status: "error", errorCode: "cancelled", usage: oneCall });
    expect(result.costUsd).toBeCloseTo(oneCallUsd, 6);
    const next = await run({ resumeToken: result.resumeToken as string, ...play({ text: "I go on." }) });
    expect(next.result).toMatchObject({ status: "ok", output: "I go on.", usage: oneCall });
    expect(next.result.costUsd).toBeCloseTo(oneCallUsd, 6);
  });

  test("settings, hooks, memory, skills, agents and MCP servers in the workspace or the home have no effect", async () => {
    const { run, directories, outside } = await openBench();
    const { workspace, home } = directories;
    writeTraps(workspace, path.join(workspace, ".claude"), outside);
    writeTraps(path.join(home, ".claude"), path.join(home, ".claude"), outside);
    writeFileSync(path.join(home, ".claude.json"), JSON.stringify(trapServers(outside)));
    const seen = model.requests.length;
    const { result, tools } = await run({
      approvals: "deny",
      ...play({ tools: [{ kind: "shell", command: `touch ${outside}/shell` }] }, { text: "Nothing happened." }),
    });
    expect(result).toMatchObject({ status: "ok", output: "Nothing happened." });
    expect(tools.map(({ isError }) => isError)).toEqual([true]);
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
    expect(bodies(seen)).not.toContain("TRAP-");
    expect(model.requests.slice(seen).map(({ headers }) => headers["x-api-key"])).not.toContain("trap-key");
  });

  test("`@path` in a message is not expanded", async () => {
    const { run, directories, outside } = await openBench();
    writeFileSync(path.join(directories.workspace, "inside.txt"), "the-secret-inside\n");
    for (const message of [`@${outside}/secret.txt`, "@inside.txt"]) {
      const { result } = await run({ message, systemPrompt: model.scenario([{ echo: true }]) });
      expect(result.output).toBe(message);
    }
    expect(bodies()).not.toContain("the-secret");
  });

  test("a system prompt of 300 kB and the secrets of MCP servers are passed without command line arguments", async () => {
    const { start, adapter } = await openBench();
    // This text is passed unchanged, although Claude Code expands variables.
    const secret = ["s3cret ", "{HOME} ", "HOME ", "{NOT_SET:-x}"].join("$");
    const observed = start({
      systemPrompt: `prompt-of-the-dispatch ${"y".repeat(300_000)}`,
      mcpServers: [{ name: "words", transport: "stdio", command: process.execPath, args: [mcpServer], env: { WORD: secret } }],
      ...play({ tools: [{ kind: "mcp", server: "words", tool: "lookup", input: { key: "blue" } }] }, { say: "Now I wait.", hang: true }),
    });
    await expect.poll(() => observed.events.some((event) => event.type === "assistant.text"), { timeout: 30_000, interval: 20 }).toBe(true);
    const commandLines = processesOf(observed.request.taskId).map((pid) => readFileSync(`/proc/${pid}/cmdline`, "latin1"));
    await adapter.cancel(observed.request.taskId);
    expect((await observed.done).result).toMatchObject({ status: "error", errorCode: "cancelled" });
    expect(commandLines.length).toBeGreaterThan(1);
    expect(commandLines.join()).not.toMatch(/s3cret|prompt-of-the-dispatch/);
    expect(JSON.stringify(lastBody())).toContain("prompt-of-the-dispatch");
    expect(toolsOf(observed.events)[0]).toMatchObject({ toolName: "mcp__words__lookup", isError: false });
    expect(JSON.stringify(toolsOf(observed.events)[0]?.output)).toContain(`${secret} for blue`);
  });

  test("MCP servers with any names are used without approvals, and a server that does not start is reported while the task continues", async () => {
    const { run } = await openBench();
    const names = ["GitHub (prod)", "GitHub.prod", "workspace"];
    const servers = names.map((name) => {
      const variables = { WORD: `word of ${name}` };
      return { name, transport: "stdio" as const, command: process.execPath, args: [mcpServer], env: variables };
    });
    const lookup = (server: string) => ({ kind: "mcp", server, tool: "lookup", input: { key: "blue" } }) as const;
    const { tools, events, result } = await run({
      approvals: "deny",
      mcpServers: [...servers, { name: "broken", transport: "stdio", command: "/nowhere/to-be-found" }],
      ...play(...["GitHub_prod", "GitHub_prod_2", "workspace_2"].map((server) => ({ tools: [lookup(server)] as [Tool] })), {
        text: "Done.",
      }),
    });
    expect(result).toMatchObject({ status: "ok", output: "Done." });
    expect(tools.map(({ isError }) => isError)).toEqual([false, false, false]);
    for (const [index, name] of names.entries()) expect(JSON.stringify(tools[index]?.output)).toContain(`word of ${name}`);
    expect(events.flatMap((event) => (event.type === "execution.progress" ? [event.data] : []))).toContainEqual({
      failedMcpServers: ["broken"],
      warning: expect.stringContaining("broken"),
    });
  });

  test("a resumed session uses the system prompt and the model of the new dispatch", async () => {
    const { run } = await openBench();
    const first = await run({ systemPrompt: "prompt-one", model: "claude-sonnet-4-5", ...play({ text: "One." }) });
    const resumeToken = first.result.resumeToken as string;
    const second = await run({ systemPrompt: "prompt-two", model: "claude-haiku-4-5", resumeToken, ...play({ recall: true }) });
    expect(second.result).toMatchObject({ status: "ok", resumeToken, output: expect.stringContaining("[[scenario") });
    expect([first.result.model, second.result.model]).toEqual([
      expect.stringMatching(/^claude-sonnet-4-5/),
      expect.stringMatching(/^claude-haiku-4-5/),
    ]);
    expect(JSON.stringify(lastBody())).toContain("prompt-two");
    expect(JSON.stringify(lastBody())).not.toContain("prompt-one");
    expect(lastBody().model).toMatch(/^claude-haiku-4-5/);
  });

  test.each([
    [400, "model_error"],
    [403, "authentication_required"],
  ])("a status %d of the API is reported as %s, and its text is not part of the output", async (status, errorCode) => {
    const { run } = await openBench();
    const { result } = await run(play({ error: status }));
    expect(result).toMatchObject({ status: "error", errorCode, error: expect.stringMatching(/./) });
    expect(result.output).toBeUndefined();
  });

  test("missing credentials are reported by the health check and by the result, with the variables to set", async () => {
    const { run, adapter } = await openBench({ ANTHROPIC_API_KEY: undefined });
    const advice = /set ANTHROPIC_API_KEY, or BRIDGE_CLAUDE_AGENT_SDK_HOME=user/;
    expect(await adapter.checkHealth()).toMatchObject({
      status: "degraded",
      connection: "in-process",
      detail: expect.stringMatching(advice),
    });
    const { result } = await run(play({ text: "Never said." }));
    expect(result).toMatchObject({ status: "error", errorCode: "authentication_required" });
    expect(result.error).toMatch(advice);
  });

  test("an unknown resume token is rejected", async () => {
    const { run } = await openBench();
    for (const resumeToken of ["--dangerously-skip-permissions", "Bridge", randomUUID()]) {
      const { result } = await run({ resumeToken, ...play({ text: "Never said." }) });
      expect(result).toMatchObject({ status: "error", errorCode: "adapter_error", error: expect.stringMatching(/session/i) });
    }
  });

  test("Claude Code returns structured output, and Bridge parses the text if the schema is unsupported or the model ignores it", async () => {
    const { run } = await openBench();
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const own = await run({
      outputStrategy: { type: "structured", schema },
      ...play({ say: "The number is ", tools: [{ kind: "raw", name: "StructuredOutput", input: { n: 4 } }] }),
    });
    expect(own.result).toMatchObject({ status: "ok", outputs: { n: 4 } });
    expect(own.tools).toEqual([]);
    const text = '```json\n{"n":4}\n```';
    const refused = await run({ outputStrategy: { type: "structured", schema: { ...schema, prefixItems: [] } }, ...play({ text }) });
    expect(refused.result).toMatchObject({ status: "ok", output: text });
    expect(refused.result.outputs).toBeUndefined();
    // Claude Code reminds the model once.
    const ignored = await run({ outputStrategy: { type: "structured", schema }, ...play({ text }, { text }) });
    expect(ignored.result).toMatchObject({ status: "ok", output: `${text}${text}` });
    expect(ignored.result.outputs).toBeUndefined();
  });

  test("the tools and tokens of a sub-agent are reported, and its text is not part of the answer", async () => {
    const { run } = await openBench();
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
    const streamed = events.flatMap((event) => (event.type === "assistant.text" ? [event.data.content] : [])).join("");
    expect(streamed).toBe("I delegate.It is done.");
    expect(result).toMatchObject({ costUsd: expect.closeTo(4 * oneCallUsd, 6), usage: { inputTokens: 4 * oneCall.inputTokens } });
  });

  test("the program receives no variable of Bridge's environment", async () => {
    const { run, directories } = await openBench({ BRIDGE_TOKENS_FILE: "/secret", SOME_SECRET: "s3cret" });
    const { tools } = await run(play({ tools: [{ kind: "shell", command: "env" }] }, { text: "Done." }));
    const variables = String(tools[0]?.output);
    expect(variables).toContain(`HOME=${directories.home}`);
    expect(variables).not.toMatch(/s3cret|BRIDGE_TOKENS_FILE/);
  });
});

/** Opens an adapter with separate directories for a test. */
async function openBench(changes: Record<string, string | undefined> = {}, config: Partial<AdapterConfig> = {}) {
  const root = await temporaryDirectory();
  const outside = path.join(root, "outside");
  const workspace = path.join(root, "workspace");
  const directories = { workspace, cwd: workspace, home: path.join(root, "home"), tmp: path.join(root, "tmp") };
  for (const directory of [outside, workspace, directories.home]) mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(outside, "secret.txt"), "the-secret-outside\n");
  writeFileSync(path.join(workspace, "note.txt"), "plain\n");

  const adapter = createClaudeAgentSdkAdapter();
  onTestFinished(() => adapter.shutdown());
  await adapter.initialize(createAdapterConfig(root, { settings, env: { ...env, ...changes }, ...config }));

  const start = (given: Partial<ExecutionRequest>) => startTask(adapter, directories, given);
  return { adapter, directories, outside, start, run: (given: Partial<ExecutionRequest>) => start(given).done };
}

const bodies = (since = 0): string => JSON.stringify(model.requests.slice(since).map(({ body }) => body));
const lastBody = () => model.requests.findLast(({ body }) => body !== null)?.body as { model: string };
