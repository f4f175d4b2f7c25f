import { defineConfig } from "vitest/config";

/** The linters of openapi.yaml and the clients that are generated from it; `install.ts` puts both there first. */
export default defineConfig({
  test: {
    include: ["test/openapi/*.test.ts"],
    // Each runs programs that take seconds to start, and far longer on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 240_000,
    restoreMocks: true,
  },
});
