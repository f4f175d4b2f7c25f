import { defineConfig } from "vitest/config";

/** The tests that need bubblewrap, which `npm test` does without. */
export default defineConfig({
  test: {
    include: ["test/sandbox/**/*.test.ts"],
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
