import { expect, test } from "vitest";
import { dayOf, parseRange, previousOf, timesOf, toRangeQuery } from "../src/usage-range.ts";

const now = new Date(2026, 10, 29, 15, 30).getTime();
const parse = (query: string) => parseRange(new URLSearchParams(query));

test.each([
  ["", "today"],
  ["window=yesterday", "yesterday"],
  ["window=24h", "today"],
  ["from=2026-11-05&to=2026-11-07", { from: "2026-11-05", to: "2026-11-07" }],
  ["from=2026-11-07&to=2026-11-05", { from: "2026-11-05", to: "2026-11-07" }],
  ["from=2026-11-05", { from: "2026-11-05", to: "2026-11-05" }],
  ["from=2026-11-31&window=7d", "7d"],
  ["from=soon", "today"],
])("the range of the query %j is known", (query, expected) => {
  expect(parse(query)).toEqual(expected);
  expect(parse(new URLSearchParams(toRangeQuery(parse(query))).toString())).toEqual(expected);
});

test("ranges begin and end at midnight of the browser's time zone", () => {
  expect(timesOf("today", now)).toEqual({ from: new Date(2026, 10, 29), to: null, days: 1 });
  expect(timesOf("yesterday", now)).toEqual({ from: new Date(2026, 10, 28), to: new Date(2026, 10, 29), days: 1 });
  expect(timesOf("7d", now)).toEqual({ from: new Date(2026, 10, 23), to: null, days: 7 });
  const days = { from: "2026-11-05", to: "2026-11-07" };
  expect(timesOf(days, now)).toEqual({ from: new Date(2026, 10, 5), to: new Date(2026, 10, 8), days: 3 });
});

test("a group stands for its local day, also if the clock has changed since the start of the range", () => {
  const midnight = new Date(2026, 10, 5);
  const oneHour = 3_600_000;
  for (const shift of [-oneHour, 0, oneHour]) expect(dayOf(new Date(midnight.getTime() + shift).toISOString())).toBe("2026-11-05");
});

test("the period before a range has its length, and ends at the same hour if the range has not ended", () => {
  expect(previousOf("today", now)).toEqual({
    ...{ from: new Date(2026, 10, 28), to: new Date(2026, 10, 28, 15, 30), name: "yesterday", isPartial: true },
  });
  expect(previousOf("yesterday", now)).toEqual({
    ...{ from: new Date(2026, 10, 27), to: new Date(2026, 10, 28), name: "the day before", isPartial: false },
  });
  expect(previousOf("7d", now)).toMatchObject({
    from: new Date(2026, 10, 16),
    to: new Date(2026, 10, 22, 15, 30),
    name: "the 7 days before",
  });
  expect(previousOf({ from: "2026-11-05", to: "2026-11-07" }, now)).toMatchObject({
    from: new Date(2026, 10, 2),
    to: new Date(2026, 10, 5),
  });
  expect(previousOf("365d", now)).toBeNull();
});
