import { expect, test } from "vitest";
import { buildExecutionRequest, buildMessage, joinSystemPrompt } from "../../src/dispatch/build-execution-request.ts";
import type { Task } from "../../src/task.ts";
import { storedTask } from "../support/stored-task.ts";

const directories = { workspace: "/w", cwd: "/w", home: "/h", tmp: "/t" };
const task = (request: Partial<Task["request"]> = {}, fields: Omit<Partial<Task>, "request"> = {}): Task =>
  storedTask({ ...fields, request });

test.each([
  ["nothing", [], undefined],
  ["blank parts", ["", "  ", undefined], undefined],
  ["parts in their order", ["soul", undefined, " agents \n", "dispatch"], "soul\n\nagents\n\ndispatch"],
])("system prompt from %s", (_, parts, expected) => {
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
])("message: %s", (_, request, expected) => {
  expect(buildMessage({ outputStrategy: { type: "stream" }, ...request })).toBe(expected);
});

test("the dispatch goes before the agent's defaults, which go before Bridge's", () => {
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

test("adapters know a task by a name that no other tenant can take", () => {
  const foreign = buildExecutionRequest(task({}, { tenant: "acme", parentTaskId: "p" }), { promptFiles: [], agent: {}, directories });
  expect(foreign).toMatchObject({ taskId: "acme/t1", parentTaskId: "acme/p" });
});
