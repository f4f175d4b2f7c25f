import path from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { readLine } from "../../../adapters/command/events.ts";
import { countBlocks } from "../../support/count-blocks.ts";
import { longLines, NAMES } from "./long-line-workloads.ts";

const text = { kind: "text" };
const dropped = { kind: "dropped" };
const event = (type: string, data: object) => ({ kind: "event", event: { type, data } });
const result = (fields: object) => ({ kind: "result", result: fields });

describe("an event line", () => {
  test.each([
    [{ type: "assistant.text", content: "hi" }, event("assistant.text", { content: "hi" })],
    [
      { type: "tool.invoked", toolCallId: "1", toolName: "t", input: null },
      event("tool.invoked", { toolCallId: "1", toolName: "t", input: null }),
    ],
    [
      { type: "tool.completed", toolCallId: "1", toolName: "t", output: [1], isError: true, more: 1 },
      event("tool.completed", { toolCallId: "1", toolName: "t", output: [1], isError: true }),
    ],
    [
      {
        type: "tool.completed",
        toolCallId: "1",
        toolName: "t",
        output: { type: "image", data: "AAAA", mimeType: "image/png" },
        isError: false,
      },
      event("tool.completed", {
        toolCallId: "1",
        toolName: "t",
        output: { type: "image", mimeType: "image/png", bytes: 3 },
        isError: false,
      }),
    ],
    [{ type: "execution.progress", step: 1, of: 2 }, event("execution.progress", { step: 1, of: 2 })],
  ])("an event line is parsed: %j", (line, expected) => {
    expect(readLine(JSON.stringify(line))).toEqual(expected);
    expect(readLine(`  ${JSON.stringify(line)}\r`)).toEqual(expected);
  });
});

describe("a text line", () => {
  test.each([
    "",
    "hello",
    "{",
    '{"type":"result","outp',
    '{"type":"something.else","content":"x"}',
    '{"type":"toString"}',
    '{"type":"__proto__"}',
    '{"type":7}',
    '{"content":"x"}',
    '["assistant.text"]',
    '"result"',
    "null",
    '{"type":"callback.delivered","attempts":1}',
  ])("%s", (line) => {
    expect(readLine(line)).toEqual(text);
  });
});

test.each([
  [{ type: "assistant.text" }, "assistant.text (content: Invalid input: expected string, received undefined)"],
  [{ type: "assistant.text", content: 1 }, "assistant.text (content: Invalid input: expected string, received number)"],
  [{ type: "tool.invoked", toolCallId: "1", input: {} }, "tool.invoked (toolName: Invalid input: expected string, received undefined)"],
  [
    { type: "tool.completed", toolName: "t", output: 1 },
    "tool.completed (toolCallId: Invalid input: expected string, received undefined; isError: Invalid input: expected boolean, received undefined)",
  ],
])("%j is a malformed event, not text", (line, fault) => {
  expect(readLine(JSON.stringify(line))).toEqual({ kind: "malformed", fault });
});

test("a line that only starts like an object is not parsed, because a failed parse takes a hundred times as long as a check", () => {
  const parse = vi.spyOn(JSON, "parse");
  onTestFinished(() => parse.mockRestore());
  expect(readLine("{")).toEqual(text);
  expect(parse).not.toHaveBeenCalled();
  readLine('{"type":"result"}');
  expect(parse).toHaveBeenCalled();
});

test.each(["execution.started", "execution.completed", "execution.failed"])("%s is dropped, because only Bridge emits it", (type) => {
  expect(readLine(JSON.stringify({ type, error: "x" }))).toEqual(dropped);
});

describe("a result line", () => {
  const everything = {
    status: "ok",
    output: "done",
    outputs: { a: 1 },
    usage: { inputTokens: 1, outputTokens: 2, thinkingTokens: 0 },
    costUsd: 0.5,
    model: "m",
    resumeToken: "r",
  };
  test.each([
    ["is complete", everything, everything],
    ["is empty, which is success", {}, { status: "ok" }],
    ["has unknown fields, which are removed", { output: "x", sessionId: "y" }, { status: "ok", output: "x" }],
    ["has nulls, which are absent", { status: null, output: "x", usage: null, error: null }, { status: "ok", output: "x" }],
    [
      "fails with a known code",
      { status: "error", errorCode: "rate_limited", error: "later" },
      { status: "error", errorCode: "rate_limited", error: "later" },
    ],
    [
      "fails with a code only",
      { errorCode: "max_turns" },
      { status: "error", errorCode: "max_turns", error: "The program reported max_turns." },
    ],
    [
      "fails with a text only",
      { error: "no luck", output: "half" },
      { status: "error", errorCode: "adapter_error", error: "no luck", output: "half" },
    ],
    [
      "fails with an unknown code",
      { errorCode: "E42", error: "no luck" },
      { status: "error", errorCode: "adapter_error", error: "E42: no luck" },
    ],
    [
      "fails without a message",
      { status: "error" },
      { status: "error", errorCode: "adapter_error", error: "The program reported an error." },
    ],
  ])("%s", (_name, fields, expected) => {
    expect(readLine(JSON.stringify({ type: "result", ...fields }))).toEqual(result(expected));
  });

  test.each([
    ["status", { status: "fine" }],
    ["output", { output: 1 }],
    ["usage.inputTokens", { usage: { inputTokens: "many", outputTokens: 1 } }],
    ["costUsd", { costUsd: -1 }],
    ["outputs", { outputs: [1] }],
  ])("a result line with an invalid %s fails the task and names the field", (path, fields) => {
    expect(readLine(JSON.stringify({ type: "result", ...fields }))).toEqual(
      result({ status: "error", errorCode: "adapter_error", error: expect.stringContaining(path) }),
    );
  });
});

test("the reader keeps a member named __proto__ of outputs, inputs and progress", () => {
  const data = '{"__proto__":{"admin":true},"constructor":1}';
  const written = (line: string) => JSON.stringify(readLine(line));
  expect(written(`{"type":"result","status":"ok","outputs":${data}}`)).toContain(`"outputs":${data}`);
  expect(written(`{"type":"execution.progress","__proto__":{"admin":true},"constructor":1}`)).toContain(`"data":${data}`);
  expect(written(`{"type":"tool.invoked","toolCallId":"1","toolName":"t","input":${data}}`)).toContain(`"input":${data}`);
});

test("a line with 49,900 names takes at most 4 executed blocks of code for each name", async () => {
  const blocks = await countBlocks(path.join(import.meta.dirname, "long-line-workloads.ts"));
  for (const [type, line] of Object.entries(longLines)) {
    expect(readLine(line).kind).not.toBe("text");
    expect((blocks[type] as number) / NAMES).toBeLessThanOrEqual(4);
  }
});
