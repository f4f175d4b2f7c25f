import { defineConfig } from "vitest/config";
import { harness } from "../vitest-options.ts";

/** Configuration of a run with one test that hangs while a Bridge runs, for `leftovers.test.ts`. */
export default defineConfig({
  test: { ...harness({ testLimitMs: 60_000, filesInMemory: false }), include: ["test/harness/hanging-run/hangs.ts"] },
});
