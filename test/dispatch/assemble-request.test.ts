import { expect, test } from "vitest";
import type { AdapterEvent } from "#contract";
import { assembleMessage, assembleRequest, assembleSystemPrompt } from "../../src/dispatch/assemble-request.ts";
import { createConversation } from "../../src/dispatch/conversation.ts";
import type { Task } from "../../src/task.ts";
import { storedTask } from "../stored-task.ts";

const directories = { workspace: "/w", cwd: "/w", home: "/h", tmp: "/t" };
const task = (request: Partial<Task["request"]> = {}, fields: Omit<Partial<Task>, "request"> = {}): Task =>
  storedTask({ ...fields, request });

test.each([
  ["nothing", [], undefined],
  ["blank parts", ["", "  ", undefined], undefined],
  ["parts in their order", ["soul", undefined, " agents \n", "dispatch"], "soul\n\nagents\n\ndispatch"],
])("system prompt from %s", (_, parts, expected) => {
  expect(assembleSystemPrompt(parts)).toBe(expected);
});

test.each([
  ["a message alone is left as it is", { message: "  do it " }, "  do it "],
  ["stdin comes in a labelled block", { message: "sum", stdin: "1\n2" }, "sum\n\nInput:\n<stdin>\n1\n2\n</stdin>"],
  [
    "output instructions come last",
    { message: "m", outputStrategy: { type: "file", path: "r.md" } as const },
    'm\n\nWrite the result to the file "r.md", relative to the root of the workspace.',
  ],
])("message: %s", (_, request, expected) => {
  expect(assembleMessage({ outputStrategy: { type: "stream" }, ...request })).toBe(expected);
});

test("the dispatch goes before the agent's defaults, which go before Bridge's", () => {
  const agent = {
    model: "agent-model",
    timeoutSeconds: 7,
    tools: [{ name: "t", description: "", inputSchema: {} }],
    systemPrompt: "agent",
  };
  const bare = assembleRequest(task(), { promptFiles: [], agent: {}, directories });
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
  expect(assembleRequest(task(), { promptFiles: ["soul"], agent, directories })).toMatchObject({
    model: "agent-model",
    timeoutSeconds: 7,
    tools: agent.tools,
    systemPrompt: "soul\n\nagent",
  });
  expect(assembleRequest(task({ model: "mine", timeoutSeconds: 3, tools: [] }), { promptFiles: [], agent, directories })).toMatchObject({
    model: "mine",
    timeoutSeconds: 3,
  });
  expect(assembleRequest(task({ tools: [] }), { promptFiles: [], agent, directories })).not.toHaveProperty("tools");
});

test("adapters know a task by a name that no other tenant can take", () => {
  const foreign = assembleRequest(task({}, { tenant: "acme", parentTaskId: "p" }), { promptFiles: [], agent: {}, directories });
  expect(foreign).toMatchObject({ taskId: "acme/t1", parentTaskId: "acme/p" });
});

const text = (content: string): AdapterEvent => ({ type: "assistant.text", taskId: "t", data: { content } });
const invoked = (toolCallId: string): AdapterEvent => ({
  type: "tool.invoked",
  taskId: "t",
  data: { toolCallId, toolName: "read", input: { a: 1 } },
});
const completed = (toolCallId: string, output: unknown): AdapterEvent => ({
  type: "tool.completed",
  taskId: "t",
  data: { toolCallId, toolName: "read", output, isError: false },
});
const call = (toolCallId: string) => ({ toolCallId, toolName: "read", input: { a: 1 } });

test.each<[string, AdapterEvent[], unknown[]]>([
  ["nothing but the question", [], []],
  ["deltas are one message", [text("he"), text("llo")], [{ role: "assistant", content: "hello" }]],
  [
    "text, two calls, their results, text",
    [text("look"), invoked("1"), invoked("2"), completed("1", "one"), completed("2", { two: 2 }), text("done")],
    [
      { role: "assistant", content: "look", toolCalls: [call("1"), call("2")] },
      { role: "tool", content: "one", toolCallId: "1" },
      { role: "tool", content: '{"two":2}', toolCallId: "2" },
      { role: "assistant", content: "done" },
    ],
  ],
  [
    "text right after a call begins a new message",
    [invoked("1"), text("meanwhile")],
    [
      { role: "assistant", content: "", toolCalls: [call("1")] },
      { role: "assistant", content: "meanwhile" },
    ],
  ],
])("conversation: %s", (_, events, expected) => {
  const conversation = createConversation("question");
  for (const event of events) conversation.add(event);
  expect(conversation.messages()).toEqual([{ role: "user", content: "question" }, ...expected]);
});

test("a conversation without measure is left out", () => {
  const conversation = createConversation("question");
  for (let index = 0; index < 5; index += 1) conversation.add(text("x".repeat(1024 * 1024)));
  expect(conversation.messages()).toBeUndefined();
});
