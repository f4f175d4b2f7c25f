import fc from "fast-check";
import { expect, test } from "vitest";
import { scanJson } from "../../src/requests/scan-json.ts";

const count = (text: string, limit = Number.POSITIVE_INFINITY): number => scanJson(Buffer.from(text), limit).values;

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

test("the names of any JSON text are counted, whatever its whitespace", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 1, "\t"), (value, indent) => {
      expect(scanJson(Buffer.from(JSON.stringify(value, null, indent)), 1e6).names).toBe(countNames(value));
    }),
  );
  expect(scanJson(Buffer.from('{"a" \n:1,"a":"b:c","\\"":[":"]}'), 10).names).toBe(3);
});

test.each([
  ["[1234567890123456]", true],
  ['{"a":-1234567890123456}', true],
  ["1E400", true],
  ["[1e-400]", true],
  [`0.${"0".repeat(400)}1`, true],
  ["12345678901234567.0", true],
  ["12345678901234567e0", true],
  ["[1.2345678901234567e16]", true],
  ["1.2345678901234567E+16", true],
  [`0.${"0".repeat(280)}1e-99`, true],
  ["[1.2345678901234567e-16,0.12345678901234567,123456789012345.67]", false],
  ["[0,1.5,-12345678901234,1e2,2.5E-07]", false],
  ['["1234567890123456789","1e999",true,false]', false],
])("whether a number of %s may be inexact: %s", (text, expected) => {
  expect(scanJson(Buffer.from(text), 100).hasLongNumber).toBe(expected);
});

test("counting stops above the limit", () => {
  expect(count("[0,0,0,0,0,0]", 3)).toBe(4);
});

test("counting terminates for any bytes", () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => scanJson(bytes, 10).values > 0));
});

function countParsed(value: unknown): number {
  return typeof value === "object" && value !== null
    ? Object.values(value).reduce((sum: number, member) => sum + countParsed(member), 1)
    : 1;
}

function countNames(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const names = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce((sum: number, member) => sum + countNames(member), names);
}
