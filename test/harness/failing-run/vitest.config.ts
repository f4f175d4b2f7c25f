import { defineConfig } from "vitest/config";
import { harness } from "../vitest-options.ts";

/** Configuration of a run whose tests fail as often as the environment requires, for `rerun-failures.test.ts`. */
export default defineConfig({
  test: { ...harness({ testLimitMs: 60_000, filesInMemory: false }), include: ["test/harness/failing-run/fails.ts"] },
});
