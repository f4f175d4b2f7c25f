import path from "node:path";
import { beforeEach } from "vitest";
import { sqliteOnlyTests } from "./sqlite-only-tests.ts";

const repository = path.resolve(import.meta.dirname, "../../..");

/** Runs before each test file, and omits its tests that only SQLite can pass. The report of the run shows the reason. */
beforeEach(({ task, skip }) => {
  const reason = sqliteOnlyTests[path.relative(repository, task.file.filepath)]?.[task.fullTestName];
  if (reason !== undefined) skip(reason);
});
