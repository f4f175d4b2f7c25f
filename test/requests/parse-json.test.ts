import { expect, test } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import { parseJson } from "../../src/requests/parse-json.ts";

function faultOf(text: string): Pick<BridgeError, "code" | "message" | "errors"> | null {
  try {
    parseJson(Buffer.from(text));
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
    expect(parseJson(Buffer.from(text))).toEqual(JSON.parse(text));
});

test("a byte order mark is named", () => {
  expect(faultOf('\uFEFF{"a":1}')?.message).toBe("The body begins with a byte order mark (U+FEFF). Send the JSON without it.");
});

test("malformed JSON is reported as such, whatever its numbers and names", () => {
  expect(faultOf('{"a":653247040368672769,"a"')?.message).toMatch(/^The body is not valid JSON: /);
});
