import { defineConfig } from "vitest/config";

/** The tests in a real browser, which has to be installed; see CONTRIBUTING.md. */
export default defineConfig({
  test: { include: ["test/browser/**/*.test.ts"], testTimeout: 30_000, hookTimeout: 60_000, restoreMocks: true },
});
