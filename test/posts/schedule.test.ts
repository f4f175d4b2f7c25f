import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeSchedule, nextDelayMs } from "../../src/posts/schedule.ts";

const settings = { retries: 3, backoffMs: 1000 };
const middle = () => 0.5;

describe("nextDelayMs", () => {
  test.each([
    [1, 1000],
    [2, 5000],
    [3, 25_000],
    [4, null],
    [5, null],
  ])("nextDelayMs returns, after %i failed POSTs, %s ms", (roundAttempts, expected) => {
    expect(nextDelayMs(settings, { roundAttempts, retryAfterMs: null, random: middle })).toBe(expected);
  });

  test.each([
    [0, 800],
    [0.25, 900],
    [0.5, 1000],
    [1, 1200],
  ])("nextDelayMs with a random number of %d, the first delay is %i ms", (random, expected) => {
    expect(nextDelayMs(settings, { roundAttempts: 1, retryAfterMs: null, random: () => random })).toBe(expected);
  });

  test.each([
    ["shorter than the delay", 10, 1000],
    ["in between", 1700, 1700],
    ["longer than twice the delay", 3_600_000, 2000],
    ["nothing", 0, 1000],
  ])("nextDelayMs with a Retry-After that is %s", (_, retryAfterMs, expected) => {
    expect(nextDelayMs(settings, { roundAttempts: 1, retryAfterMs, random: middle })).toBe(expected);
  });

  test("nextDelayMs over three days, the first delays are those of the default, and later ones at most 4 hours", () => {
    const delayAfter = (roundAttempts: number) =>
      nextDelayMs({ retries: "three-days", backoffMs: 1000 }, { roundAttempts, retryAfterMs: null, random: middle });
    expect([1, 2, 3, 4, 5, 6, 7, 8].map(delayAfter)).toEqual([1_000, 5_000, 25_000, 125_000, 625_000, 3_125_000, 14_400_000, 14_400_000]);
    const { retries, seconds } = describeSchedule({ retries: "three-days", backoffMs: 1000 });
    expect([retries, delayAfter(retries), delayAfter(retries + 1)]).toEqual([24, 14_400_000, null]);
    expect(seconds / 3600).toBeGreaterThanOrEqual(72);
    expect(seconds / 3600).toBeLessThan(76);
  });

  test.each([
    [
      { retries: 3, backoffMs: 1000 },
      { retries: 3, seconds: 31 },
    ],
    [
      { retries: 0, backoffMs: 1000 },
      { retries: 0, seconds: 0 },
    ],
    [
      { retries: "three-days", backoffMs: 3_600_000 },
      { retries: 19, seconds: 19 * 14_400 - 10_800 },
    ],
  ] as const)("nextDelayMs describes %j", (settings, described) => {
    expect(describeSchedule(settings)).toEqual(described);
  });

  test("nextDelayMs returns null after the first failure without retries", () => {
    expect(nextDelayMs({ retries: 0, backoffMs: 1000 }, { roundAttempts: 1, retryAfterMs: 5000, random: middle })).toBeNull();
  });

  test("nextDelayMs returns a whole number within the limits for any settings", () => {
    const inputs = fc.record({
      retries: fc.integer({ min: 0, max: 20 }),
      backoffMs: fc.integer({ min: 1, max: 3_600_000 }),
      roundAttempts: fc.integer({ min: 1, max: 22 }),
      retryAfterMs: fc.option(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })),
      random: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    });
    fc.assert(
      fc.property(inputs, ({ retries, backoffMs, roundAttempts, retryAfterMs, random }) => {
        const delayMs = nextDelayMs({ retries, backoffMs }, { roundAttempts, retryAfterMs, random: () => random });
        expect(delayMs === null).toBe(roundAttempts > retries);
        if (delayMs === null) return;
        const nominalMs = Math.min(backoffMs * 5 ** (roundAttempts - 1), 86_400_000);
        expect(Number.isSafeInteger(delayMs)).toBe(true);
        expect(delayMs).toBeGreaterThanOrEqual(Math.floor(nominalMs * 0.8));
        expect(delayMs).toBeLessThanOrEqual(2 * nominalMs);
      }),
    );
  });
});
