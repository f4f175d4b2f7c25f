import { describe, expect, test } from "vitest";
import { parseTime } from "../src/parse-time.ts";

const now = Date.parse("2026-11-22T12:00:00Z");

describe("parseTime", () => {
  test.each([
    ["2026-11-22", "2026-11-22T00:00:00.000Z"],
    ["2026-11-22T09:30Z", "2026-11-22T09:30:00.000Z"],
    ["2026-11-22T09:30:00Z", "2026-11-22T09:30:00.000Z"],
    ["2026-11-22T09:30:00.123456+02:00", "2026-11-22T07:30:00.123Z"],
    ["2026-11-22 09:30:00Z", "2026-11-22T09:30:00.000Z"],
    ["2024-02-29", "2024-02-29T00:00:00.000Z"],
    ["90s", "2026-11-22T11:58:30.000Z"],
    ["30m", "2026-11-22T11:30:00.000Z"],
    ["2h", "2026-11-22T10:00:00.000Z"],
    ["7d", "2026-11-15T12:00:00.000Z"],
  ])("parseTime accepts %s", (text, expected) => {
    expect(parseTime("--after", text, now)).toBe(expected);
  });

  test("parseTime reads a time without a time zone as local time", () => {
    expect(parseTime("--after", "2026-11-22T09:30", now)).toBe(new Date(2026, 10, 22, 9, 30).toISOString());
  });

  test.each([
    ...["10", "last 3", "foo 12", "yesterday", "Nov 22 2026", "11/22/2026", "2026", "2026-11", "2026-11-22T09", "2026-11-22T25:00Z", ""],
    ...["2026-02-30", "2025-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "1w", "30min", "-2h", "2.5h", "999999999d", " 2026-11-22"],
  ])("parseTime rejects %j with the option and the accepted forms", (text) => {
    expect(() => parseTime("--after", text, now)).toThrow(
      `--after must be a time, such as 2026-11-22T09:30:00Z, or a duration, such as 2h; got "${text}".`,
    );
  });
});
