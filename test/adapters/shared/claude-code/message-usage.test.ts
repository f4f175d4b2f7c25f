import { expect, test } from "vitest";
import { createMessageMeter } from "../../../../adapters/shared/claude-code/message-usage.ts";

const start = (id: string, usage: object) => ({ type: "message_start", message: { id, model: "opus", usage } });

test("a message counts what its end reports, with the part of the cache that is kept for an hour", () => {
  const meter = createMessageMeter();
  expect(meter.read(null, start("1", { input_tokens: 100, output_tokens: 1, cache_creation_input_tokens: 10 }))).toEqual([]);
  const usage = { output_tokens: 30, cache_creation: { ephemeral_1h_input_tokens: 8 }, output_tokens_details: { thinking_tokens: 5 } };
  expect(meter.read(null, { type: "message_delta", usage })).toEqual([]);
  const counts = { inputTokens: 110, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 10, cacheWrite1hTokens: 8 };
  expect(meter.read(null, { type: "message_stop" })).toEqual([{ model: "opus", usage: counts }]);
  expect(meter.read(null, { type: "message_stop" })).toEqual([]);
});

test("a message whose stream broke counts when the next one begins", () => {
  const meter = createMessageMeter();
  meter.read(null, start("1", { input_tokens: 100, output_tokens: 1 }));
  meter.read("sub", start("2", { input_tokens: 7, output_tokens: 1 }));
  const [report] = meter.read(null, start("3", { input_tokens: 200, output_tokens: 1 }));
  expect(report).toMatchObject({ usage: { inputTokens: 100, outputTokens: 1 } });
  expect(meter.read("sub", { type: "message_stop" })).toMatchObject([{ usage: { inputTokens: 7 } }]);
});

test("a message without counts is no report", () => {
  const meter = createMessageMeter();
  meter.read(null, start("1", {}));
  expect(meter.read(null, { type: "message_stop" })).toEqual([]);
});
