import { describe, expect, test } from "vitest";
import { median, quantile } from "../../bench/statistics.ts";

describe("quantile", () => {
  test.each([
    { values: [7], part: 0.5, expected: 7 },
    { values: [7], part: 0.9, expected: 7 },
    { values: [1, 2], part: 0.5, expected: 1.5 },
    { values: [3, 1, 2], part: 0.5, expected: 2 },
    { values: [3, 1, 2], part: 0, expected: 1 },
    { values: [3, 1, 2], part: 1, expected: 3 },
    { values: [10, 20, 30, 40, 50], part: 0.1, expected: 14 },
    { values: [10, 20, 30, 40, 50], part: 0.9, expected: 46 },
    // Sorting as text would put 10 before 9.
    { values: [10, 9, 100], part: 0.5, expected: 10 },
  ])("quantile returns $expected at $part of $values", ({ values, part, expected }) => {
    expect(quantile(values, part)).toBeCloseTo(expected, 10);
  });

  test("quantile returns NaN without values", () => {
    expect(quantile([], 0.5)).toBeNaN();
  });

  test("quantile does not reorder the values of its caller", () => {
    const values = [3, 1, 2];
    quantile(values, 0.5);
    expect(values).toEqual([3, 1, 2]);
  });
});

describe("median", () => {
  test.each([
    { values: [5, 1, 3], expected: 3 },
    { values: [5, 1, 3, 4], expected: 3.5 },
    { values: [0.2, 0.4], expected: 0.3 },
  ])("median returns $expected for $values", ({ values, expected }) => {
    expect(median(values)).toBeCloseTo(expected, 10);
  });
});
