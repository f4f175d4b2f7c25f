import fc from "fast-check";
import { expect, test } from "vitest";
import type { BudgetLimit } from "../../../src/store/budgets/interface.ts";
import {
  adjust,
  isExceeded,
  largestAsk,
  meter,
  NOTHING,
  needOf,
  type PeriodCounts,
  type Reservation,
  remainingOf,
  reserve,
  settle,
  toEmptyPeriod,
  UNKNOWN_TOTAL,
  warn,
} from "../../../src/store/budgets/rows.ts";

const limit: BudgetLimit = {
  name: "day",
  startsAt: 0,
  endsAt: 100,
  maxMicros: 10,
  maxTokens: null,
  warnAt: [0.5, 0.8],
  tenant: null,
  provider: null,
};
const toReservation = (micros: number): Reservation => ({
  ...{ name: "day", ask: { micros, tokens: null }, startsAt: null },
  ...{ reserved: NOTHING, settled: NOTHING, lastStartsAt: null, earlier: NOTHING },
});
const micros = (amount: number) => ({ micros: amount, tokens: 0 });
const mayStart = (period: PeriodCounts, reservation: Reservation): boolean =>
  (needOf(reservation).micros ?? 0) <= (largestAsk(period, limit).micros ?? Number.POSITIVE_INFINITY);

const action = fc.record({
  task: fc.nat({ max: 5 }),
  kind: fc.constantFrom("start", "report", "end", "endUnknown", "requeue"),
  amount: fc.nat({ max: 4 }),
});

test("what is spent equals what the tasks used, and starts reserve no more than the maximum, in any order of starts, reports and ends", () => {
  fc.assert(
    fc.property(fc.array(action, { minLength: 30, maxLength: 60, size: "max" }), (actions) => {
      let period = toEmptyPeriod(limit);
      /** A simple model of each task: what it used, what it held, and its guessed usage. */
      const tasks = Array.from({ length: 6 }, (_, index) => ({
        ...{ reservation: toReservation(1 + (index % 4)), isEnded: false, used: 0, held: 0, guessed: 0 },
      }));
      for (const { task: index, kind, amount } of actions) {
        const task = tasks[index] as (typeof tasks)[number];
        const isRunning = task.reservation.startsAt !== null;
        if (task.isEnded || (kind === "start") === isRunning) continue;
        const apply = (change: { period: PeriodCounts; reservation: Reservation }) => {
          period = change.period;
          task.reservation = change.reservation;
        };
        if (kind === "start") {
          if (!mayStart(period, task.reservation)) continue;
          apply(reserve(period, task.reservation, limit));
          expect(isExceeded(period, limit)).toBe(false);
          task.held = Math.max(1, 1 + (index % 4) - task.used);
        } else if (kind === "report") {
          task.used += amount;
          task.held = Math.max(0, task.held - amount);
          apply(meter(period, task.reservation, micros(task.used)));
        } else {
          const isKnown = kind === "end";
          if (isKnown) task.used += amount;
          else if (task.used === 0) task.guessed += task.held;
          task.held = 0;
          task.isEnded = kind !== "requeue";
          apply(settle(period, task.reservation, isKnown ? { ...micros(task.used), isFree: false, isLeast: false } : UNKNOWN_TOTAL));
        }
        const sum = (field: "used" | "held" | "guessed") => tasks.reduce((total, each) => total + each[field], 0);
        expect(period.spent.micros).toBe(sum("used") + sum("guessed"));
        expect(period.reserved.micros).toBe(sum("held"));
        expect(period.estimated.micros).toBe(sum("guessed"));
      }
    }),
  );
});

test("a task that asks for more than the maximum starts alone, and reserves the whole maximum", () => {
  const first = reserve(toEmptyPeriod(limit), toReservation(50), limit);
  expect(first.reservation.reserved).toEqual(micros(10));
  expect(mayStart(first.period, toReservation(1))).toBe(false);
  expect(mayStart({ ...toEmptyPeriod(limit), spent: micros(1) }, toReservation(50))).toBe(false);
});

test("a child reserves what is left, also if nothing is", () => {
  const { period } = reserve(toEmptyPeriod(limit), toReservation(9), limit);
  const child = reserve(period, toReservation(5), limit);
  expect(child.reservation.reserved).toEqual(micros(1));
  expect(reserve(child.period, toReservation(5), limit).reservation.reserved).toEqual(micros(0));
  expect(remainingOf({ ...period, spent: micros(20) }, limit).micros).toBe(0);
});

test("a report above the reservation of one task does not concern the reservation of another", () => {
  const first = reserve(toEmptyPeriod(limit), toReservation(5), limit);
  const second = reserve(first.period, toReservation(5), limit);
  const within = meter(second.period, second.reservation, micros(5));
  expect([within.exceedsReservation, isExceeded(within.period, limit)]).toEqual([false, false]);
  const above = meter(within.period, first.reservation, micros(6));
  expect([above.exceedsReservation, isExceeded(above.period, limit)]).toEqual([true, true]);
  expect(above.period).toMatchObject({ spent: micros(11), reserved: micros(0) });
});

test("Bridge warns once of each threshold in a period, and again after an adjustment below it", () => {
  const spent = (amount: number, period = toEmptyPeriod(limit)) => warn({ ...period, spent: micros(amount) }, limit);
  const shares = (warning: ReturnType<typeof warn>) => warning.events.map(({ data }) => JSON.parse(data).share);
  expect(shares(spent(4))).toEqual([]);
  const first = spent(9);
  expect(shares(first)).toEqual([0.5, 0.8]);
  expect(JSON.parse(first.events[1]?.data ?? "")).toEqual({
    ...{ budget: "day", share: 0.8, spentUsd: 9e-6, maxCostUsd: 10e-6, spentTokens: 0, maxTokens: null },
  });
  expect(shares(spent(10, first.period))).toEqual([]);
  const adjusted = adjust(first.period, limit, 6);
  expect(shares(spent(8, adjusted))).toEqual([0.8]);
});

test("a task that called no model gives its reservation back", () => {
  const { period, reservation } = reserve(toEmptyPeriod(limit), toReservation(4), limit);
  expect(settle(period, reservation, { micros: null, tokens: null, isFree: true, isLeast: false }).period).toEqual(toEmptyPeriod(limit));
});

test("a budget of tokens counts tokens, and an unknown cost does not hide known tokens", () => {
  const tokens: BudgetLimit = { ...limit, maxMicros: null, maxTokens: 100 };
  const asking = { ...toReservation(0), ask: { micros: null, tokens: 60 } };
  const started = reserve(toEmptyPeriod(tokens), asking, tokens);
  const ended = settle(started.period, started.reservation, { micros: null, tokens: 40, isFree: false, isLeast: false });
  expect(ended.period).toMatchObject({ spent: { micros: 0, tokens: 40 }, reserved: NOTHING, estimated: NOTHING });
  expect(remainingOf(ended.period, tokens)).toEqual({ micros: null, tokens: 60 });
});
