import path from "node:path";
import type { ProvidedContext } from "vitest";
import type { ViteUserConfig } from "vitest/config";
import { createFailureList, FAILURES_VARIABLE } from "./failure-list.ts";
import { createPassedList, PASSED_VARIABLE } from "./passed-list.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Time limit of a test or hook on an idle machine, in milliseconds; see `setup.ts`. */
    testLimitMs: number;
    /** Whether temporary files may be in memory. */
    filesInMemory: boolean;
  }
}

/** The tests of the store that need PostgreSQL, as patterns of files. */
export const postgresTests = [
  "test/store/**/postgres*.test.ts",
  "test/store/engines/postgres/**/*.test.ts",
  "test/store/nodes/**/*.test.ts",
];

const failuresFile = process.env[FAILURES_VARIABLE];
const passedFile = process.env[PASSED_VARIABLE];

const lists = [
  ...(failuresFile === undefined ? [] : [createFailureList(failuresFile)]),
  ...(passedFile === undefined ? [] : [createPassedList(passedFile)]),
];

/** Options of all suites: no suite leaves processes or directories behind, and time limits scale with the load of the machine. */
export const harness = (provide: Pick<ProvidedContext, "testLimitMs" | "filesInMemory">): NonNullable<ViteUserConfig["test"]> => ({
  ...(lists.length > 0 && { reporters: ["default", ...lists] }),
  globalSetup: [path.join(import.meta.dirname, "global-setup.ts")],
  setupFiles: [path.join(import.meta.dirname, "setup.ts")],
  provide,
  maxWorkers: 2,
  restoreMocks: true,
  unstubEnvs: true,
});
