import fc from "fast-check";
import { expect, test } from "vitest";
import { countJsonValues } from "../../../src/http/wire/count-json-values.ts";

const count = (text: string, limit = Number.POSITIVE_INFINITY): number => countJsonValues(Buffer.from(text), limit);

test.each([
  ["0", 1],
  ['""', 1],
  ["{}", 1],
  ["[ \t\r\n]", 1],
  ["[1]", 2],
  ["[[],[],{}]", 4],
  ['{"a":1,"b":[1,2]}', 5],
  ['{"a,b":",[{"}', 2],
  ['["\\"[,", "\\\\", "é,€"]', 4],
  ["[[[[[1]]]]]", 6],
])("%s contains %i values", (text, expected) => {
  expect(count(text)).toBe(expected);
});

test("any JSON text contains as many values as its parsed form, whatever its whitespace", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 1, "\t", " \r\n"), (value, indent) => {
      expect(count(JSON.stringify(value, null, indent))).toBe(countParsed(value));
    }),
  );
});

test("a quote ends a long string, unless an odd number of backslashes precedes it", () => {
  for (let length = 55; length < 75; length += 1)
    for (let backslashes = 0; backslashes < 8; backslashes += 1) {
      const value = [
        "x".repeat(length) + "\\".repeat(backslashes),
        `${"x".repeat(length)}${"\\".repeat(backslashes)}",[${"y".repeat(length)}`,
        1,
      ];
      expect(count(JSON.stringify(value))).toBe(4);
    }
});

test("counting stops above the limit", () => {
  expect(count("[0,0,0,0,0,0]", 3)).toBe(4);
});

test("counting terminates for any bytes", () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => countJsonValues(bytes, 10) > 0));
});

function countParsed(value: unknown): number {
  return typeof value === "object" && value !== null
    ? Object.values(value).reduce((sum: number, member) => sum + countParsed(member), 1)
    : 1;
}
