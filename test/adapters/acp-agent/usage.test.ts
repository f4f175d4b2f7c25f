import { expect, test } from "vitest";
import { readUsage } from "../../../adapters/acp-agent/usage.ts";

const all = { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20 };

test.each([
  ["no other counts", { inputTokens: 130, outputTokens: 30, totalTokens: 160 }, { inputTokens: 130, outputTokens: 30 }],
  [
    "cached tokens outside the input",
    { inputTokens: 110, cachedReadTokens: 20, outputTokens: 30, thoughtTokens: 5, totalTokens: 160 },
    all,
  ],
  ["cached tokens inside the input", { inputTokens: 130, cachedReadTokens: 20, outputTokens: 30, thoughtTokens: 5, totalTokens: 160 }, all],
  [
    "cached tokens and thinking outside",
    { inputTokens: 110, cachedReadTokens: 20, outputTokens: 25, thoughtTokens: 5, totalTokens: 160 },
    all,
  ],
  ["thinking outside the output", { inputTokens: 130, cachedReadTokens: 20, outputTokens: 25, thoughtTokens: 5, totalTokens: 160 }, all],
  [
    "cache reads and writes",
    { inputTokens: 120, cachedReadTokens: 20, cachedWriteTokens: 10, outputTokens: 30, thoughtTokens: null, totalTokens: 180 },
    { inputTokens: 150, outputTokens: 30, cacheReadTokens: 20, cacheWriteTokens: 10 },
  ],
])("usage with %s is read by its total", (_, usage, expected) => {
  expect(readUsage({ stopReason: "end_turn", usage })).toEqual(expected);
});

test.each([
  ["no counts", undefined],
  ["no total", { inputTokens: 1, outputTokens: 1 }],
  ["a total that matches no interpretation", { inputTokens: 110, cachedReadTokens: 20, outputTokens: 30, totalTokens: 500 }],
  [
    "a total that matches two interpretations",
    { inputTokens: 100, cachedReadTokens: 5, outputTokens: 30, thoughtTokens: 5, totalTokens: 135 },
  ],
  ["a count that is not a number", { inputTokens: "1", outputTokens: 1, totalTokens: 2 }],
])("usage with %s is unknown", (_, usage) => {
  expect(readUsage({ stopReason: "end_turn", usage })).toBeUndefined();
});
