import { appendFileSync } from "node:fs";
import path from "node:path";
import type { Reporter } from "vitest/node";

/** Environment variable with the file to which a run appends the test files that have passed, one path a line. */
export const PASSED_VARIABLE = "BRIDGE_TEST_PASSED_FILES";

/**
 * Creates the reporter that appends each test file as soon as all its tests have passed, so that a run that is cut off can be continued.
 */
export const createPassedList = (file: string): Reporter => ({
  onTestModuleEnd(module) {
    if (module.state() === "passed") appendFileSync(file, `${path.relative(process.cwd(), module.moduleId)}\n`);
  },
});
