import { expect, test } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import { checkJson } from "../../src/requests/check-json.ts";

const parse = (text: string): unknown => checkJson(Buffer.from(text)).parse();

function faultOf(text: string): Pick<BridgeError, "code" | "message" | "errors"> | null {
  try {
    parse(text);
    return null;
  } catch (error) {
    if (error instanceof BridgeError) return error;
    throw error;
  }
}

test("a repeated member is rejected with its path, in a short and in a long body", () => {
  const errors = [{ path: "metadata.a", message: "appears more than once in its object; send it once" }];
  expect(faultOf('{"metadata":{"a":1,"a":2}}')).toMatchObject({ code: "invalid_request", errors });
  expect(faultOf(`{"message":"${"x".repeat(200_000)}","metadata":{"a":1,"a":2}}`)).toMatchObject({ errors });
});

test("a number that a double cannot hold is rejected with its path", () => {
  const message = expect.stringContaining("653247040368672769");
  expect(faultOf('{"metadata":{"ids":[1,653247040368672769]}}')).toMatchObject({ errors: [{ path: "metadata.ids.1", message }] });
  expect(faultOf('{"a":1e400}')).toMatchObject({ errors: [{ path: "a" }] });
});

test("ordinary numbers are accepted in every spelling", () => {
  for (const text of ["[0.1,1.0,1e2,1E-7,-0,9007199254740991,0.30000000000000004,0.10000000000000001]", "1700000000.123456789"])
    expect(parse(text)).toEqual(JSON.parse(text));
});

test("a byte order mark is named", () => {
  expect(faultOf('\uFEFF{"a":1}')?.message).toBe("The body begins with a byte order mark (U+FEFF). Send the JSON without it.");
});

test("malformed JSON is reported as such, whatever its numbers and names", () => {
  expect(faultOf('{"a":653247040368672769,"a"')?.message).toMatch(/^The body is not valid JSON: /);
});

test("the memory of the values is known before they are parsed", () => {
  const memoryOf = (value: unknown): number => checkJson(Buffer.from(JSON.stringify(value))).memoryBytes;
  // Measured: an empty object takes 57 bytes beyond its text, and an object with a separate key 94 bytes for each of its two values.
  expect(memoryOf(Array.from({ length: 10_000 }, () => ({})))).toBeGreaterThan(600_000);
  expect(memoryOf(Array.from({ length: 10_000 }, (_, index) => ({ [`a${index}`]: 1 })))).toBeGreaterThan(2_000_000);
  expect(memoryOf("x".repeat(50_000))).toBeLessThan(51_000);
  expect(memoryOf(`\u20ac${"x".repeat(50_000)}`)).toBeGreaterThan(100_000);
});
