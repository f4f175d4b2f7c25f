import { expect, test } from "vitest";
import { formatCostSum, formatTokenSum } from "../../web/src/usage.ts";

test("an unknown part of a sum is a question mark, and an unknown sum is never 0", () => {
  expect(formatCostSum({ costUsd: 0.25, tasksWithoutCost: 0 })).toBe("$0.25");
  expect(formatCostSum({ costUsd: 0.25, tasksWithoutCost: 1 })).toBe("$0.25 + ?");
  expect(formatCostSum({ costUsd: null, tasksWithoutCost: 1 })).toBe("?");
  expect(formatCostSum({ costUsd: 0, tasksWithoutCost: 0 })).toBe("$0.00");
  expect(formatTokenSum(12, { tasksWithoutUsage: 2 })).toBe("12 + ?");
  expect(formatTokenSum(null, { tasksWithoutUsage: 2 })).toBe("?");
});
