import fc from "fast-check";
import { expect, test } from "vitest";
import { type BudgetScope, matchesScope, periodOf, type SpendingTask } from "../../src/budgets/budget.ts";

const at = (text: string): number => Date.parse(text);
const [HOUR, DAY] = [3_600_000, 86_400_000];

test("a day of a budget begins with the local date, and has 23 or 25 hours when the clocks change", () => {
  const day = (now: string) => periodOf({ per: "day", timezone: "Europe/Zurich" }, at(now));
  expect(day("2026-03-29T00:30:00Z")).toEqual({ startsAt: at("2026-03-28T23:00:00Z"), endsAt: at("2026-03-29T22:00:00Z") });
  expect(day("2026-10-25T12:00:00Z")).toEqual({ startsAt: at("2026-10-24T22:00:00Z"), endsAt: at("2026-10-25T23:00:00Z") });
  expect(day("2026-07-01T21:59:59.999Z").endsAt).toBe(at("2026-07-01T22:00:00Z"));
  expect(day("2026-07-01T22:00:00Z").startsAt).toBe(at("2026-07-01T22:00:00Z"));
});

test("a day of a budget begins at the first instant of a date that has no midnight", () => {
  // In Cairo, the clocks go from 00:00 to 01:00 in the night to 24 April 2026.
  const { startsAt } = periodOf({ per: "day", timezone: "Africa/Cairo" }, at("2026-04-24T12:00:00Z"));
  expect(startsAt).toBe(at("2026-04-23T22:00:00Z"));
});

test("a month of a budget ends with the local month, also at the end of the year", () => {
  expect(periodOf({ per: "month", timezone: "America/New_York" }, at("2027-01-01T04:59:00Z"))).toEqual({
    startsAt: at("2026-12-01T05:00:00Z"),
    endsAt: at("2027-01-01T05:00:00Z"),
  });
});

test("an hour of a budget begins with the local hour in a time zone with half an hour", () => {
  expect(periodOf({ per: "hour", timezone: "Asia/Kolkata" }, at("2026-05-05T10:45:30.250Z"))).toEqual({
    startsAt: at("2026-05-05T10:30:00Z"),
    endsAt: at("2026-05-05T11:30:00Z"),
  });
});

test("the days and months of a time zone follow each other without a gap", () => {
  const zones = fc.constantFrom("UTC", "Europe/Zurich", "America/Sao_Paulo", "Pacific/Apia", "Asia/Beirut", "Australia/Lord_Howe");
  fc.assert(
    fc.property(
      zones,
      fc.constantFrom("day", "month"),
      fc.integer({ min: 1_600_000_000_000, max: 2_000_000_000_000 }),
      (timezone, per, now) => {
        const { startsAt, endsAt } = periodOf({ per, timezone }, now);
        expect(startsAt).toBeLessThanOrEqual(now);
        expect(endsAt).toBeGreaterThan(now);
        expect(periodOf({ per, timezone }, startsAt)).toEqual({ startsAt, endsAt });
        expect(periodOf({ per, timezone }, endsAt).startsAt).toBe(endsAt);
        const days = (endsAt - startsAt) / DAY;
        expect(days).toBeGreaterThanOrEqual(per === "day" ? 1 - HOUR / DAY : 27);
      },
    ),
    { numRuns: 60 },
  );
});

test("a budget applies to the tasks that fulfill all conditions of its scope", () => {
  const task: SpendingTask = {
    ...{ tenant: "a", agentId: "coder", provider: "claude", model: null, token: "ci" },
    labels: { job: "nightly", toString: "x" },
  };
  const matches = (scope: Partial<BudgetScope>) => matchesScope({ labels: {}, ...scope }, task);
  expect(matches({})).toBe(true);
  expect(matches({ tenant: "a", token: "ci", labels: { job: "nightly" } })).toBe(true);
  expect(matches({ tenant: "a", provider: "codex" })).toBe(false);
  expect(matches({ model: "gpt-5.2" })).toBe(false);
  expect(matches({ labels: { job: "daily" } })).toBe(false);
  expect(matchesScope({ labels: { constructor: "x" } }, { ...task, labels: {} })).toBe(false);
});
