import { expect, test } from "vitest";
import type { ExecutionResult } from "#contract";
import { createChildSpending } from "../../../../adapters/shared/agent-program/child-spending.ts";

type Child = Parameters<ReturnType<typeof createChildSpending>["add"]>[0];
const ok = (fields: Partial<ExecutionResult> = {}): Child => ({ status: "ok", ...fields });
const failed = (errorCode: NonNullable<ExecutionResult["errorCode"]>): Child => ({ status: "error", errorCode });
const usage = { inputTokens: 10, outputTokens: 2 };

test.each<[string, Child[], object]>([
  ["no child", [], {}],
  ["one child", [ok({ usage, costUsd: 0.5 })], { usage, costUsd: 0.5 }],
  [
    "two children",
    [ok({ usage: { ...usage, thinkingTokens: 1 }, costUsd: 0.5 }), ok({ usage: { ...usage, thinkingTokens: 2 }, costUsd: 0.25 })],
    { usage: { inputTokens: 20, outputTokens: 4, thinkingTokens: 3 }, costUsd: 0.75 },
  ],
  [
    "a child whose cost is a price",
    [ok({ usage, costUsd: 0.5 }), ok({ usage, costUsd: 0.25, costSource: "priced" })],
    { usage: { inputTokens: 20, outputTokens: 4 }, costUsd: 0.75, costSource: "priced" },
  ],
  ["a child without a cost", [ok({ usage, costUsd: 0.5 }), ok({ usage })], { usage: { inputTokens: 20, outputTokens: 4 } }],
  ["a child without usage", [ok({ usage, costUsd: 0.5 }), ok({ costUsd: 0.25 })], { costUsd: 0.75 }],
  [
    "a child that does not report its thinking",
    [ok({ usage: { ...usage, thinkingTokens: 1, cacheReadTokens: 1 } }), ok({ usage: { ...usage, cacheReadTokens: 3 } })],
    { usage: { inputTokens: 20, outputTokens: 4, cacheReadTokens: 4 } },
  ],
  ["a child that was rejected before it used anything", [ok({ usage, costUsd: 0.5 }), failed("rate_limited")], { usage, costUsd: 0.5 }],
  ["a child that failed while it ran", [ok({ usage, costUsd: 0.5 }), failed("timeout")], {}],
])("the sum over %s", (_, children, total) => {
  const spending = createChildSpending();
  for (const child of children) spending.add(child);
  expect(spending.total).toEqual("costUsd" in total ? { costSource: "runtime", ...total } : total);
});
