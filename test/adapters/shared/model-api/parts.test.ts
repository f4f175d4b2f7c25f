import { APICallError, type ModelMessage, RetryError } from "ai";
import { describe, expect, test } from "vitest";
import { createToolNamer } from "../../../../adapters/shared/agent-program/tool-names.ts";
import { explainError, redact } from "../../../../adapters/shared/model-api/model-failure.ts";
import { appendUserMessage, findOpenCalls } from "../../../../adapters/shared/model-api/open-calls.ts";
import { cpuCost } from "../../../support/cpu-time.ts";

const endpoint = { baseUrl: "https://models.example/v1?key=hidden", secrets: ["my-secret-key", ""] };
const apiError = (changes: Partial<ConstructorParameters<typeof APICallError>[0]>) =>
  new APICallError({ message: "words", url: "https://models.example", requestBodyValues: {}, ...changes });

describe("the outcome of an error", () => {
  test.each([
    [400, "model_error"],
    [401, "authentication_required"],
    [402, "user_action_required"],
    [403, "authentication_required"],
    [404, "model_error"],
    [413, "model_error"],
    [429, "rate_limited"],
    [500, "model_error"],
    [529, "model_error"],
  ])("status %i", (statusCode, errorCode) => {
    expect(explainError(apiError({ statusCode }), endpoint)).toMatchObject({
      status: "error",
      errorCode,
      error: expect.stringContaining(`HTTP ${statusCode}: words`),
    });
  });

  test("the last one of several attempts counts", () => {
    const error = new RetryError({
      message: "gave up",
      reason: "maxRetriesExceeded",
      errors: [apiError({ statusCode: 500 }), apiError({ statusCode: 429 })],
    });
    expect(explainError(error, endpoint).errorCode).toBe("rate_limited");
  });

  test("an endpoint that cannot be reached is named by its origin, and the reason by its code", () => {
    const cause = Object.assign(new Error("connect ECONNREFUSED 10.1.2.3:443"), { code: "ECONNREFUSED" });
    expect(explainError(apiError({ cause }), endpoint)).toEqual({
      status: "error",
      errorCode: "adapter_offline",
      error: "The model's endpoint https://models.example cannot be reached: ECONNREFUSED",
    });
  });

  test("the endpoint explains its own errors", () => {
    const own = { status: "error", errorCode: "rate_limited", error: "own words" } as const;
    expect(explainError("oops", { ...endpoint, explainError: (error) => (error === "oops" ? own : undefined) })).toBe(own);
    expect(explainError({ message: "in the stream" }, endpoint).error).toContain("in the stream");
    expect(explainError({ code: 7 }, endpoint).error).toContain('{"code":7}');
    expect(explainError(undefined, endpoint)).toMatchObject({ status: "error", errorCode: "model_error" });
  });
});

test.each([
  ["the key my-secret-key is wrong", "the key [redacted] is wrong"],
  ["Authorization: Bearer abc.def-12345", "Authorization: Bearer [redacted]"],
  ["Incorrect API key provided: sk-proj-********abcd.", "Incorrect API key provided: [redacted]."],
  ["GET https://user:pass@host/x?key=abc&b=1", "GET https://host/x?key=[redacted]&b=1"],
  ["nothing secret: sky, basic, skip", "nothing secret: sky, basic, skip"],
])("%s shows no secret", (text, expected) => {
  expect(redact(text, endpoint.secrets)).toBe(expected);
});

test("names of tools are unique and valid for every vendor", () => {
  const nameOf = createToolNamer(["mcp__s__a_b"]);
  const names = [
    nameOf("mcp__s__a b"),
    nameOf("mcp__s__a.b"),
    nameOf("mcp__s__a_b"),
    nameOf("x".repeat(99)),
    nameOf(`${"x".repeat(98)}y`),
    nameOf("mcp__s__"),
  ];
  expect(names.slice(0, 3)).toEqual(["mcp__s__a_b_2", "mcp__s__a_b_3", "mcp__s__a_b_4"]);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
});

describe("a conversation continues", () => {
  const called = (...ids: string[]): ModelMessage => ({
    role: "assistant",
    content: [
      { type: "text", text: "Well." },
      ...ids.map((toolCallId) => ({ type: "tool-call" as const, toolCallId, toolName: "ask", input: {} })),
    ],
  });
  const answered = (...ids: string[]): ModelMessage => ({
    role: "tool",
    content: ids.map((toolCallId) => ({ type: "tool-result", toolCallId, toolName: "ask", output: { type: "text", value: "yes" } })),
  });
  const user: ModelMessage = { role: "user", content: "Go." };

  test("a conversation continues with a message if no call is open", () => {
    const messages = [user, called("1", "2"), answered("1", "2")];
    expect(appendUserMessage(messages, '{"1": 2}')).toEqual([...messages, { role: "user", content: '{"1": 2}' }]);
    expect(appendUserMessage([], "Go.")).toEqual([user]);
  });

  test("a conversation continues with results if calls are open", () => {
    const messages = [user, called("1", "2"), answered("1")];
    expect(findOpenCalls(messages).map(({ toolCallId }) => toolCallId)).toEqual(["2"]);
    expect(appendUserMessage(messages, ' \n{"2":{"a":"}\\"{"}} and so on').slice(3)).toEqual([
      {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: "2", toolName: "ask", output: { type: "text", value: '{"a":"}\\"{"}' } }],
      },
      { role: "user", content: "and so on" },
    ]);
  });

  test("a conversation continues with a text that only looks like results, as the result of the one call", () => {
    for (const text of ['{"2": ', "{{{{", '"2"', '{"a": 1}', ""])
      expect(appendUserMessage([user, called("2")], text).at(-1)).toMatchObject({ role: "tool", content: [{ output: { value: text } }] });
  });

  test("a conversation continues in linear time with a long message of braces", () => {
    for (const braces of ["{".repeat(1_000_000), `{"${'\\"'.repeat(400_000)}`])
      expect(cpuCost(() => appendUserMessage([user, called("2")], braces))).toBeLessThan(50);
  });
});
