import { defineConfig } from "vitest/config";
import { harness } from "../harness/vitest-options.ts";

/** The tests that need bubblewrap, which `npm test` does without. */
export default defineConfig({
  test: { ...harness({ testLimitMs: 60_000, filesInMemory: false }), include: ["test/sandbox/**/*.test.ts"] },
});
