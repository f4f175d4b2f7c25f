import { expect, test } from "vitest";
import { parseByteRange } from "../../../src/http/routes/byte-range.ts";

test.each([
  ["bytes=0-0", 10, { first: 0, last: 0 }],
  ["bytes=2-5", 10, { first: 2, last: 5 }],
  ["bytes=2-", 10, { first: 2, last: 9 }],
  ["bytes=-3", 10, { first: 7, last: 9 }],
  ["bytes=-99", 10, { first: 0, last: 9 }],
  ["bytes=5-99", 10, { first: 5, last: 9 }],
  ["Bytes= 1-2 ", 10, { first: 1, last: 2 }],
  ["bytes=9-99999999999999999999999999", 10, { first: 9, last: 9 }],
  ["bytes=10-", 10, "unsatisfiable"],
  ["bytes=10-20", 10, "unsatisfiable"],
  ["bytes=99999999999999999999999999-", 10, "unsatisfiable"],
  ["bytes=-0", 10, "unsatisfiable"],
  ["bytes=0-", 0, "unsatisfiable"],
  ["bytes=-1", 0, "unsatisfiable"],
  [undefined, 10, null],
  ["", 10, null],
  ["bytes", 10, null],
  ["bytes=", 10, null],
  ["bytes=-", 10, null],
  ["bytes=5-2", 10, null],
  ["bytes=a-b", 10, null],
  ["bytes=0x1-2", 10, null],
  ["bytes=1.5-2", 10, null],
  ["bytes=--1", 10, null],
  ["lines=1-2", 10, null],
  ["bytes=0-1,3-4", 10, null],
] as const)("the header %j for a file of %i bytes is parsed", (header, size, range) => {
  expect(parseByteRange(header, size)).toEqual(range);
});
