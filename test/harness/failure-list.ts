import { appendFileSync } from "node:fs";
import path from "node:path";
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";

/** Environment variable with the file to which a run appends its failures, one JSON line each. Only `.ci/run` sets it. */
export const FAILURES_VARIABLE = "BRIDGE_TEST_FAILURES";

/** A failed test, which can be run again alone. */
export interface FailedTest {
  /** Path of the configuration of its suite. */
  config: string;
  /** Path of its file. */
  file: string;
  /** Its name, with those of its groups. */
  name: string;
  output: string;
}

/** A failure of a run that is not one of a test, so that nothing can be run again. */
export interface BrokenRun {
  broken: string;
}

/** Appends a failure of the run that is not one of a test, if the run writes a list. */
export function addBrokenRun(reason: string): void {
  const file = process.env[FAILURES_VARIABLE];
  if (file !== undefined) appendLine(file, { broken: reason });
}

/** Creates the reporter that appends the failures of a run to the file. */
export function createFailureList(file: string): Reporter {
  let config = "";
  return {
    onInit(vitest: Vitest) {
      config = path.relative(process.cwd(), vitest.vite.config.configFile || "vitest.config.ts");
    },
    onTestRunEnd(modules, unhandledErrors) {
      for (const error of unhandledErrors) appendLine(file, { broken: error.stack ?? error.message });
      for (const module of modules) for (const failure of listFailures(module, config)) appendLine(file, failure);
    },
  };
}

function listFailures(module: TestModule, config: string): (FailedTest | BrokenRun)[] {
  const failed = [...module.children.allTests("failed")].map(
    (test): FailedTest => ({
      config,
      file: path.relative(process.cwd(), module.moduleId),
      name: test.fullName,
      output: describeErrors(test),
    }),
  );
  const errors = [module, ...module.children.allSuites()].flatMap((suite) => suite.errors());
  return [...failed, ...errors.map(({ message, stack }) => ({ broken: `${module.moduleId}: ${stack ?? message}` }))];
}

const describeErrors = (test: TestCase): string =>
  (test.result().errors ?? []).map(({ message, stack, diff }) => [stack ?? message, diff].filter(Boolean).join("\n")).join("\n");

const appendLine = (file: string, failure: FailedTest | BrokenRun): void => appendFileSync(file, `${JSON.stringify(failure)}\n`);
