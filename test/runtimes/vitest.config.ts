import { defineConfig } from "vitest/config";

/** The tests with the real agent programs; `install.ts` puts them there first. */
export default defineConfig({
  test: {
    include: ["test/runtimes/**/*.test.ts"],
    exclude: ["**/node_modules/**", "test/runtimes/model-server/**"],
    maxWorkers: 2,
    // Gemini CLI alone takes seconds to start, and some of its errors are retried for as long.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
