import { defineConfig } from "vitest/config";
import { harness } from "../vitest-options.ts";

/** A run of one file, whose test hangs while a Bridge works for it; for `leftovers.test.ts`. */
export default defineConfig({
  test: { ...harness({ testLimitMs: 60_000, filesInMemory: false }), include: ["test/harness/hanging-run/hangs.ts"] },
});
