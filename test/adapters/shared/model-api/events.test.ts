import type { TextStreamPart, ToolSet } from "ai";
import { describe, expect, test } from "vitest";
import { createPartReader } from "../../../../adapters/shared/model-api/events.ts";

type Part = TextStreamPart<ToolSet>;
const usage = (
  input: number | undefined,
  output: number | undefined,
  details: { read?: number; write?: number; thinking?: number } = {},
) => ({
  inputTokens: input,
  outputTokens: output,
  totalTokens: undefined,
  inputTokenDetails: { cacheReadTokens: details.read, cacheWriteTokens: details.write, noCacheTokens: undefined },
  outputTokenDetails: { reasoningTokens: details.thinking, textTokens: undefined },
});
const finishStep = (changes: object = {}) =>
  ({
    type: "finish-step",
    finishReason: "stop",
    usage: usage(130, 30),
    response: { modelId: "m-1" },
    providerMetadata: undefined,
    ...changes,
  }) as unknown as Part;
const finish = (finishReason: string, rawFinishReason: string | undefined = finishReason) =>
  ({ type: "finish", finishReason, rawFinishReason, totalUsage: usage(1, 1) }) as unknown as Part;
const call = (toolCallId: string) => ({ type: "tool-call", toolCallId, toolName: "look", input: { at: 1 } }) as unknown as Part;
const open = (maxSteps = 50) =>
  createPartReader({
    explain: (error) => ({ status: "error", errorCode: "model_error", error: String(error) }),
    maxSteps,
    requestedModel: "m",
  });
const ended = (status: "ok" | "error", errorCode?: string) => ({
  kind: "ended",
  outcome: expect.objectContaining({ status, ...(errorCode !== undefined && { errorCode }) }),
});

describe("the steps of a part of the stream", () => {
  test.each<[string, Part[], unknown[]]>([
    ["text", [{ type: "text-delta", id: "1", text: "Hi" }], [{ kind: "text", text: "Hi" }]],
    [
      "parts without a step",
      [
        { type: "start" } as Part,
        { type: "text-start", id: "1" },
        { type: "text-end", id: "1" },
        { type: "custom", kind: "anthropic.message_start" } as never,
      ],
      [],
    ],
    [
      "thought",
      [
        { type: "reasoning-start", id: "1" },
        { type: "reasoning-delta", id: "1", text: "hm" },
      ],
      [{ kind: "progress", data: { doing: "reasoning" } }],
    ],
    [
      "a long thought",
      [
        { type: "reasoning-delta", id: "1", text: "x".repeat(4096) },
        { type: "reasoning-delta", id: "1", text: "x" },
      ],
      [{ kind: "progress", data: { doing: "reasoning" } }],
    ],
    [
      "an incomplete call",
      [
        { type: "tool-input-start", id: "1", toolName: "look" },
        { type: "tool-input-delta", id: "1", delta: "{" },
      ],
      [{ kind: "progress", data: { doing: "tool input", toolName: "look" } }],
    ],
    ["a call", [call("1")], [{ kind: "tool.invoked", toolCallId: "1", toolName: "look", input: { at: 1 } }]],
    [
      "its result",
      [{ type: "tool-result", toolCallId: "1", toolName: "look", input: {}, output: { content: [] } } as never],
      [{ kind: "tool.completed", toolCallId: "1", toolName: "look", output: { content: [] }, isError: false }],
    ],
    [
      "a result that is marked as an error",
      [{ type: "tool-result", toolCallId: "1", toolName: "look", input: {}, output: { isError: true } } as never],
      [{ kind: "tool.completed", toolCallId: "1", toolName: "look", output: { isError: true }, isError: true }],
    ],
    [
      "its error",
      [{ type: "tool-error", toolCallId: "1", toolName: "look", input: {}, error: new Error("no") } as never],
      [{ kind: "tool.completed", toolCallId: "1", toolName: "look", output: "no", isError: true }],
    ],
    [
      "a step",
      [finishStep()],
      [
        {
          kind: "usage",
          data: {
            model: "m-1",
            requestedModel: "m",
            usage: { inputTokens: 130, outputTokens: 30 },
            call: { startedAt: expect.any(Number), durationMs: expect.any(Number), status: 200 },
          },
        },
        { kind: "facts", facts: { model: "m-1" } },
        { kind: "progress", data: { step: 1, finishReason: "stop" } },
      ],
    ],
    [
      "an error",
      [{ type: "error", error: "oops" }],
      [{ kind: "ended", outcome: { status: "error", errorCode: "model_error", error: "oops" } }],
    ],
    ["an abort", [{ type: "abort" }], [ended("error", "cancelled")]],
    ["the end", [finish("stop")], [ended("ok")]],
    [
      "the end of an answer that has only thoughts",
      [
        { type: "start-step" } as Part,
        { type: "text-delta", id: "1", text: "<think>Hm, let" },
        { type: "text-end", id: "1" },
        finish("stop"),
      ],
      [ended("error", "model_error")],
    ],
    ["an end for a reason of the vendor's", [finish("other", "eos")], [ended("ok")]],
    ["an end without a reason", [{ ...finish("other"), rawFinishReason: undefined } as Part], [ended("error", "model_error")]],
    ["a truncated answer", [finish("length")], [ended("error", "output_limit")]],
    ["a filter", [finish("content-filter")], [ended("error", "model_error")]],
    ["an error for a reason", [finish("error")], [ended("error", "model_error")]],
    ["an end for tool calls, without one", [finish("tool-calls")], [ended("error", "model_error")]],
  ])("%s", (_, parts, steps) => {
    const { read } = open();
    expect(parts.flatMap((part) => read(part))).toEqual(steps);
  });
});

test("a step of an endpoint that reports no usage is a partial report", () => {
  const [step] = open().read(finishStep({ usage: usage(undefined, 3), response: { modelId: "m" } }));
  expect(step).toMatchObject({ kind: "usage", data: { model: "m", usage: { inputTokens: 0, outputTokens: 0 }, partial: true } });
  expect(step).not.toHaveProperty("data.requestedModel");
});

test("calls without a result are the open calls of the task, for any finish reason", () => {
  for (const reason of ["tool-calls", "stop"]) {
    const { read } = open(1);
    const steps = [
      call("1"),
      call("2"),
      { type: "tool-result", toolCallId: "1", toolName: "look", output: 1 } as never,
      finishStep(),
      finish(reason),
    ].flatMap((part) => read(part));
    expect(steps.slice(-2)).toEqual([
      { kind: "facts", facts: { outputs: { toolCalls: [{ toolCallId: "2", toolName: "look", input: { at: 1 } }] } } },
      ended("ok"),
    ]);
  }
});

test("a model that stops for tool calls at its last step fails with max_turns", () => {
  const { read } = open(2);
  expect([finishStep(), finishStep(), finish("tool-calls")].flatMap((part) => read(part)).at(-1)).toEqual(ended("error", "max_turns"));
});

describe("usage", () => {
  test.each([
    // 130 input tokens, of which 20 are cached, and 30 output tokens, of which 5 are thinking: the SDK counts as Bridge does.
    [
      "one step",
      [usage(130, 30, { read: 20, thinking: 5 })],
      { inputTokens: 130, outputTokens: 30, cacheReadTokens: 20, thinkingTokens: 5 },
    ],
    [
      "several steps",
      [usage(130, 30, { read: 20 }), usage(10, 1, { read: 0, write: 4 })],
      { inputTokens: 140, outputTokens: 31, cacheReadTokens: 20, cacheWriteTokens: 4 },
    ],
    ["unknown usage", [usage(undefined, undefined)], undefined],
    ["a step with unknown usage", [usage(130, 30), usage(undefined, 3)], undefined],
    ["no step", [], undefined],
    ["impossible counts", [usage(-5, 30)], undefined],
    ["values that are not counts", [usage(130, 1e308)], undefined],
    ["an impossible partial count", [usage(130, 30, { read: -20 })], { inputTokens: 130, outputTokens: 30 }],
  ])("%s", (_, usages, expected) => {
    const reader = open();
    for (const one of usages) reader.read(finishStep({ usage: one }));
    expect(reader.usage).toEqual(expected);
  });
});
