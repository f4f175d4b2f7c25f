import type { Budget } from "bridge-client";
import { expect, test } from "vitest";
import { sharesOf } from "../../src/parts/budget-bars.ts";

const budget: Budget = {
  ...{ name: "day", scope: {}, per: "day", periodStart: "2026-11-29T00:00:00Z", periodEnd: "2026-11-30T00:00:00Z", state: "ok" },
  ...{ maxCostUsd: 10, maxTokens: null, spentUsd: 4, spentTokens: 50, reservedUsd: 2, reservedTokens: 0, estimatedUsd: 1, waitingTasks: 0 },
};

test("a bar shows what is spent, estimated and reserved of the cost", () => {
  expect(sharesOf(budget)).toEqual({ spent: 0.3, estimated: 0.1, reserved: 0.2 });
});

test("a bar shows tokens if their maximum is used more", () => {
  expect(sharesOf({ ...budget, maxTokens: 60, reservedTokens: 6 })).toEqual({ spent: 50 / 60, estimated: 0, reserved: 0.1 });
  expect(sharesOf({ ...budget, maxCostUsd: null, maxTokens: 100 })).toEqual({ spent: 0.5, estimated: 0, reserved: 0 });
});
