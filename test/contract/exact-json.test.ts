import fc from "fast-check";
import { expect, test } from "vitest";
import { isExactNumber, parseExactJson } from "#contract";

test.each([
  ["653247040368672769", false],
  // The nearest double is the same integer, but JavaScript writes it as …800.
  ["653247040368672768", false],
  ["-9007199254740993", false],
  ["9007199254740993", false],
  ["9007199254740991", true],
  ["9007199254740992", true],
  ["653247040368672800", true],
  ["1700000000000000", true],
  ["100000000000000000000000", true],
  ["100000000000000000000001", false],
  ["1e999", false],
  ["-1E+400", false],
  ["1e-400", false],
  [`0.${"0".repeat(400)}1`, false],
  [`1${"0".repeat(309)}`, false],
  ["5e-324", true],
  ["0", true],
  ["-0", true],
  ["0e999", true],
  ["0.000", true],
  ["1.0", true],
  ["1e2", true],
  ["0.1", true],
  [`1.${"0".repeat(400)}`, true],
  ["0.30000000000000004", true],
  ["0.10000000000000001", true],
  ["1700000000.123456789", true],
  ["1.7976931348623157e308", true],
  ["12345678901234567.0", false],
  ["12345678901234567e0", false],
  ["-1234567890123456.7E+1", false],
  ["1.2345678901234567e16", false],
  ["0.00012345678901234567e20", false],
  ["12345678901234567.5", false],
  ["9007199254740993.0", false],
  [`1.${"0".repeat(50)}1e60`, false],
  [`0.${"0".repeat(280)}1e-99`, false],
  [`${"1".repeat(215)}e99`, false],
  ["9007199254740992.0", true],
  ["1234567890123456.7", true],
  ["12345678901234567000e-4", true],
  ["6.5324704036867280e17", true],
  ["1e23", true],
  // The same double, as `printf("%.17g")` writes it.
  ["9.9999999999999992e+22", true],
])("whether a double holds %s: %s", (literal, expected) => {
  expect(isExactNumber(literal)).toBe(expected);
  const kept = JSON.stringify(parseExactJson(`{"a": [${literal} ,{"b":${literal}}]}`));
  if (!expected) expect(kept).toBe(`{"a":[${literal},{"b":${literal}}]}`);
  else expect(JSON.parse(kept)).toEqual(JSON.parse(`{"a":[${literal},{"b":${literal}}]}`.replaceAll("-0", "0")));
});

test("any JSON text is written as it was, with integers of any length", () => {
  const integer = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String);
  fc.assert(
    fc.property(fc.array(integer), fc.jsonValue(), (integers, other) => {
      const text = `{"integers":[${integers.join(",")}],"other":${JSON.stringify(other)}}`;
      const written = JSON.stringify(parseExactJson(text));
      // JavaScript writes exact integers above 10^21 with an exponent.
      const read = JSON.parse(written, (_key, value, { source }: { source?: string } = {}) =>
        typeof value === "number" && source !== undefined && /^-?\d+(\.\d+)?e\+\d+$/.test(source)
          ? JSON.parse(text).integers && value
          : value,
      );
      expect(read).toEqual(JSON.parse(text, (_key, value) => (Object.is(value, -0) ? 0 : value)));
    }),
  );
});

test("numbers in strings do not matter, and text of megabytes is parsed", () => {
  const text = JSON.stringify({ a: "see 653247040368672769, or 1e999", b: "1".repeat(8_000_000) });
  expect(parseExactJson(text)).toEqual(JSON.parse(text));
  expect(JSON.stringify(parseExactJson(`[${"1".repeat(1_000_000)}]`))).toHaveLength(1_000_002);
});

test("text that is not JSON is a SyntaxError", () => {
  for (const text of ["", "{", "[653247040368672769", "1e999 x"]) expect(() => parseExactJson(text)).toThrow(SyntaxError);
});
