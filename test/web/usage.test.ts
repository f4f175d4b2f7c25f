import type { UsageGroup } from "bridge-client";
import { expect, test } from "vitest";
import { formatCostSum, formatTokenSum, sumSince } from "../../web/src/usage.ts";

test("an unknown part of a sum is a question mark, and an unknown sum is never 0", () => {
  expect(formatCostSum({ costUsd: 0.25, tasksWithoutCost: 0 })).toBe("$0.25");
  expect(formatCostSum({ costUsd: 0.25, tasksWithoutCost: 1 })).toBe("$0.25 + ?");
  expect(formatCostSum({ costUsd: null, tasksWithoutCost: 1 })).toBe("?");
  expect(formatCostSum({ costUsd: 0, tasksWithoutCost: 0 })).toBe("$0.00");
  expect(formatTokenSum(12, { tasksWithoutUsage: 2 })).toBe("12 + ?");
  expect(formatTokenSum(null, { tasksWithoutUsage: 2 })).toBe("?");
});

const hour = (key: string, fields: Partial<UsageGroup>): UsageGroup => ({
  ...{ key, tasks: 1, completed: 1, failed: 0, cancelled: 0, durationMs: 0, tasksWithoutUsage: 0, tasksWithoutCost: 0, costUsd: 0 },
  ...{ inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
  ...fields,
});

test("today is the sum of the hours since midnight", () => {
  const data = [
    hour("2026-11-22T23:00:00.000Z", { costUsd: 5 }),
    hour("2026-11-23T00:00:00.000Z", { costUsd: 0.5 }),
    hour("2026-11-23T01:00:00.000Z", { costUsd: null, tasksWithoutCost: 1 }),
  ];
  expect(sumSince({ data }, Date.parse("2026-11-23T00:00:00Z"))).toEqual({ tasks: 2, costUsd: 0.5, tasksWithoutCost: 1 });
  expect(sumSince({ data: data.slice(2) }, 0)).toEqual({ tasks: 1, costUsd: null, tasksWithoutCost: 1 });
  expect(sumSince({ data: [] }, 0)).toEqual({ tasks: 0, costUsd: 0, tasksWithoutCost: 0 });
});
