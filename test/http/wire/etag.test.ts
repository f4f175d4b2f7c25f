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
])("If-Match %s is parsed", (header, precondition) => {
  expect(read({ "if-match": header })).toEqual(precondition);
});

test("a missing header is no precondition", () => {
  expect(read({})).toBeNull();
});

test.each(["", "a", '"a', 'a"', '"a" "b"', '"a"; "b"', 'W/"a"', '"a", W/"b"', "*, *", '*, "a"', ",", "''"])(
  "If-Match %s is rejected with an explanation",
  (header) => {
    expect(() => read({ "if-match": header })).toThrow(
      expect.objectContaining({ code: "invalid_request", message: expect.stringMatching(/^The header If-Match must/) }),
    );
  },
);

test("If-None-Match is rejected for writes", () => {
  expect(() => read({ "if-none-match": "*" })).toThrow(expect.objectContaining({ code: "invalid_request" }));
});

test("a header of many blanks is parsed in linear time", () => {
  const blanks = " ".repeat(200_000);
  for (const header of [`"a"${blanks}x`, `"a",${blanks}x`, `${blanks}x`, `${", ".repeat(100_000)}x`]) {
    const refused = () => expect(() => read({ "if-match": header })).toThrow(expect.objectContaining({ code: "invalid_request" }));
    expect(cpuCost(refused)).toBeLessThan(20);
  }
});
