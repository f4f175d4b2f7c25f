import { describe, expect, test } from "vitest";
import { estimateTimeoutSeconds, type Intensity, intensityMultipliers, type Scope } from "../../../adapters/program/estimate-timeout.ts";

describe("the base of a scope", () => {
  test.each([
    [{}, 60],
    [{ files: 0 }, 60],
    [{ files: 4 }, 60],
    [{ files: 5 }, 180],
    [{ files: 19 }, 180],
    [{ files: 20 }, 300],
    [{ files: 49 }, 300],
    [{ files: 50 }, 600],
    [{ files: 100_000 }, 600],
    [{ linesOfCode: 499 }, 60],
    [{ linesOfCode: 500 }, 180],
    [{ linesOfCode: 1_999 }, 180],
    [{ linesOfCode: 2_000 }, 300],
    [{ linesOfCode: 9_999 }, 300],
    [{ linesOfCode: 10_000 }, 600],
    // The larger measure decides: a single file may be long, and many may be short.
    [{ files: 1, linesOfCode: 10_000 }, 600],
    [{ files: 20, linesOfCode: 100 }, 300],
  ] satisfies [Scope, number][])("of %j is %i s", (scope, seconds) => {
    expect(estimateTimeoutSeconds(scope, "standard")).toBe(seconds);
  });
});

test.each([
  ["quick", 1, 90],
  ["standard", 1, 180],
  ["thorough", 1, 270],
  ["quick", 1.5, 135],
  ["standard", 1.5, 270],
  ["thorough", 1.5, 405],
] satisfies [Intensity, number, number][])("%s on a runtime of multiplier %d takes %i s for 10 files", (intensity, multiplier, seconds) => {
  expect(estimateTimeoutSeconds({ files: 10 }, intensity, multiplier)).toBe(seconds);
});

test("every intensity has its multiplier", () => {
  expect(intensityMultipliers).toEqual({ quick: 0.5, standard: 1, thorough: 1.5 });
});
