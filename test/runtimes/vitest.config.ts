import path from "node:path";
import { defineConfig } from "vitest/config";
import { harness } from "../harness/vitest-options.ts";
import { SAMPLE_SEED } from "./sample-seed.ts";

/** The tests with the real agent programs. `run.ts` installs them first, and decides whether all tests run. */
export default defineConfig({
  test: {
    // Some programs take seconds to start, and retry errors for as long.
    ...harness({ testLimitMs: 240_000, filesInMemory: false }),
    ...(process.env[SAMPLE_SEED] !== undefined && { runner: path.join(import.meta.dirname, "sample-runner.ts") }),
    include: ["test/runtimes/**/*.test.ts"],
    exclude: ["**/node_modules/**", "test/runtimes/model-server/**"],
  },
});
