import { defineConfig } from "vitest/config";
import { harness } from "../harness/vitest-options.ts";

// The console counts by days of the browser's time zone. The tests run where it is midday, so that no day ends between two steps of a test.
const hoursToMidday = 12 - new Date().getUTCHours();
process.env["TZ"] = `Etc/GMT${hoursToMidday < 0 ? "+" : "-"}${Math.abs(hoursToMidday)}`;

/** The tests in a real browser, which must be installed; see CONTRIBUTING.md. */
export default defineConfig({
  test: { ...harness({ testLimitMs: 120_000, filesInMemory: false }), include: ["test/browser/**/*.test.ts"] },
});
