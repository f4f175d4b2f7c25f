import { expect, test } from "vitest";
import {
  formatAge,
  formatAgo,
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatFullTime,
  formatTime,
  fromLocalTime,
  localZone,
  showHidden,
  toLocalTime,
} from "../src/format.ts";

test("a local time in a field is the same minute in UTC", () => {
  const time = "2026-01-02T03:04:00.000Z";
  expect(fromLocalTime(toLocalTime(time))).toBe(time);
  expect(toLocalTime("2026-01-02T03:04:59.999Z")).toBe(toLocalTime(time));
  expect([toLocalTime(""), toLocalTime("soon"), fromLocalTime("")]).toEqual(["", "", ""]);
});

test.each([
  [0, "0 ms"],
  [999, "999 ms"],
  [1200, "1.2 s"],
  [12_400, "12 s"],
  [200_000, "3 min 20 s"],
  [120_000, "2 min"],
  [7_500_000, "2 h 5 min"],
  [360_000_000, "4 d 4 h"],
])("a duration of %i ms is shown as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test("an age has one unit", () => {
  const now = Date.parse("2026-11-23T12:00:00Z");
  const at = (iso: string): string => formatAge(iso, now);
  expect(at("2026-11-23T12:00:00.500Z")).toBe("now");
  expect(at("2026-11-23T11:59:18Z")).toBe("42 s");
  expect(at("2026-11-23T10:30:00Z")).toBe("1 h");
  expect(at("2026-11-01T12:00:00Z")).toBe("22 d");
  expect(formatAge(null, now)).toBe("");
  expect(["2026-11-23T12:00:00Z", "2026-11-23T11:59:18Z"].map((iso) => formatAgo(iso, now))).toEqual(["just now", "42 s ago"]);
});

test("an unknown cost or count is a question mark and never 0", () => {
  expect([undefined, null, 0, 0.25, 12.345, 0.01234, 0.00000001].map(formatCost)).toEqual([
    ...["?", "?", "$0.00", "$0.25", "$12.35", "$0.012", "<$0.0001"],
  ]);
  expect([undefined, 0, 9_999, 12_345, 4_000_000].map(formatCount)).toEqual(["?", "0", "9999", "12.3 k", "4 M"]);
  expect([120, 4300, 3 * 1024 ** 2].map(formatBytes)).toEqual(["120 B", "4.2 KiB", "3 MiB"]);
});

test("characters that change how other text looks are visible", () => {
  expect(showHidden("rm \u202egpj.exe")).toBe("rm ⟨U+202E⟩gpj.exe");
  expect(showHidden("\u001b[31mred\u0007\u200b\ufeff")).toBe("␛[31mred␇⟨U+200B⟩⟨U+FEFF⟩");
  expect(showHidden("line\nnext\tcell ü 漢 👍 ❤️")).toBe("line\nnext\tcell ü 漢 👍 ❤️");
  expect(showHidden("a\u3164b\u2800c\u034fd\u{e0101}")).toBe("a⟨U+3164⟩b⟨U+2800⟩c⟨U+034F⟩d⟨U+E0101⟩");
});

test("times have 24 hours everywhere, and a date if it is not today", () => {
  const noon = new Date(2026, 10, 23, 15, 4, 5);
  const iso = noon.toISOString();
  expect(formatTime(iso, noon.getTime())).toBe("15:04:05");
  expect(formatTime(iso, noon.getTime() + 86_400_000)).toMatch(/2026.* 15:04:05$/);
  expect(formatFullTime(iso)).toBe(`${formatTime(iso, noon.getTime() + 86_400_000)} ${localZone}`);
  const midnight = new Date(2026, 10, 23, 0, 4, 5);
  expect(formatTime(midnight.toISOString(), midnight.getTime())).toBe("00:04:05");
});
