import { defineConfig } from "vitest/config";
import { harness } from "../harness/vitest-options.ts";

/** The tests with the real agent programs. `install.ts` installs them first. */
export default defineConfig({
  test: {
    // Some programs take seconds to start, and retry errors for as long.
    ...harness({ testLimitMs: 240_000, filesInMemory: false }),
    include: ["test/runtimes/**/*.test.ts"],
    exclude: ["**/node_modules/**", "test/runtimes/model-server/**"],
  },
});
