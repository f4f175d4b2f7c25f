import { expect, test } from "vitest";
import { titleOf, toNewSummary } from "../../../src/store/tasks/rows.ts";

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

test("the title of a council is what it is asked for", () => {
  const titleFor = (request: object) =>
    toNewSummary({ request: { message: "", ...request } } as unknown as Parameters<typeof toNewSummary>[0]).title;
  expect(titleFor({ bridgeInput: { task_description: "Review pull request 482.\nAll of it." } })).toBe("Review pull request 482.");
  expect(titleFor({ message: "Look.", bridgeInput: { task_description: "Review." } })).toBe("Look.");
  expect([titleFor({ bridgeInput: { task_description: 7 } }), titleFor({})]).toEqual([null, null]);
});
