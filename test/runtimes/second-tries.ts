import type { Reporter, TestCase } from "vitest/node";

/** More second tries in one run than this are no chance. */
const MAX_SECOND_TRIES = 3;

/** A reporter that tells which tests passed only when they were tried again, and why they had failed; too many of them fail the run. */
export function createSecondTries(): Reporter {
  return {
    onTestRunEnd(modules) {
      const unsteady = modules.flatMap((module) => [...module.children.allTests()]).filter((test) => test.diagnostic()?.flaky === true);
      if (unsteady.length === 0) return;
      const list = unsteady.map(tell).join("\n");
      console.error(`\nPassed at the second try only (${unsteady.length}); each is a defect to look into:\n${list}`);
      if (unsteady.length <= MAX_SECOND_TRIES) return;
      console.error(`More than ${MAX_SECOND_TRIES}: the run has failed.`);
      process.exitCode = 1;
    },
  };
}

function tell(test: TestCase): string {
  const [error] = test.result().errors ?? [];
  return `- ${test.module.relativeModuleId}: ${test.fullName}\n  ${error?.message ?? "no reason"}${error?.diff === undefined ? "" : `\n${error.diff}`}`;
}
