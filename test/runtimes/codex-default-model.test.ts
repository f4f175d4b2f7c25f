import { existsSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { createCodexAdapter } from "../../adapters/codex/index.ts";
import { PROMPT_OPENING } from "../../adapters/shared/agent-program/prompt.ts";
import { adapterConformance } from "../conformance/adapter.ts";
import { type AdapterSubject, openBench } from "../conformance/adapter-bench.ts";
import type { Step } from "./model-server/scenarios.ts";
import { createModelServer } from "./model-server/server.ts";
import { runtimesPath } from "./programs.ts";

// Codex offers its default models one tool, `exec`, for programs that call the other tools. No dispatch in this file names a model.
const model = await createModelServer({ messagePrefix: PROMPT_OPENING });
afterAll(() => model.close());

const environment = {
  PATH: `${runtimesPath()}${path.delimiter}${process.env["PATH"]}`,
  OPENAI_BASE_URL: `${model.url}/v1`,
  OPENAI_API_KEY: "sk-of-the-runtime-suite",
};
const connections = ["acp", "cli"] as const;
const play = (...steps: Step[]) => ({ message: model.scenario(steps) });
const subjectOf = (connection: (typeof connections)[number]): AdapterSubject => ({
  createAdapter: createCodexAdapter,
  config: { settings: { connection }, env: environment },
  hasProcesses: true,
  patienceMs: 60_000,
  scenarios: {
    speak: (text) => play({ text }),
    echo: () => ({ systemPrompt: model.scenario([{ echo: true }]) }),
    hang: () => play({ say: "I wait.", tools: [{ kind: "shell", command: "sleep 60" }] }),
    fail: { errorCode: "authentication_required", ask: () => play({ error: 401 }) },
    useTool: () => play({ say: "I look.", tools: [{ kind: "shell", command: "echo seen" }] }, { text: "I have seen it, and that is all." }),
    resume: {
      remember: (text) => ({ message: `${text} ${play({ text: "I keep it." }).message}` }),
      recall: () => play({ recall: true }),
      usagePerTurn: { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20 },
    },
    cost: null,
  },
});

for (const connection of connections) adapterConformance(`codex over ${connection} with its default model`, subjectOf(connection));

describe.each(connections)("codex over %s with its default model", (connection) => {
  test.each([
    ["inspect", false],
    ["modify", true],
  ] as const)("with profile %s a command and a patch change the workspace: %s", async (profile, changes) => {
    const bench = openBench(subjectOf(connection));
    await bench.initialize();
    onTestFinished(() => bench.close());
    const before = model.requests.length;
    const task = await bench.start({
      ...play(
        { tools: [{ kind: "shell", command: "touch by-shell.txt" }] },
        { tools: [{ kind: "write", path: "by-patch.txt", content: "x\n" }] },
        { text: "I tried." },
      ),
      profile,
      approvals: profile === "inspect" ? "deny" : "allow",
    });
    expect(await task.result).toMatchObject({ status: "ok", output: "I tried." });
    for (const file of ["by-shell.txt", "by-patch.txt"]) expect(existsSync(path.join(task.request.directories.cwd, file))).toBe(changes);
    const offered = JSON.stringify(model.requests.slice(before).map(({ body }) => body));
    expect(offered).toContain("additional_tools");
    expect(bench.breaches).toEqual([]);
  });

  test("calls a tool of the dispatch's MCP server", async () => {
    const bench = openBench(subjectOf(connection));
    await bench.initialize();
    onTestFinished(() => bench.close());
    const before = model.requests.length;
    const { result } = await bench.run({
      ...play({ tools: [{ kind: "mcp", server: "words", tool: "lookup", input: { key: "blue" } }] }, { text: "Cobalt." }),
      mcpServers: [
        {
          name: "words",
          transport: "stdio",
          command: process.execPath,
          args: [path.join(import.meta.dirname, "table/mcp-server.js")],
          env: { WORD: "cobalt" },
        },
      ],
    });
    expect(result).toMatchObject({ status: "ok", output: "Cobalt." });
    expect(JSON.stringify(model.requests.slice(before).map(({ body }) => body))).toContain("cobalt for blue");
  });
});
