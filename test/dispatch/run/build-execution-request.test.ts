import { expect, test } from "vitest";
import { buildExecutionRequest, buildMessage, joinSystemPrompt } from "../../../src/dispatch/run/build-execution-request.ts";
import type { Task } from "../../../src/task.ts";
import { storedTask } from "../../support/stored-task.ts";

const directories = { workspace: "/w", cwd: "/w", home: "/h", tmp: "/t" };
const task = (request: Partial<Task["request"]> = {}, fields: Omit<Partial<Task>, "request"> = {}): Task =>
  storedTask({ ...fields, request });

test.each([
  ["nothing", [], undefined],
  ["blank parts", ["", "  ", undefined], undefined],
  ["parts in their order", ["soul", undefined, " agents \n", "dispatch"], "soul\n\nagents\n\ndispatch"],
])("the system prompt is built from %s", (_, parts, expected) => {
  expect(joinSystemPrompt(parts)).toBe(expected);
});

test.each([
  ["a message alone is left as it is", { message: "  do it " }, "  do it "],
  ["stdin comes in a labelled block", { message: "sum", stdin: "1\n2" }, "sum\n\nInput:\n<stdin>\n1\n2\n</stdin>"],
  [
    "output instructions come last",
    { message: "m", outputStrategy: { type: "file", path: "r.md" } as const },
    'm\n\nWrite the result to the file "r.md", relative to the root of the workspace.',
  ],
])("the message is built: %s", (_, request, expected) => {
  expect(buildMessage({ outputStrategy: { type: "stream" }, ...request })).toBe(expected);
});

test("settings of the dispatch override those of agent.json, which override Bridge's defaults", () => {
  const agent = {
    model: "agent-model",
    timeoutSeconds: 7,
    tools: [{ name: "t", description: "", inputSchema: {} }],
    systemPrompt: "agent",
  };
  const bare = buildExecutionRequest(task(), { promptFiles: [], agent: {}, directories });
  expect(bare).toEqual({
    taskId: "t1",
    agentId: "a",
    message: "work",
    timeoutSeconds: 600,
    outputStrategy: { type: "stream" },
    profile: "inspect",
    approvals: "deny",
    directories,
  });
  expect(buildExecutionRequest(task(), { promptFiles: ["soul"], agent, directories })).toMatchObject({
    model: "agent-model",
    timeoutSeconds: 7,
    tools: agent.tools,
    systemPrompt: "soul\n\nagent",
  });
  expect(
    buildExecutionRequest(task({ model: "mine", timeoutSeconds: 3, tools: [] }), { promptFiles: [], agent, directories }),
  ).toMatchObject({
    model: "mine",
    timeoutSeconds: 3,
  });
  expect(buildExecutionRequest(task({ tools: [] }), { promptFiles: [], agent, directories })).not.toHaveProperty("tools");
});

test("adapters get a task id that is unique over all tenants", () => {
  const foreign = buildExecutionRequest(task({}, { tenant: "acme", parentTaskId: "p" }), { promptFiles: [], agent: {}, directories });
  expect(foreign).toMatchObject({ taskId: "acme/t1", parentTaskId: "acme/p" });
});

test("every field of a dispatch reaches the adapter", () => {
  // The type requires every field, so that a new one cannot be forgotten here.
  const request: Required<Task["request"]> = {
    message: "do it",
    stdin: "1",
    systemPrompt: "dispatch",
    model: "a-model",
    tools: [{ name: "t", description: "d", inputSchema: { type: "object" } }],
    mcpServers: [{ name: "docs", transport: "http", url: "https://mcp.test/", headers: { "x-key": "k" } }],
    files: [{ path: "a.txt", content: "a" }] as unknown as NonNullable<Task["request"]["files"]>,
    repository: { name: "web", ref: "main", branch: "bridge/t1", keep: "branch", push: false, baseCommit: null },
    timeoutSeconds: 7,
    budget: { maxCostUsd: 1, onReached: "stop", onUnknownCost: "reserve" },
    outputStrategy: { type: "file", path: "r.md" },
    fallbacks: [],
    retry: { max: 1, on: ["model_error"] },
    skipped: [],
    resumeToken: "session-1",
    reasoningLevel: "high",
    profile: "modify",
    approvals: "ask",
    onInterrupt: "retry",
    whenLimited: "wait",
    waitSeconds: 60,
    runsOn: ["gpu"],
    labels: { team: "core" },
    callbackUrl: "https://receiver.test/",
    callbackConversation: false,
    metadata: { ticket: 7 },
    bridgeInput: { scope: "login.ts" },
    responderInput: { tool: "flowmark" },
  };
  const stored = task(request, { tenant: "acme", parentTaskId: "p", traceparent: "of the caller", tracestate: "vendor=1" });
  expect(buildExecutionRequest(stored, { promptFiles: ["soul"], agent: {}, directories, traceparent: "of the task" })).toEqual({
    taskId: "acme/t1",
    parentTaskId: "acme/p",
    agentId: "a",
    traceparent: "of the task",
    tracestate: "vendor=1",
    message: 'do it\n\nInput:\n<stdin>\n1\n</stdin>\n\nWrite the result to the file "r.md", relative to the root of the workspace.',
    systemPrompt: "soul\n\ndispatch",
    model: "a-model",
    tools: request.tools,
    mcpServers: request.mcpServers,
    timeoutSeconds: 7,
    outputStrategy: request.outputStrategy,
    resumeToken: "session-1",
    reasoningLevel: "high",
    profile: "modify",
    approvals: "ask",
    metadata: request.metadata,
    bridgeInput: request.bridgeInput,
    responderInput: request.responderInput,
    directories,
  });
});
