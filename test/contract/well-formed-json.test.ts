import { expect, test } from "vitest";
import { stringifyWellFormed } from "../../src/contract/well-formed-json.ts";

test.each([
  ["half of a pair", "a\ud83db", "a\ufffdb"],
  ["the other half", "\ude00", "\ufffd"],
  ["two halves in the wrong order", "\ude00\ud83d", "\ufffd\ufffd"],
  ["a whole pair", "😀", "😀"],
  ["text that looks like an escape", "\\ud83d \\\\ud83d", "\\ud83d \\\\ud83d"],
  ["an escape of another character before it", "\u0001\n\\\ud83d", "\u0001\n\\\ufffd"],
])("%s", (_, text, expected) => {
  expect(JSON.parse(stringifyWellFormed({ [text]: [text] }))).toEqual({ [expected]: [expected] });
});
