import { expect, test } from "vitest";
import { checkAgainstSchema, checkSchema } from "../../src/requests/json-schema.ts";
import { cpuCost } from "../support/cpu-time.ts";

const draft7 = "http://json-schema.org/draft-07/schema#";
const draft2020 = "https://json-schema.org/draft/2020-12/schema";

test.each([
  ["an empty schema", {}, null],
  ["draft 7", { $schema: draft7, type: "object" }, null],
  ["2020-12", { $schema: draft2020, type: "object", $defs: { n: { type: "integer" } }, properties: { n: { $ref: "#/$defs/n" } } }, null],
  ["unknown keywords and formats", { type: "object", example: 1, properties: { at: { format: "date-time" } } }, null],
  [
    "a wrong type",
    { properties: { n: { type: "intger" } } },
    'properties.n.type must be one of "array", "boolean", "integer", "null", "number", "object", "string"',
  ],
  ["a wrong keyword value", { required: "n" }, "required must be array"],
  ["a reference to nowhere", { $ref: "#/definitions/missing" }, "can't resolve reference #/definitions/missing from id #"],
  [
    "a reference to another document",
    { $ref: "https://example.com/s.json" },
    "can't resolve reference https://example.com/s.json from id #",
  ],
  ["a broken pattern", { properties: { s: { pattern: "(" } } }, /pattern|regular expression/i],
  ["an unknown draft", { $schema: "https://example.com/draft" }, /no schema with key or ref/],
])("a schema that is %s", (_, schema, expected) => {
  const fault = checkSchema(schema);
  if (expected instanceof RegExp) expect(fault).toMatch(expected);
  else expect(fault).toBe(expected);
});

test("a schema with the id of a meta-schema or of an earlier schema does not affect others", () => {
  checkSchema({ $id: draft7, type: "string" });
  expect(checkSchema({ $id: "https://example.com/same", type: "object" })).toBeNull();
  expect(checkSchema({ $id: "https://example.com/same", type: "array" })).toBeNull();
  expect(checkSchema({ type: "nothing" })).not.toBeNull();
  expect(checkAgainstSchema({ type: "object", required: ["a"] }, { a: 1 })).toBeNull();
});

test("a schema that would block the event loop is rejected or checked in time", () => {
  const properties = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`^p${index}`, { type: "string" }]));
  const check = () => {
    // The result within one second depends on the machine.
    expect([null, "the schema is too large", "takes longer than 1 s to check"]).toContain(
      checkSchema({ patternProperties: properties(2_000) }),
    );
  };
  expect(cpuCost(check)).toBeLessThan(150);
  expect(checkSchema({ properties: properties(100) })).toBeNull();
});

test("a pattern that backtracks without end is stopped", () => {
  const schema = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } };
  expect(checkAgainstSchema(schema, { a: `${"a".repeat(40)}b` })).toBe("takes longer than 1 s to check");
});

test.each([
  [19.99, 0.01, true],
  [143.48, 0.01, true],
  [10_000_000.07, 0.01, true],
  [-0.3, 0.1, true],
  [0, 0.1, true],
  [1e21, 1e20, true],
  [7.5e-9, 2.5e-10, true],
  [19.995, 0.01, false],
  [5.0000001, 1, false],
  [9_007_199_254_740_991, 2, false],
])("the check whether %d is a multiple of %d uses decimal numbers", (n, multipleOf, expected) => {
  const fault = checkAgainstSchema({ properties: { n: { type: "number", multipleOf } } }, { n });
  expect(fault).toBe(expected ? null : `n must be multiple of ${multipleOf}`);
});

test("inherited properties do not count as properties of an object", () => {
  expect(checkAgainstSchema({ required: ["toString"] }, {})).toBe("the object must have required property 'toString'");
  expect(checkAgainstSchema({ properties: { constructor: { type: "number" } } }, {})).toBeNull();
  expect(checkAgainstSchema({ additionalProperties: false, properties: { valueOf: { type: "number" } } }, { valueOf: 1 })).toBeNull();
});
