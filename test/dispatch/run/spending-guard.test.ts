import { expect, test } from "vitest";
import { createSpendingGuard, type SpendingCap, type SpendingDecision } from "../../../src/dispatch/run/spending-guard.ts";
import type { Spent } from "../../../src/task.ts";

const cents = (count: number): Spent => ({ costUsd: count / 100, costSource: "priced", usage: { inputTokens: count, outputTokens: 0 } });
const cap = (fields: Partial<SpendingCap> = {}): SpendingCap => ({ name: null, maxMicros: 50_000, maxTokens: null, ...fields });

function open({
  own = cap(),
  holdsCalls = false,
  decide,
}: {
  own?: SpendingCap | null;
  holdsCalls?: boolean;
  decide?: () => SpendingDecision;
} = {}) {
  const stops: string[] = [];
  const asked: number[] = [];
  const ask = async (_: SpendingCap, spent: Spent) => {
    asked.push(spent.costUsd ?? 0);
    return (decide as () => SpendingDecision)();
  };
  const guard = createSpendingGuard({
    own,
    holdsCalls: () => holdsCalls,
    stop: (reason) => void stops.push(reason),
    ask: decide === undefined ? null : ask,
  });
  return { ...guard, stops, asked };
}

test("a task whose calls cannot be refused is stopped by the report that reaches its maximum", async () => {
  const { onSpent, stops, mayCall } = open();
  onSpent(cents(4));
  expect([stops, await mayCall()]).toEqual([[], { allowed: true }]);
  onSpent(cents(5));
  expect(stops).toEqual(["The task has spent 0.05 US dollars, and its budget permits 0.05."]);
});

test("a task whose calls can be refused is stopped at its next call", async () => {
  const { onSpent, stops, mayCall } = open({ holdsCalls: true });
  onSpent(cents(6));
  expect(stops).toEqual([]);
  const reason = "The task has spent 0.06 US dollars, and its budget permits 0.05.";
  expect([await mayCall(), stops]).toEqual([{ allowed: false, reason }, [reason]]);
});

test("a maximum of tokens, and one that is added while the task runs, stop the task", () => {
  const tokens = open({ own: cap({ maxMicros: null, maxTokens: 10 }) });
  tokens.onSpent({ ...cents(10), costUsd: null });
  expect(tokens.stops).toEqual(["The task has used 10 tokens, and its budget permits 10."]);
  const added = open({ own: null });
  added.onSpent(cents(3));
  added.addCaps([cap({ name: "each", maxMicros: 20_000 })]);
  expect(added.stops).toEqual(["The task has spent 0.03 US dollars, and the budget each permits 0.02."]);
});

test("an unknown cost reaches no maximum of the cost", () => {
  const { onSpent, stops } = open();
  onSpent({ ...cents(100), costUsd: null });
  expect(stops).toEqual([]);
});

test("a budget without room stops the task", () => {
  const { onBudgetReached, stops } = open({ own: null });
  onBudgetReached("day");
  expect(stops).toEqual(["The budget day has no room for what the task spends."]);
});

test("calls at the maximum wait for one decision, which raises the maximum by the given amount or by the maximum itself", async () => {
  const decisions: SpendingDecision[] = [
    { isApproved: true, raiseMicros: 20_000, reason: null },
    { isApproved: true, raiseMicros: null, reason: null },
    { isApproved: false, raiseMicros: null, reason: "Enough." },
  ];
  const { onSpent, mayCall, asked, stops } = open({ holdsCalls: true, decide: () => decisions.shift() as SpendingDecision });
  onSpent(cents(5));
  expect(await Promise.all([mayCall(), mayCall()])).toEqual([{ allowed: true }, { allowed: true }]);
  expect(asked).toEqual([0.05]);
  onSpent(cents(7));
  expect(await mayCall()).toEqual({ allowed: true });
  onSpent(cents(11));
  expect(await mayCall()).toEqual({ allowed: true });
  onSpent(cents(12));
  const reason = "The task has spent 0.12 US dollars, and its budget permits 0.12. Enough.";
  expect([await mayCall(), stops]).toEqual([{ allowed: false, reason }, [reason]]);
  expect(asked).toEqual([0.05, 0.07, 0.12]);
});

test("a raise that is too small asks again", async () => {
  const decisions: SpendingDecision[] = [
    { isApproved: true, raiseMicros: 10_000, reason: null },
    { isApproved: true, raiseMicros: 100_000, reason: null },
  ];
  const { onSpent, mayCall, asked } = open({ holdsCalls: true, decide: () => decisions.shift() as SpendingDecision });
  onSpent(cents(9));
  expect(await mayCall()).toEqual({ allowed: true });
  expect(asked).toEqual([0.09, 0.09]);
});
