import { expect, test } from "vitest";
import { createSpendingGuard, type SpendingCap } from "../../../src/dispatch/run/spending-guard.ts";
import type { Spent } from "../../../src/task.ts";

const cents = (count: number): Spent => ({ costUsd: count / 100, costSource: "priced", usage: { inputTokens: count, outputTokens: 0 } });
const cap = (fields: Partial<SpendingCap> = {}): SpendingCap => ({ name: null, maxMicros: 50_000, maxTokens: null, ...fields });

function open({ own = cap(), holdsCalls = false }: { own?: SpendingCap | null; holdsCalls?: boolean } = {}) {
  const stops: string[] = [];
  const guard = createSpendingGuard({ own, holdsCalls: () => holdsCalls, stop: (reason) => void stops.push(reason) });
  return { ...guard, stops };
}

test("a task whose calls cannot be refused is stopped by the report that reaches its maximum", () => {
  const { onSpent, stops, mayCall } = open();
  onSpent(cents(4));
  expect([stops, mayCall()]).toEqual([[], { allowed: true }]);
  onSpent(cents(5));
  expect(stops).toEqual(["The task has spent 0.05 US dollars, and its budget permits 0.05."]);
});

test("a task whose calls can be refused is stopped at its next call", () => {
  const { onSpent, stops, mayCall } = open({ holdsCalls: true });
  onSpent(cents(6));
  expect(stops).toEqual([]);
  const reason = "The task has spent 0.06 US dollars, and its budget permits 0.05.";
  expect([mayCall(), stops]).toEqual([{ allowed: false, reason }, [reason]]);
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
