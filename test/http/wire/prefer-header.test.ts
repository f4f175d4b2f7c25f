import { expect, test } from "vitest";
import { parsePreferredWait } from "../../../src/http/wire/prefer-header.ts";

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
  ["wait=5, wait=7", 5],
])("the preference %s is parsed as %s", (header, seconds) => {
  expect(parsePreferredWait(header)).toBe(seconds);
});

test.each(["wait=61", "wait=1000", "wait=100000", `wait=${"9".repeat(400)}`])("the preference %s is capped to 60", (header) => {
  expect(parsePreferredWait(header)).toBe(60);
});

test.each(["wait", "wait=", "wait=0", "wait=-1", "wait=1.5", "wait=x", "wait=1e3", "wait=x, wait=5"])(
  "the preference %s is ignored",
  (header) => {
    expect(parsePreferredWait(header)).toBeNull();
  },
);
