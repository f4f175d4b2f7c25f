import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "../../src/requests/canonical-json.ts";

test.each([
  ["null", "null"],
  ['{"a":1,"b":[2]}', '{"a":1,"b":[2]}'],
  ['{"b":[2],"a":1}', '{"a":1,"b":[2]}'],
  ['[1,[],{"b":-0,"a":"\\u0001"},null]', '[1,[],{"a":"\\u0001","b":0},null]'],
  ['{"10":1,"9":2,"é":3,"Z":4,"":5}', '{"":5,"10":1,"9":2,"Z":4,"é":3}'],
  ['[{"z":{"b":1,"a":[{"d":1,"c":2}]}}]', '[{"z":{"a":[{"c":2,"d":1}],"b":1}}]'],
  ['[{"b":1,"a":2},{"b":{},"c":3,"a":[]},{"b":1,"a":2}]', '[{"a":2,"b":1},{"a":[],"b":{},"c":3},{"a":2,"b":1}]'],
])("%s is %s", (text, expected) => {
  expect(canonicalJson(JSON.parse(text))).toBe(expected);
});

test("an undefined member is omitted", () => {
  expect(canonicalJson({ b: undefined, a: 1 })).toBe('{"a":1}');
});

// Stored fingerprints depend on this text. If it changed, a repeated dispatch would be a conflict.
test("the canonical text of any value has its members sorted", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      expect(canonicalJson(value)).toBe(joinSorted(value));
    }),
  );
});

test("an object with many unsorted members is sorted", () => {
  const object = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`k${(index * 7) % 300}`, index]));
  expect(canonicalJson({ list: [object, object] })).toBe(joinSorted({ list: [object, object] }));
});

function joinSorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(joinSorted).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${joinSorted(member)}`).join(",")}}`;
}
