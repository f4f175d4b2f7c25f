import { defineConfig } from "vitest/config";
import { harness } from "../harness/vitest-options.ts";

/** The tests that need bubblewrap. `npm test` does not run them. */
export default defineConfig({
  test: { ...harness({ testLimitMs: 60_000, filesInMemory: false }), include: ["test/sandbox/**/*.test.ts"] },
});
