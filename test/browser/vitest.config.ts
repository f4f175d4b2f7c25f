import { defineConfig } from "vitest/config";
import { harness } from "../harness/vitest-options.ts";

/** The tests in a real browser, which must be installed; see CONTRIBUTING.md. */
export default defineConfig({
  test: { ...harness({ testLimitMs: 120_000, filesInMemory: false }), include: ["test/browser/**/*.test.ts"] },
});
