import { expect, test } from "vitest";
import { findRangeEnd } from "../../../src/store/maintenance/retention-range.ts";

const age = { now: 100, before: 50 };
const MIB = 1024 * 1024;

test.each([
  ["no event", [], [], false, null],
  ["expired events", [1, 2, 3], [], false, 3],
  ["events before one that has not expired", [1, 2, 60, 3], [], false, 2],
  ["events before one that is not released", [1, 2, 3], [2], false, 1],
  ["events from the future before an expired one", [1, 200, 2], [], false, 3],
  ["only the events before those from the future, if the next event has not expired", [1, 200, 60], [], false, 1],
  ["events from the future before a kept one that has expired", [1, 200, 2], [3], false, 2],
  ["only the events before those from the future, if no event follows", [1, 200, 201], [], false, 1],
  ["events from the future, if an expired event follows the given ones", [200, 201], [], true, 2],
] as const)("one slice deletes %s", (_, times, kept, isNextOld, expected) => {
  const events = times.map((at, index) => ({
    number: index + 1,
    at,
    bytes: 1,
    isReleased: !(kept as readonly number[]).includes(index + 1),
  }));
  expect(findRangeEnd(events, age, () => isNextOld)).toBe(expected);
});

test("one slice ends with the event that makes it large enough", () => {
  const events = [1, 2, 3, 4].map((number) => ({ number, at: 1, bytes: MIB / 2, isReleased: true }));
  expect(findRangeEnd(events, age, () => false)).toBe(2);
});
