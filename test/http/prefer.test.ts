import { expect, test } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import { parsePreferredWait } from "../../src/http/prefer.ts";

test.each([
  [undefined, null],
  ["", null],
  ["respond-async", null],
  ["return=minimal, handling=lenient", null],
  ["wait=1", 1],
  ["wait=60", 60],
  ["Wait = 5", 5],
  ['wait="7"', 7],
  ["respond-async, wait=10", 10],
  ["return=minimal; foo=bar, wait=3", 3],
  ["waiting=3", null],
])("%s is %s", (header, seconds) => {
  expect(parsePreferredWait(header)).toBe(seconds);
});

test.each(["wait", "wait=", "wait=0", "wait=61", "wait=1000", "wait=-1", "wait=1.5", "wait=x"])("%s is refused", (header) => {
  expect(() => parsePreferredWait(header)).toThrow(BridgeError);
});
