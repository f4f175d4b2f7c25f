import { expect, test } from "vitest";
import { describeTasks } from "../../../src/store/maintenance/backup-file.ts";

test.each([
  [null, "contains data, and its tasks cannot be counted"],
  [0, "contains events, but no tasks"],
  [1, "contains 1 task"],
  [2, "contains 2 tasks"],
])("a database whose number of tasks is %s is described", (tasks, expected) => {
  expect(describeTasks(tasks)).toBe(expected);
});
