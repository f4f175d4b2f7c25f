import { expect, test } from "vitest";
import { titleOf } from "../../src/store/task-summary.ts";

test.each([
  ["", null],
  [" \n\t ", null],
  ["Look into it.", "Look into it."],
  ["\r\n  First line \r\nSecond", "First line"],
  ["x".repeat(120), "x".repeat(120)],
  ["x".repeat(121), `${"x".repeat(119)}…`],
  ["😀".repeat(121), `${"😀".repeat(119)}…`],
  [`${" ".repeat(1_000_000)}late`, null],
])("the title of a task is the first line of its message, shortened: case %#", (message, title) => {
  expect(titleOf(message)).toBe(title);
});
