import path from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { McpServerSpec } from "#contract";
import { createProgramEnvironment } from "../../../../adapters/shared/agent-program/program-environment.ts";
import { processesOf } from "../../../conformance/adapter-bench.ts";
import { offeredTools, openToolEndpoint, receivedResults } from "./tool-endpoint.ts";
import { openVercelFixture } from "./vercel-fixture.ts";

const script = path.join(import.meta.dirname, "../../../fixtures/programs/wild-mcp-server.js");
const server = (behavior: string, changes: Partial<Extract<McpServerSpec, { transport: "stdio" }>> = {}): McpServerSpec => ({
  name: "wild",
  transport: "stdio",
  command: process.execPath,
  args: [script, behavior],
  ...changes,
});
const processes = (taskId: string, servers = 3) =>
  Array.from({ length: servers }, (_, at) => processesOf(`${taskId}/mcp-${at + 1}`)).flat();

test("a server gets the variables of the dispatch and the allowed ones of Bridge, and nothing else", async () => {
  const { url, requests } = await openToolEndpoint([{ id: "c1", name: "mcp__wild__tell" }]);
  const env = { ...process.env, BRIDGE_GATEWAY_TOKEN_HASH: "secret", OPENAI_API_KEY: "secret", TZ: "Europe/Zurich" };
  const fixture = await openVercelFixture({ baseUrl: url, apiKey: "secret" }, { env });
  const spec = server("plain", { args: [script, "plain", "$(id) *"], env: { WORD: "given", PATH: "/nowhere", HOME: "/elsewhere" } });
  const { result, events } = await fixture.run({ mcpServers: [spec] });
  expect(result).toMatchObject({ status: "ok", output: "Done." });
  const report = JSON.parse(receivedResults(requests[1] as never)["c1"] as string);
  const { request } = fixture.lastTask();
  expect(report).toMatchObject({ cwd: request.directories.cwd, arguments: ["$(id) *"] });
  const allowed = createProgramEnvironment({ env, settings: { env: [] } }, []);
  expect(report.env).toEqual({
    ...allowed,
    WORD: "given",
    PATH: "/nowhere",
    HOME: request.directories.home,
    TMPDIR: request.directories.tmp,
    BRIDGE_TASK_ID: `${request.taskId}/mcp-1`,
  });
  expect(allowed).toHaveProperty("TZ", "Europe/Zurich");
  expect(JSON.stringify(report)).not.toContain("secret");
  expect(
    events.filter(({ type }) => type.startsWith("tool.")).map(({ type, data }) => [type, (data as { toolName: string }).toolName]),
  ).toEqual([
    ["tool.invoked", "mcp__wild__tell"],
    ["tool.completed", "mcp__wild__tell"],
  ]);
});

test("an answer for which a task has no memory left fails its call, and the task continues", async () => {
  const calls = Array.from({ length: 5 }, (_, index) => ({ id: `c${index}`, name: "mcp__wild__recite" }));
  const { url, requests } = await openToolEndpoint(calls);
  const fixture = await openVercelFixture({ baseUrl: url });
  const { result } = await fixture.run({ mcpServers: [server("plain")] });
  expect(result).toMatchObject({ status: "ok", output: "Done." });
  const results = Object.values(receivedResults(requests[1] as never));
  expect(results.map((text) => text.length >= 7 * 1024 ** 2)).toEqual([true, true, true, true, false]);
  expect(results[4]).toMatch("The answers of all MCP servers in this task have more than 32 MiB. Ask for less.");
});

test.each(["plain", "only-structure"])(
  "numbers of a tool call keep all digits to the server, in events and to the model (%s)",
  async (behavior) => {
    const { url, requests } = await openToolEndpoint([
      { id: "c1", name: "mcp__wild__echo", input: '{"order_id":653247040368672769,"list":[-653247040368672769,0.1]}' },
    ]);
    const fixture = await openVercelFixture({ baseUrl: url });
    const { result, events } = await fixture.run({ mcpServers: [server(behavior)] });
    expect(result).toMatchObject({ status: "ok", output: "Done." });
    const given = '{"order_id":653247040368672769,"list":[-653247040368672769,0.1]}';
    const [invoked, completed] = events.filter(({ type }) => type.startsWith("tool.")).map(({ data }) => JSON.stringify(data));
    expect(invoked).toContain(`"input":${given}`);
    expect(completed).toContain(`"structuredContent":${given}`);
    expect(receivedResults(requests[1] as never)["c1"]).toBe(behavior === "plain" ? `got ${given}` : given);
    const messages = requests[1]?.body["messages"] as { tool_calls?: { function: { arguments: string } }[] }[];
    expect(messages.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => call.function.arguments))).toEqual([given]);
  },
);

test("half of an emoji in a message, a tool input or a tool result becomes U+FFFD for the model and the server", async () => {
  const { url, requests } = await openToolEndpoint([
    { id: "c1", name: "mcp__wild__echo", input: '{"half":"\\ud83d","whole":"\\ud83d\\ude00"}' },
    { id: "c2", name: "mcp__wild__cut-emoji" },
  ]);
  const fixture = await openVercelFixture({ baseUrl: url });
  const { result } = await fixture.run({ message: "half \ud83d", mcpServers: [server("plain")] });
  expect(result).toMatchObject({ status: "ok", output: "Done." });
  expect(receivedResults(requests[1] as never)).toEqual({ c1: 'got {"half":"\ufffd","whole":"😀"}', c2: "half \ufffd" });
  const sent = JSON.stringify(requests.map(({ body }) => body));
  expect(sent).not.toMatch(/\\ud[89a-f]/);
  expect(sent.match(/half \ufffd/g)).toHaveLength(3);
});

test("tool names are unique, for any names of servers and declared tools", async () => {
  const { url, requests } = await openToolEndpoint([{ id: "c1", name: "mcp__a_b_2__tell_it" }]);
  const fixture = await openVercelFixture({ baseUrl: url });
  const mcpServers = [server("plain", { name: "a b" }), server("plain", { name: "a__b" }), server("plain", { name: "x".repeat(200) })];
  const tools = [{ name: "mcp__a_b__tell", description: "", inputSchema: { type: "object" } }];
  const { result } = await fixture.run({ mcpServers, tools });
  expect(result.status).toBe("ok");
  const names = offeredTools(requests[0] as never);
  expect(names).toHaveLength(1 + 3 * 10);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(receivedResults(requests[1] as never)).toMatchObject({ c1: expect.stringContaining("the other one") });
});

describe("a server that does not start fails the task with its name", () => {
  test.each([
    ["that ends", server("exit"), /"wild" cannot be used: .*exited with code 3.*no licence found/s],
    ["that does not exist", server("x", { command: "no-such-server-program" }), /"wild" cannot be used: .*did not start/s],
    ["whose list of tools never ends", server("endless-list"), /"wild" cannot be used: .*more than 100 pages/s],
  ])("a server that does not start fails the task with its name for a server %s", async (_, spec, words) => {
    const { url, requests } = await openToolEndpoint([]);
    const fixture = await openVercelFixture({ baseUrl: url });
    const { result } = await fixture.run({ mcpServers: [server("plain", { name: "good" }), spec] });
    expect(result).toMatchObject({ status: "error", errorCode: "adapter_error", error: expect.stringMatching(words) });
    expect(requests).toEqual([]);
    expect(processes(fixture.lastTask().request.taskId)).toEqual([]);
  });

  test("a canceled task does not wait for a silent server", async () => {
    const fixture = await openVercelFixture({ baseUrl: "http://127.0.0.1:9" });
    const { request, result } = await fixture.start({ mcpServers: [server("silent")] });
    await vi.waitFor(() => expect(processes(request.taskId)).not.toEqual([]), 5_000);
    await fixture.adapter.cancel(request.taskId);
    expect(await result).toMatchObject({ status: "error", errorCode: "cancelled" });
    expect(processes(request.taskId)).toEqual([]);
  });
});

test("lines that are not messages are ignored", async () => {
  const { url } = await openToolEndpoint([{ id: "c1", name: "mcp__wild__tell" }]);
  const fixture = await openVercelFixture({ baseUrl: url });
  expect((await fixture.run({ mcpServers: [server("noise")] })).result).toMatchObject({ status: "ok" });
});

test("an answer without a request is ignored", async () => {
  const { url } = await openToolEndpoint([{ id: "c1", name: "mcp__wild__tell_it" }]);
  const fixture = await openVercelFixture({ baseUrl: url });
  expect((await fixture.run({ mcpServers: [server("answer-strangers")] })).result).toMatchObject({ status: "ok", output: "Done." });
});

test("a server that sends requests but does not read gets no more answers than fit its pipe", async () => {
  const { url, requests } = await openToolEndpoint([{ id: "c1", name: "mcp__wild__tell" }]);
  const fixture = await openVercelFixture({ baseUrl: url });
  expect((await fixture.run({ mcpServers: [server("ask-much")] })).result).toMatchObject({ status: "ok", output: "Done." });
  const { answers } = JSON.parse(receivedResults(requests[1] as never)["c1"] as string);
  expect(answers).toBeGreaterThan(0);
  expect(answers).toBeLessThan(50_000);
});

describe("no process is left", () => {
  test("no process is left of a server that does not exit, and of its child processes", async () => {
    const { url } = await openToolEndpoint([{ id: "c1", name: "mcp__wild__tell" }]);
    const orphans: number[] = [];
    const fixture = await openVercelFixture({ baseUrl: url }, { onOrphansKilled: (count) => void orphans.push(count) });
    const { result } = await fixture.run({ mcpServers: [server("leave-child"), server("stay", { name: "second" })] });
    expect(result.status).toBe("ok");
    expect(processes(fixture.lastTask().request.taskId)).toEqual([]);
    expect(orphans).toEqual([1]);
  });

  test("when the task is canceled during a call", async () => {
    const { url } = await openToolEndpoint([{ id: "c1", name: "mcp__wild__wait" }]);
    const fixture = await openVercelFixture({ baseUrl: url });
    const { request, result, events } = await fixture.start({ mcpServers: [server("plain")] });
    await vi.waitFor(() => expect(events.map(({ type }) => type)).toContain("tool.invoked"), 5_000);
    await fixture.adapter.cancel(request.taskId);
    expect(await result).toMatchObject({ status: "error", errorCode: "cancelled" });
    expect(processes(request.taskId)).toEqual([]);
  });
});

describe("the model receives an error for a call", () => {
  test.each([
    ["that crashes its server", "die", /./],
    ["whose answer is too long", "flood", /./],
    ["that the server reports as an error", "say-no", /It cannot be done/],
  ])("%s, and continues", async (_, tool, words) => {
    const { url, requests } = await openToolEndpoint([{ id: "c1", name: `mcp__wild__${tool}` }]);
    const fixture = await openVercelFixture({ baseUrl: url });
    const { result, events } = await fixture.run({ mcpServers: [server("plain"), server("plain", { name: "other" })] });
    expect(result).toMatchObject({ status: "ok", output: "Done." });
    expect(events.filter(({ type }) => type === "tool.completed")).toMatchObject([{ data: { toolCallId: "c1", isError: true } }]);
    expect(receivedResults(requests[1] as never)["c1"]).toMatch(words);
  });

  test("the model receives an error for a call to one server while another one has ended in the same step", async () => {
    const { url, requests } = await openToolEndpoint([
      { id: "c1", name: "mcp__wild__die" },
      { id: "c2", name: "mcp__other__tell" },
    ]);
    const fixture = await openVercelFixture({ baseUrl: url });
    const { result, events } = await fixture.run({ mcpServers: [server("plain"), server("plain", { name: "other" })] });
    expect(result.status).toBe("ok");
    const ends = events.flatMap((event) => (event.type === "tool.completed" ? [[event.data.toolCallId, event.data.isError]] : []));
    expect(Object.fromEntries(ends)).toEqual({ c1: true, c2: false });
    expect(receivedResults(requests[1] as never)["c2"]).toContain("/mcp-2");
  });

  test.each([
    ["the profile is inspect", { profile: "inspect", approvals: "allow" }, /profile is inspect/],
    ["approvals are denied", { profile: "modify", approvals: "deny" }, /approvals are/],
    ["its approval is rejected", { profile: "modify", approvals: "ask" }, /No check decides this approval/],
  ] as const)("the model receives an error for a call that was rejected because %s", async (_, rights, words) => {
    const { url, requests } = await openToolEndpoint([{ id: "c1", name: "mcp__wild__die" }]);
    const fixture = await openVercelFixture({ baseUrl: url });
    const { result, events } = await fixture.run({ ...rights, mcpServers: [server("plain")] });
    expect(result.status).toBe("ok");
    expect(receivedResults(requests[1] as never)["c1"]).toMatch(words);
    expect(events.filter(({ type }) => type === "tool.completed")).toMatchObject([
      { data: { isError: true, output: expect.stringMatching(words) } },
    ]);
  });
});
