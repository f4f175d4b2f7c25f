import { expect, test } from "vitest";
import { readUsage } from "../../../adapters/acp-agent/usage.ts";

const all = { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20 };

test.each([
  ["nothing beside", { inputTokens: 130, outputTokens: 30, totalTokens: 160 }, { inputTokens: 130, outputTokens: 30 }],
  ["cached ones apart", { inputTokens: 110, cachedReadTokens: 20, outputTokens: 30, thoughtTokens: 5, totalTokens: 160 }, all],
  ["cached ones within", { inputTokens: 130, cachedReadTokens: 20, outputTokens: 30, thoughtTokens: 5, totalTokens: 160 }, all],
  ["both apart", { inputTokens: 110, cachedReadTokens: 20, outputTokens: 25, thoughtTokens: 5, totalTokens: 160 }, all],
  ["thoughts apart", { inputTokens: 130, cachedReadTokens: 20, outputTokens: 25, thoughtTokens: 5, totalTokens: 160 }, all],
  [
    "reads and writes of a cache",
    { inputTokens: 120, cachedReadTokens: 20, cachedWriteTokens: 10, outputTokens: 30, thoughtTokens: null, totalTokens: 180 },
    { inputTokens: 150, outputTokens: 30, cacheReadTokens: 20, cacheWriteTokens: 10 },
  ],
])("%s: the total tells", (_, usage, expected) => {
  expect(readUsage({ stopReason: "end_turn", usage })).toEqual(expected);
});

test.each([
  ["none", undefined],
  ["no total", { inputTokens: 1, outputTokens: 1 }],
  ["a total that nothing adds up to", { inputTokens: 110, cachedReadTokens: 20, outputTokens: 30, totalTokens: 500 }],
  ["two readings", { inputTokens: 100, cachedReadTokens: 5, outputTokens: 30, thoughtTokens: 5, totalTokens: 135 }],
  ["no number", { inputTokens: "1", outputTokens: 1, totalTokens: 2 }],
])("%s: unknown", (_, usage) => {
  expect(readUsage({ stopReason: "end_turn", usage })).toBeUndefined();
});
