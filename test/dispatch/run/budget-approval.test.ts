import { expect, test } from "vitest";
import { createBudgetApproval } from "../../../src/dispatch/run/budget-approval.ts";
import type { Run } from "../../../src/dispatch/run/run-task.ts";
import { type Spending, toSpending } from "../../../src/dispatch/run/spending.ts";
import type { Spent } from "../../../src/task.ts";

/** Returns what the approval of a task with this spending shows. */
async function shownOf(spending: Spending): Promise<unknown> {
  const shown: unknown[] = [];
  const approval = createBudgetApproval({ isOver: false } as Run, {
    store: { readRaises: async () => ({ micros: 0, tokens: 0 }) },
    approvals: {
      async ask(_, { input }) {
        shown.push(input);
        return { decision: "approve", reason: null };
      },
    },
    onFault() {},
  });
  const cap = { name: null, maxMicros: 500_000, maxTokens: null };
  await approval.request({ spending, cap, raises: { micros: 500_000, tokens: null } });
  return shown[0];
}

test("an approval of a budget shows what is spent, and what counts only if a call whose response broke off makes it more", async () => {
  const spent = (costUsd: number): Spent => ({ costUsd, costSource: "priced", usage: { inputTokens: costUsd * 1000, outputTokens: 0 } });
  const shown = { spentUsd: 0.25, maxCostUsd: 0.5, spentTokens: 250, maxTokens: null };
  expect(await shownOf(toSpending(spent(0.25)))).toEqual(shown);
  expect(await shownOf(toSpending(spent(0.25), spent(0.75)))).toEqual({ ...shown, atMostUsd: 0.75, atMostTokens: 750 });
});
