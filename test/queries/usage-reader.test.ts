import { expect, test } from "vitest";
import { createUsageReader } from "../../src/queries/usage-reader.ts";
import { noCounts, type UsageDimension } from "../../src/store/usage/interface.ts";
import { HOUR_MS } from "../../src/store/usage/rows.ts";

const now = Date.parse("2026-11-23T17:25:00Z");

/** A reader, the hours of each read, and the sums that the store returns for these hours. */
function createReader(sums: (hours: readonly number[], by: UsageDimension) => Record<string, number> = () => ({})) {
  const reads: (readonly number[])[] = [];
  const reader = createUsageReader(
    {
      sumUsageParts: async (_tenant, hours, { by, keys }) =>
        hours.flatMap((hour) => {
          const parts = new Map<string, number>();
          for (const [key, completed] of Object.entries(sums([hour], by))) {
            const part = keys.includes(key) ? key : "*";
            parts.set(part, (parts.get(part) ?? 0) + completed);
          }
          return [...parts].map(([part, completed]) => ({ key: String(hour), part, counts: { ...noCounts(), completed } }));
        }),
      sumUsage: async (_tenant, hours, by) => {
        reads.push(hours);
        return Object.entries(sums(hours, by)).map(([key, completed]) => ({ key, counts: { ...noCounts(), completed } }));
      },
    },
    () => now,
  );
  return {
    reads,
    read: (options: Partial<Parameters<typeof reader.read>[1]>) => reader.read("t", { window: "24h", by: "agent", limit: 20, ...options }),
  };
}

test.each([
  ["24h", "2026-11-22T18:00:00.000Z", 24],
  ["7d", "2026-11-17T00:00:00.000Z", 6 * 24 + 18],
  ["365d", "2025-11-24T00:00:00.000Z", 364 * 24 + 18],
] as const)(
  "the window %s begins at %s, and each of its hours is read once, at most 24 at a time, the latest first",
  async (window, from, length) => {
    const { reads, read } = createReader();
    const usage = await read({ window });
    expect([new Date(usage.from).toISOString(), usage.to]).toEqual([from, now]);
    expect(reads.every((hours) => hours.length <= 24)).toBe(true);
    const hours = reads.toReversed().flat();
    expect(hours).toEqual(Array.from({ length }, (_, index) => usage.from / HOUR_MS + index));
    expect(hours.at(-1)).toBe(Math.floor(now / HOUR_MS));
  },
);

test("a range grows to whole hours, and its days begin at the time of its start", async () => {
  const { read } = createReader((hours) => Object.fromEntries(hours.map((hour) => [String(hour), 1])));
  const range = { from: Date.parse("2026-11-20T23:00:00+05:30"), to: Date.parse("2026-11-22T23:00:00+05:30") };
  const { groups, total, ...covered } = await read({ window: range, by: "day" });
  expect([covered.from, covered.to].map((time) => new Date(time).toISOString())).toEqual([
    "2026-11-20T17:00:00.000Z",
    "2026-11-22T18:00:00.000Z",
  ]);
  expect(groups.map(({ key, counts }) => [new Date(Number(key)).toISOString(), counts.completed])).toEqual([
    ["2026-11-20T17:00:00.000Z", 24],
    ["2026-11-21T17:00:00.000Z", 24],
    ["2026-11-22T17:00:00.000Z", 1],
  ]);
  expect(total.completed).toBe(49);
});

test("the end of a range that has not ended is the present", async () => {
  const { reads, read } = createReader();
  const usage = await read({ window: { from: now - HOUR_MS, to: now + 48 * HOUR_MS } });
  expect([usage.to, reads.toReversed().flat()[0]]).toEqual([now, Math.floor(now / HOUR_MS) - 1]);
});

test("days are sums of their hours, and have no others", async () => {
  const { read } = createReader((hours) => Object.fromEntries(hours.map((hour) => [String(hour), 1])));
  const { groups, total, other } = await read({ window: "7d", by: "day" });
  expect(groups.map(({ counts }) => counts.completed)).toEqual([24, 24, 24, 24, 24, 24, 18]);
  expect([total.completed, other]).toEqual([6 * 24 + 18, null]);
});

test("the rest of an hour, groups beyond the limit, and groups that do not fit into memory are others, without losing a task", async () => {
  const { read } = createReader((hours) => ({
    "*": 5,
    kept: 3,
    ...Object.fromEntries(hours.flatMap((hour) => [`${hour}-a`, `${hour}-b`].map((key) => [key, 1]))),
  }));
  const { groups, total, other } = await read({ window: "365d", limit: 2 });
  const reads = 365;
  expect(groups.map(({ key, counts }) => [key, counts.completed])).toEqual([
    ["kept", 3 * reads],
    [expect.stringMatching(/-a$/), 1],
  ]);
  expect(total.completed).toBe(8 * reads + 2 * (364 * 24 + 18));
  expect(other?.completed).toBe(total.completed - 3 * reads - 1);
});

test("an unknown model has no name, and labels beyond the limit of an hour are others", async () => {
  const { read } = createReader((_, by) => (by === "model" ? { "": 1 } : by === "hour" ? {} : { "team=*": 2, "*=*": 3 }));
  expect((await read({ by: "model" })).groups).toMatchObject([{ key: null }]);
  expect(await read({ by: "label" })).toMatchObject({ groups: [{ key: "team=*", counts: { completed: 2 } }], other: { completed: 3 } });
});

test("the days of a split are split into the largest groups of the whole window and all others, without losing a task", async () => {
  const { read } = createReader((hours) => ({ "": hours.length, large: 3 * hours.length, small: 1, "*": 5 }));
  const { groups, total, other } = await read({ window: "7d", by: "day", split: "model", limit: 2 });
  const sizeOf = (counts: { completed: number } | null | undefined): number => counts?.completed ?? 0;
  expect(groups.map(({ parts = [] }) => parts.map(({ key }) => key))).toEqual(Array.from({ length: 7 }, () => ["large", null]));
  for (const { counts, parts = [], otherParts } of groups)
    expect(parts.reduce((sum, part) => sum + sizeOf(part.counts), sizeOf(otherParts))).toBe(sizeOf(counts));
  expect([sizeOf(groups[0]?.otherParts), groups.reduce((sum, { counts }) => sum + sizeOf(counts), 0), other]).toEqual([
    24 * 6,
    sizeOf(total),
    null,
  ]);
});
