import { defineConfig } from "vitest/config";
import { harness } from "../harness/vitest-options.ts";

/** The linters of openapi.yaml and the clients that are generated from it; `install.ts` puts both there first. */
export default defineConfig({
  test: {
    // Each runs programs that take seconds to start.
    ...harness({ testLimitMs: 240_000, filesInMemory: true }),
    include: ["test/openapi/*.test.ts"],
  },
});
