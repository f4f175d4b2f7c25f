import { defineConfig } from "vitest/config";
import { harness } from "../harness/vitest-options.ts";

/** The linters of openapi.yaml and the generated clients. `install.ts` installs them first. */
export default defineConfig({
  test: {
    // Each test runs programs that take seconds to start.
    ...harness({ testLimitMs: 240_000, filesInMemory: true }),
    include: ["test/openapi/*.test.ts"],
  },
});
