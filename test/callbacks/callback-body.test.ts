import { describe, expect, test } from "vitest";
import type { ExecutionResult } from "#contract";
import { executionResultSchema } from "#contract";
import { buildCallback, callbackOrigin } from "../../src/callbacks/callback-body.ts";
import type { TaskRequest } from "../../src/task.ts";

const request: TaskRequest = {
  message: "do it",
  outputStrategy: { type: "stream" },
  profile: "inspect",
  approvals: "deny",
  onInterrupt: "fail",
  callbackUrl: "https://Receiver.example:443/hook?token=1#part",
  metadata: { order: 7 },
};
const task = { taskId: "t1", agentId: "a1", provider: "memory", request };

const result: Required<ExecutionResult> = {
  connection: "cli",
  error: "why",
  errorCode: "timeout",
  conversationMessages: [{ role: "user", content: "do it" }],
  resumeToken: "again",
  model: "m",
  costUsd: 0.5,
  costSource: "priced",
  usage: { inputTokens: 1, outputTokens: 2 },
  durationMs: 12,
  outputs: { path: "x" },
  attempts: [],
  repository: {
    ...{ name: "web", branch: "bridge/t1", baseCommit: null, headCommit: null, commits: 0, files: 0, insertions: 0, deletions: 0 },
    ...{ pushed: false, conflicts: null },
  },
  output: "\u0000 \ud800 😀",
  status: "error",
};

describe("buildCallback", () => {
  test("buildCallback contains all fields of the result in a fixed order", () => {
    const { body } = buildCallback(task, result, 0);
    expect(Object.keys(JSON.parse(body) as object)).toEqual([
      "taskId",
      "agentId",
      "provider",
      ...Object.keys(executionResultSchema.shape),
      "metadata",
      "finishedAt",
    ]);
    const reversed = Object.fromEntries(Object.entries(result).reverse()) as unknown as ExecutionResult;
    expect(buildCallback(task, reversed, 0).body).toBe(body);
    expect(JSON.parse(body)).toEqual({
      taskId: "t1",
      agentId: "a1",
      provider: "memory",
      ...result,
      // Strict parsers reject unpaired surrogates.
      output: "\u0000 \ufffd 😀",
      metadata: { order: 7 },
      finishedAt: "1970-01-01T00:00:00.000Z",
    });
  });

  test("buildCallback omits the conversation if the dispatch disables it", () => {
    const { conversationMessages: _, ...others } = JSON.parse(buildCallback(task, result, 0).body) as Record<string, unknown>;
    const without = { ...task, request: { ...request, callbackConversation: false } };
    expect(JSON.parse(buildCallback(without, result, 0).body)).toEqual(others);
    const wanted = { ...task, request: { ...request, callbackConversation: true } };
    expect(buildCallback(wanted, result, 0).body).toBe(buildCallback(task, result, 0).body);
  });

  test("buildCallback omits unknown fields", () => {
    const { metadata: _, ...bare } = request;
    const { body } = buildCallback({ ...task, request: bare }, { status: "ok", durationMs: 1, connection: "cli" }, 1);
    expect(body).toBe(
      '{"taskId":"t1","agentId":"a1","provider":"memory","status":"ok","durationMs":1,"connection":"cli","metadata":null,"finishedAt":"1970-01-01T00:00:00.001Z"}',
    );
  });

  test("buildCallback keeps the URL unchanged and normalizes its origin", () => {
    expect(buildCallback(task, result, 0)).toMatchObject({ url: request.callbackUrl, origin: "https://receiver.example" });
  });

  test("buildCallback throws for a task without a callback URL", () => {
    const { callbackUrl: _, ...bare } = request;
    expect(() => buildCallback({ ...task, request: bare }, result, 0)).toThrow("no callbackUrl");
  });
});

test.each([
  ["https://a.example/x", "https://a.example"],
  ["http://a.example:80/", "http://a.example"],
  ["http://A.example:8080", "http://a.example:8080"],
  ["https://[::1]/", "https://[::1]"],
])("callbackOrigin(%s)", (url, origin) => expect(callbackOrigin(url)).toBe(origin));
