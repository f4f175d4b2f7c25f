import fc from "fast-check";
import { expect, test } from "vitest";
import { findLostValue } from "../../src/requests/find-lost-value.ts";

const find = (text: string) => findLostValue(Buffer.from(text));

test.each([
  ['{"a":1,"a":1}', ["a"]],
  ['{"a":1,"\\u0061":2}', ["a"]],
  ['{"m":{"x":[0,{"y":{},"z":1 , "y" : 2}]}}', ["m", "x", 1, "y"]],
  ['{"__proto__":1,"__proto__":2}', ["__proto__"]],
  ['{"a":{"a":1},"b":{"a":1},"a":3}', ["a"]],
])("%s repeats the name at %j", (text, path) => {
  expect(find(text)).toEqual({ path, message: "appears more than once in its object; send it once" });
});

test.each([
  ["653247040368672769", [], "653247040368672800"],
  ['{"m":{"ids":["1",2,[3], -9007199254740993 ]}}', ["m", "ids", 3], "-9007199254740992"],
  ['{"é€":[{"a":"]"},{"n":1e999}]}', ["é€", 1, "n"], "infinity"],
  ['[{},[],"",1E-999]', [3], "0"],
  ["[1,12345678901234567.0]", [1], "12345678901234568"],
  ['{"a":12345678901234567e0}', ["a"], "12345678901234568"],
  [`{"a":0.${"0".repeat(280)}1e-99}`, ["a"], "0"],
])("%s contains an inexact number at %j", (text, path, changed) => {
  expect(find(text)).toEqual({ path, message: expect.stringContaining(`would become ${changed}; send it as a string`) });
});

test("the message cuts a long number, and a deep path is cut", () => {
  expect(find("9".repeat(100_000))?.message.length).toBeLessThan(200);
  expect(find(`${"[".repeat(500)}1e999${"]".repeat(500)}`)?.path).toEqual([0, 0, 0]);
});

test("no other JSON text loses a value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 1, "\t"), (value, indent) => {
      expect(find(JSON.stringify(value, null, indent))).toBeNull();
    }),
  );
});
