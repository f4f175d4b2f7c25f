import { expect, test } from "vitest";
import type { ApprovalAnswer } from "#contract";
import type { Run } from "../../../src/dispatch/run/run-task.ts";
import { addSpending, toSpending } from "../../../src/dispatch/run/spending.ts";
import { createSpendingGuards } from "../../../src/dispatch/run/spending-guards.ts";
import type { Spent, Task } from "../../../src/task.ts";

const task = { seq: 1, tenant: "default", taskId: "t", restarts: 0, request: { budget: { maxCostUsd: 0.5 } } } as Task;
const dollars = (costUsd: number | null): Spent => ({ usage: null, costUsd, costSource: costUsd === null ? null : "priced" });

function open() {
  const metered: (number | null)[] = [];
  const guards = createSpendingGuards({
    store: {
      async meterIfRunning(_, { costUsd }) {
        metered.push(costUsd);
      },
      readRaises: async () => ({ micros: 0, tokens: 0 }),
    },
    approvals: { ask: async () => ({ decision: "reject", reason: null }) },
    budgets: { exist: () => true, hasTaskLimits: () => false, listTaskLimits: async () => [] },
    running: { find: () => undefined, listWithAncestors: () => [], pauseClocks: () => () => {}, onSpent() {} },
    metrics: { budgetStops: { inc() {} } as never },
    logger: { error() {} },
  });
  /** Starts a run of the task. `stops` are the codes with which its guard stops it. */
  function start() {
    const stops: string[] = [];
    const runtime = Promise.withResolvers<void>();
    const stop = (code: string) => stops.push(code) === 1;
    const run: Partial<Run> = { task, provider: "p", stopsAtNextCall: false, hasChildren: false, runtimeEnded: runtime.promise, stop };
    guards.onStarted(run as Run);
    return { stops, endRuntime: runtime.resolve };
  }
  return { ...guards, start, metered };
}

test("the end of the runtime of an earlier run does not remove the guard of the next run of the task", async () => {
  const { start, onSpent } = open();
  const first = start();
  const second = start();
  first.endRuntime();
  await null;
  onSpent(task, toSpending(dollars(0.6)));
  expect([first.stops, second.stops]).toEqual([[], ["budget_exceeded"]]);
  second.endRuntime();
  await null;
  onSpent(task, toSpending(dollars(0.7)));
  expect(second.stops).toHaveLength(1);
});

test("the budgets of the operator count the known parts of a total that is unknown", () => {
  const { start, onSpent, metered } = open();
  start();
  onSpent(task, toSpending(dollars(0.125)));
  onSpent(task, addSpending([toSpending(dollars(null)), toSpending(dollars(0.25))]));
  expect(metered).toEqual([0.25]);
});

type Options = Parameters<typeof createSpendingGuards>[0];

/** Creates the guards of one running task that is at the maximum of its dispatch, and asks there for more. */
function openGuards() {
  const answer = Promise.withResolvers<ApprovalAnswer>();
  const counts = { pauses: 0, resumed: 0, approvals: 0 };
  const run = {
    task: { seq: 1, tenant: "a", taskId: "t", restarts: 0, parentTaskId: null, request: { budget: { maxCostUsd: 0.1, onReached: "ask" } } },
    ...{ provider: "claude", stopsAtNextCall: true, isOver: false, hasChildren: false, overSignal: new AbortController().signal },
    ...{ runtimeEnded: new Promise<void>(() => {}), usagePriced: () => undefined, stop: () => true },
  } as unknown as Run;
  const running = {
    find: () => run,
    listWithAncestors: () => [run],
    pauseClocks() {
      counts.pauses += 1;
      return () => {
        counts.resumed += 1;
      };
    },
    onSpent() {},
  };
  function ask(): Promise<ApprovalAnswer> {
    counts.approvals += 1;
    return answer.promise;
  }
  const guards = createSpendingGuards({
    ...{ running, approvals: { ask }, budgets: { exist: () => false, hasTaskLimits: () => false } },
    store: { readRaises: async () => ({ micros: counts.approvals * 1_000_000, tokens: 0 }) },
  } as unknown as Options);
  guards.onStarted(run);
  const spent = { usage: null, costUsd: 1, costSource: "priced" } as const;
  guards.onSpent(run.task, toSpending(spent));
  return { guards, counts, decide: answer.resolve };
}

test("all calls of a task that wait for one decision share one approval and one pause of its clocks", async () => {
  const { guards, counts, decide } = openGuards();
  const calls = Array.from({ length: 20 }, () => guards.mayCallModel("claude", "t"));
  await expect.poll(() => counts.approvals).toBe(1);
  expect(counts).toEqual({ pauses: 1, resumed: 0, approvals: 1 });
  decide({ decision: "approve", by: "operator", reason: null } as ApprovalAnswer);
  expect(await Promise.all(calls)).toEqual(calls.map(() => ({ allowed: true })));
  expect(counts).toEqual({ pauses: 1, resumed: 1, approvals: 1 });
});
