import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createModelServer, type ModelServer } from "./server.ts";
import { ask, type WireClient, wireClients } from "./wire-clients.ts";

const { anthropic, responses, chatCompletions, gemini } = wireClients;
const opencodeAgent = { "user-agent": "opencode/1.18.33 ai-sdk/provider-utils/4.0.23" };

let server: ModelServer;
beforeAll(async () => {
  server = await createModelServer();
});
afterAll(async () => {
  await server.close();
});

const patch = "*** Begin Patch\n*** Add File: /w/a.txt\n+one\n+two\n*** End Patch\n";

describe.each<{ runtime: string; client: WireClient; headers?: Record<string, string>; calls: { name: string; input: unknown }[] }>([
  {
    runtime: "claude",
    client: anthropic,
    calls: [
      { name: "Bash", input: { command: "ls", description: "Runs a command" } },
      { name: "Write", input: { file_path: "/w/a.txt", content: "one\ntwo\n" } },
      { name: "Read", input: { file_path: "/w/a.txt" } },
      { name: "mcp__kit__lookup", input: { word: "w" } },
    ],
  },
  {
    runtime: "codex",
    client: responses,
    calls: [
      { name: "exec_command", input: { cmd: "ls" } },
      { name: "apply_patch", input: patch },
      { name: "exec_command", input: { cmd: "cat '/w/a.txt'" } },
      { name: "mcp__kit__lookup", input: { word: "w" } },
    ],
  },
  {
    runtime: "gemini",
    client: gemini,
    calls: [
      { name: "run_shell_command", input: { command: "ls" } },
      { name: "write_file", input: { file_path: "/w/a.txt", content: "one\ntwo\n" } },
      { name: "read_file", input: { file_path: "/w/a.txt" } },
      { name: "mcp_kit_lookup", input: { word: "w" } },
    ],
  },
  {
    runtime: "openclaw",
    client: chatCompletions,
    headers: { "user-agent": "openclaw" },
    calls: [
      { name: "exec", input: { command: "ls" } },
      { name: "write", input: { path: "/w/a.txt", content: "one\ntwo\n" } },
      { name: "read", input: { path: "/w/a.txt" } },
      { name: "kit__lookup", input: { word: "w" } },
    ],
  },
  ...[chatCompletions, anthropic, responses, gemini].map((client) => ({
    runtime: `opencode over ${client.protocol}`,
    client,
    headers: opencodeAgent,
    calls: [
      { name: "bash", input: { command: "ls", description: "Runs a command" } },
      { name: "write", input: { filePath: "/w/a.txt", content: "one\ntwo\n" } },
      { name: "read", input: { filePath: "/w/a.txt" } },
      { name: "kit_lookup", input: { word: "w" } },
    ],
  })),
])("$runtime", ({ client, headers, calls }) => {
  test.each([{ tools: [] }, { tools: calls.map(({ name }) => name) }])(
    "the model server returns calls with the names of the tools of $runtime, offered: $tools",
    async ({ tools }) => {
      const marker = server.scenario([
        {
          tools: [
            { kind: "shell", command: "ls" },
            { kind: "write", path: "/w/a.txt", content: "one\ntwo\n" },
            { kind: "read", path: "/w/a.txt" },
            { kind: "mcp", server: "kit", tool: "lookup", input: { word: "w" } },
          ],
        },
      ]);
      expect((await ask(server.url, client, { turns: [{ user: marker }], tools }, true, headers)).calls).toEqual(calls);
    },
  );
});

test.each([
  { offered: "shell_command", input: { command: "ls" } },
  { offered: "shell", input: { command: ["bash", "-c", "ls"] } },
])("Codex gets the shell that it offers: $offered", async ({ offered, input }) => {
  const marker = server.scenario([{ tools: [{ kind: "shell", command: "ls" }] }]);
  expect((await ask(server.url, responses, { turns: [{ user: marker }], tools: [offered] })).calls).toEqual([{ name: offered, input }]);
});

test("Codex without a patch tool gets patches as shell commands", async () => {
  const marker = server.scenario([{ tools: [{ kind: "write", path: "/w/a.txt", content: "one\ntwo\n" }] }]);
  const { calls } = await ask(server.url, responses, { turns: [{ user: marker }], tools: ["exec_command"] });
  expect(calls).toEqual([{ name: "exec_command", input: { cmd: `apply_patch <<'PATCH'\n${patch}PATCH` } }]);
});

test("Codex's tools of an MCP server are called in their namespace", async () => {
  const marker = server.scenario([{ tools: [{ kind: "mcp", server: "kit", tool: "lookup", input: {} }] }]);
  const body = {
    model: "scripted",
    input: marker,
    tools: [{ type: "namespace", name: "mcp__kit", tools: [{ type: "function", name: "lookup" }] }],
  };
  const response = await fetch(`${server.url}/v1/responses`, { method: "POST", body: JSON.stringify(body) });
  expect(await response.json()).toMatchObject({ output: [{ type: "function_call", namespace: "mcp__kit", name: "lookup" }] });
});

test.each<{ title: string; client: WireClient; system?: string; message?: string; headers?: Record<string, string>; answer: string }>([
  {
    title: "Claude Code's titles",
    client: anthropic,
    system: "You are an agent.\nYou are naming a coding session so the user",
    answer: '{"title":"Scripted title"}',
  },
  { title: "Claude Code's suggestions", client: anthropic, message: "[SUGGESTION MODE: Suggest what comes next.]", answer: "Go on" },
  {
    title: "Codex's titles",
    client: responses,
    message: "Your task is to generate a very short title for a conversation",
    answer: '{"title":"Scripted title"}',
  },
  {
    title: "Gemini's routing",
    client: gemini,
    system: "You are a specialized Task Routing AI.",
    answer: '{"complexity_reasoning":"Scripted","complexity_score":1}',
  },
  {
    title: "OpenCode's titles",
    client: chatCompletions,
    system: "You are a title generator.",
    headers: opencodeAgent,
    answer: "Scripted title",
  },
])("$title are answered independently of the scenario", async ({ client, system, message, headers, answer }) => {
  const marker = server.scenario([{ text: "The task." }]);
  const turns =
    message === undefined ? [{ user: marker }] : [{ user: marker }, { assistant: "The task." }, { user: `${message}\n${marker}` }];
  const aside = await ask(server.url, client, { turns, ...(system === undefined ? {} : { system }) }, true, headers);
  expect(aside.deltas.join("")).toBe(answer);
  expect(aside.usage).not.toEqual(client.usage);
  expect((await ask(server.url, client, { turns: [{ user: marker }], system: "Rules." }, true, headers)).deltas.join("")).toBe("The task.");
});

test.each([
  { runtime: "Claude Code", client: anthropic, own: "<system-reminder>\nAttribution for git commits\n</system-reminder>" },
  { runtime: "Codex", client: responses, own: "<environment_context>\n<cwd>/w</cwd>\n</environment_context>" },
  { runtime: "Gemini CLI", client: gemini, own: "<session_context>\nThis is the Gemini CLI.\n</session_context>" },
])("text that $runtime adds to user messages is not part of the user's message", async ({ client, own }) => {
  const recall = server.scenario([{ recall: true }]);
  const echo = `${server.scenario([{ echo: true }])} Hello.`;
  const turns = [{ user: own }, { user: echo }, { user: own }];
  expect((await ask(server.url, client, { turns })).deltas.join("")).toBe(echo);
  expect((await ask(server.url, client, { turns: [...turns, { assistant: echo }, { user: recall }] })).deltas.join("")).toBe(echo);
});

test("Claude Code's system messages between the turns belong to the system prompt", async () => {
  const marker = server.scenario([{ echo: true }]);
  const messages = [
    { role: "user", content: "Hello." },
    { role: "system", content: `Rules. ${marker}` },
  ];
  const response = await fetch(`${server.url}/v1/messages`, { method: "POST", body: JSON.stringify({ model: "m", messages }) });
  expect(await response.json()).toMatchObject({ content: [{ type: "text", text: "Hello." }] });
});
