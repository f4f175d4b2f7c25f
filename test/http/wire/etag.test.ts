import { expect, test } from "vitest";
import { type Precondition, parsePrecondition } from "../../../src/http/wire/etag.ts";
import { cpuCost } from "../../support/cpu-time.ts";

const read = (headers: Record<string, string>): Precondition => parsePrecondition({ headers });

test.each<[header: string, precondition: Precondition]>([
  ["*", "any"],
  [" * ", "any"],
  ['"a"', ["a"]],
  ['"a", "b"', ["a", "b"]],
  ['"a","b" ,', ["a", "b"]],
  ['"a, b", "c"', ["a, b", "c"]],
  ['""', [""]],
  ['"%22%25%20"', ['"% ']],
  ['"100%"', ["100%"]],
])("If-Match %s is read", (header, precondition) => {
  expect(read({ "if-match": header })).toEqual(precondition);
});

test("no header is no condition", () => {
  expect(read({})).toBeNull();
});

test.each(["", "a", '"a', 'a"', '"a" "b"', '"a"; "b"', 'W/"a"', '"a", W/"b"', "*, *", '*, "a"', ",", "''"])(
  "If-Match %s is refused, in words",
  (header) => {
    expect(() => read({ "if-match": header })).toThrow(
      expect.objectContaining({ code: "invalid_request", message: expect.stringMatching(/^The header If-Match must/) }),
    );
  },
);

test("If-None-Match is not taken for a condition of a write", () => {
  expect(() => read({ "if-none-match": "*" })).toThrow(expect.objectContaining({ code: "invalid_request" }));
});

test("a header that is all blanks is read in no time", () => {
  const blanks = " ".repeat(200_000);
  for (const header of [`"a"${blanks}x`, `"a",${blanks}x`, `${blanks}x`, `${", ".repeat(100_000)}x`]) {
    const refused = () => expect(() => read({ "if-match": header })).toThrow(expect.objectContaining({ code: "invalid_request" }));
    expect(cpuCost(refused)).toBeLessThan(20);
  }
});
