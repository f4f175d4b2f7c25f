import type { Stats, UsageCounts } from "bridge-client";
import { expect, test } from "vitest";
import { describeChange, formatCostSum, formatTokenSum, listBarParts } from "../src/usage.ts";

test("an unknown part of a sum is a question mark, and an unknown sum is never 0", () => {
  expect(formatCostSum({ costUsd: 0.25, tasksWithoutCost: 0 })).toBe("$0.25");
  expect(formatCostSum({ costUsd: 0.25, tasksWithoutCost: 1 })).toBe("$0.25 + ?");
  expect(formatCostSum({ costUsd: null, tasksWithoutCost: 1 })).toBe("?");
  expect(formatCostSum({ costUsd: 0, tasksWithoutCost: 0 })).toBe("$0.00");
  expect(formatTokenSum(12, { tasksWithoutUsage: 2 })).toBe("12 + ?");
  expect(formatTokenSum(null, { tasksWithoutUsage: 2 })).toBe("?");
});

test.each([
  [112, 100, "+12 %"],
  [50, 100, "−50 %"],
  [100.2, 100, "no change"],
  [0, 0, "no change"],
  [0, 5, "−100 %"],
  [3, 0, "none before"],
  [1200, 100, "12 times"],
  [null, 5, ""],
  [5, null, ""],
])("the change to %j from %j is %j", (value, before, expected) => {
  expect(describeChange(value, before)).toBe(expected);
});

const counts = (fields: Partial<UsageCounts>): UsageCounts => ({
  ...{ tasks: 1, completed: 1, failed: 0, cancelled: 0, durationMs: 0, tasksWithoutUsage: 0, tasksWithoutCost: 0 },
  ...{ inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: 0 },
  ...fields,
});

test("the parts of bars are sorted by their sums, and a part that an hour does not have is 0 there", () => {
  const group = (parts: Record<string, Partial<UsageCounts>>, otherParts: UsageCounts | null) => ({
    ...counts({}),
    ...{ key: "2026-11-29T09:00:00.000Z", otherParts, parts: Object.entries(parts).map(([key, fields]) => ({ key, ...counts(fields) })) },
  });
  const data = [group({ a: { costUsd: 1 }, b: { costUsd: 2 } }, counts({ costUsd: 3 })), group({ a: { costUsd: null } }, null)];
  const chart = { data } as Stats;
  expect(listBarParts(chart, "cost")).toEqual([
    { kind: "part-1", label: "b", values: [2, 0] },
    { kind: "part-2", label: "a", values: [1, null] },
    { kind: "others", label: "others", values: [3, 0] },
  ]);
  expect(listBarParts(chart, "tokens").map(({ label, values }) => [label, values])).toEqual([
    ["b", [3, 0]],
    ["a", [3, 3]],
    ["others", [3, 0]],
  ]);
  expect(listBarParts(chart, "tasks").map(({ label }) => label)).toEqual(["completed", "failed", "canceled"]);
});
