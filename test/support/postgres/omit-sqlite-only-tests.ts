import path from "node:path";
import { beforeEach, type RunnerTask, type RunnerTestFile } from "vitest";
import { sqliteOnlyTests } from "./sqlite-only-tests.ts";

const repository = path.resolve(import.meta.dirname, "../../..");

/** Runs before each test file, and omits its tests that only SQLite can pass. The report of the run shows the reason. */
beforeEach(({ task, skip }) => {
  const reasons = sqliteOnlyTests[path.relative(repository, task.file.filepath)];
  if (reasons === undefined) return;
  const titles = listTitles(task.file);
  for (const title of Object.keys(reasons))
    if (!titles.includes(title)) throw new Error(`sqlite-only-tests.ts lists a test that its file does not have: ${title}`);
  const reason = reasons[task.fullTestName];
  if (reason !== undefined) skip(reason);
});

const listTitles = (task: RunnerTask | RunnerTestFile): string[] =>
  task.type === "test" ? [task.fullTestName] : task.tasks.flatMap(listTitles);
