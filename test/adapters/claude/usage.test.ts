import { describe, expect, test } from "vitest";
import { readTurnUsage } from "../../../adapters/claude/usage.ts";

describe("usage of a turn", () => {
  test("usage of a turn has no thinking tokens when Claude Code does not report them", () => {
    const usage = { inputTokens: 120, cachedReadTokens: 20, cachedWriteTokens: 10, outputTokens: 30, totalTokens: 180 };
    expect(readTurnUsage({ stopReason: "end_turn", usage })).toEqual({
      usage: { inputTokens: 150, outputTokens: 30, cacheReadTokens: 20, cacheWriteTokens: 10 },
    });
  });

  test("usage of a turn adds the counts per model, which include sub-agents", () => {
    const row = {
      inputTokens: 120,
      cachedInputTokens: 20,
      cachedWriteTokens: 10,
      outputTokens: 30,
      reasoningOutputTokens: 0,
      totalTokens: 180,
    };
    const rows = (...models: string[]) => ({ _meta: { quota: { model_usage: models.map((model) => ({ model, token_count: row })) } } });
    expect(readTurnUsage(rows("m"))).toMatchObject({ usage: { inputTokens: 150 }, model: "m" });
    expect(readTurnUsage(rows("m", "small"))).toEqual({
      usage: { inputTokens: 300, outputTokens: 60, cacheReadTokens: 40, cacheWriteTokens: 20 },
    });
  });

  test("usage of a turn is empty when Claude Code reports none", () => expect(readTurnUsage({ stopReason: "end_turn" })).toEqual({}));
});
