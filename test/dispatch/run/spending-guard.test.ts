import { expect, test } from "vitest";
import { addSpending, type Spending, toSpending } from "../../../src/dispatch/run/spending.ts";
import { createSpendingGuard, type RaiseRequest, type SpendingCap } from "../../../src/dispatch/run/spending-guard.ts";
import type { Spent } from "../../../src/task.ts";

const spent = (count: number): Spent => ({ costUsd: count / 100, costSource: "priced", usage: { inputTokens: count, outputTokens: 0 } });
const cents = (count: number, fields: Partial<Spent> = {}): Spending => toSpending({ ...spent(count), ...fields });
const cap = (fields: Partial<SpendingCap> = {}): SpendingCap => ({ name: null, maxMicros: 50_000, maxTokens: null, ...fields });

function open({ own = cap(), stopsAtNextCall = false }: { own?: SpendingCap | null; stopsAtNextCall?: boolean } = {}) {
  const stops: string[] = [];
  const guard = createSpendingGuard({ own, stopsAtNextCall: () => stopsAtNextCall, stop: (reason) => void stops.push(reason) });
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
  const { onSpent, stops, mayCall } = open({ stopsAtNextCall: true });
  onSpent(cents(6));
  expect(stops).toEqual([]);
  const reason = "The task has spent 0.06 US dollars, and its budget permits 0.05.";
  expect([mayCall(), stops]).toEqual([{ allowed: false, reason }, [reason]]);
});

test("a maximum of tokens, and one that is added while the task runs, stop the task", () => {
  const tokens = open({ own: cap({ maxMicros: null, maxTokens: 10 }) });
  tokens.onSpent(cents(10, { costUsd: null }));
  expect(tokens.stops).toEqual(["The task has used 10 tokens, and its budget permits 10."]);
  const added = open({ own: null });
  added.onSpent(cents(3));
  added.addCaps([cap({ name: "each", maxMicros: 20_000 })]);
  expect(added.stops).toEqual(["The task has spent 0.03 US dollars, and the budget each permits 0.02."]);
});

test("a part whose cost is unknown does not hide the cost of the others", () => {
  const { onSpent, stops } = open();
  onSpent(addSpending([cents(100, { costUsd: null, costSource: null }), cents(5)]));
  expect(stops).toEqual(["The task has spent 0.05 US dollars, and its budget permits 0.05."]);
});

test("an unknown cost reaches no maximum of the cost", () => {
  const { onSpent, stops } = open();
  onSpent(cents(100, { costUsd: null }));
  expect(stops).toEqual([]);
});

test("a budget without room stops the task", () => {
  const { onBudgetReached, stops } = open({ own: null });
  onBudgetReached("day");
  expect(stops).toEqual(["The budget day has no room for what the task spends."]);
});

test("a call whose response broke off counts with the most that it can have used", () => {
  const { onSpent, stops } = open();
  onSpent(toSpending(spent(3), spent(6)));
  expect(stops).toEqual([
    "The task has spent 0.06 US dollars, and its budget permits 0.05. A call whose response broke off counts with the most that it can have used.",
  ]);
});

/** A guard whose approvals are decided one after the other: a raise, or null for a rejection. */
function openWithApproval(decisions: (Partial<RaiseRequest["raises"]> | "default" | null)[], own = cap()) {
  const requests: RaiseRequest[] = [];
  const raises = { micros: 0, tokens: 0 };
  const stops: string[] = [];
  const approval = {
    async request(request: RaiseRequest) {
      requests.push(request);
      const decision = decisions.shift() ?? null;
      if (decision === null) return { decision: "reject", reason: "Enough." } as const;
      const { micros, tokens } = decision === "default" ? request.raises : { ...request.raises, ...decision };
      raises.micros += micros ?? 0;
      raises.tokens += tokens ?? 0;
      return { decision: "approve", reason: null } as const;
    },
    readRaises: async () => ({ ...raises }),
  };
  const guard = createSpendingGuard({ own, stopsAtNextCall: () => false, approval, stop: (reason) => void stops.push(reason) });
  return { ...guard, requests, raises, stops };
}

test("calls at the maximum of a dispatch that asks wait for one decision, and a report does not stop the task", async () => {
  const { onSpent, mayCall, requests, stops } = openWithApproval(["default"]);
  onSpent(cents(4));
  expect(mayCall()).toEqual({ allowed: true });
  onSpent(cents(6));
  expect(await Promise.all([mayCall(), mayCall()])).toEqual([{ allowed: true }, { allowed: true }]);
  const asked = { spending: cents(6), cap: cap(), raises: { micros: 50_000, tokens: null } };
  expect([requests, stops]).toEqual([[asked], []]);
  expect(mayCall()).toEqual({ allowed: true });
});

test("a raise grows the maximum by its amount, each later one by that of the dispatch, and a rejection stops the task", async () => {
  const { onSpent, mayCall, requests, stops } = openWithApproval([{ micros: 20_000 }, "default", null]);
  for (const count of [5, 7, 12]) {
    onSpent(cents(count));
    await mayCall();
  }
  expect(requests.map(({ cap: { maxMicros } }) => maxMicros)).toEqual([50_000, 70_000, 120_000]);
  const reason = "The task has spent 0.12 US dollars, and its budget permits 0.12. A higher maximum was rejected: Enough.";
  expect([await mayCall(), stops]).toEqual([{ allowed: false, reason }, [reason, reason]]);
});

test("a raise that is too small asks again", async () => {
  const { onSpent, mayCall, requests } = openWithApproval([{ micros: 10_000 }, { micros: 100_000 }]);
  onSpent(cents(9));
  expect(await mayCall()).toEqual({ allowed: true });
  expect(requests.map(({ cap: { maxMicros } }) => maxMicros)).toEqual([50_000, 60_000]);
});

test("an approval raises only the maxima that are reached", async () => {
  const { onSpent, mayCall, requests } = openWithApproval(["default", "default"], cap({ maxTokens: 10 }));
  onSpent(cents(10, { costUsd: 0.01 }));
  await mayCall();
  onSpent(cents(10, { costUsd: 0.05 }));
  await mayCall();
  expect(requests.map(({ raises }) => raises)).toEqual([
    { micros: 0, tokens: 10 },
    { micros: 50_000, tokens: 0 },
  ]);
});

test("the raises of an earlier run count", async () => {
  const { onSpent, mayCall, requests, raises } = openWithApproval([]);
  raises.micros = 20_000;
  onSpent(cents(6));
  expect([await mayCall(), requests]).toEqual([{ allowed: true }, []]);
});

test("the budgets of the operator stop a task whose dispatch asks, without a question", () => {
  const { onSpent, addCaps, onBudgetReached, stops, requests } = openWithApproval(["default"]);
  addCaps([cap({ name: "each", maxMicros: 60_000 })]);
  onSpent(cents(6));
  expect(stops).toEqual(["The task has spent 0.06 US dollars, and the budget each permits 0.06."]);
  onBudgetReached("day");
  expect(requests).toEqual([]);
});
