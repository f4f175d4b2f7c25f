import { defineConfig } from "vitest/config";
import { harness } from "../harness/vitest-options.ts";

const isOff = process.env["BRIDGE_TEST_POSTGRES"] === "off";

/** Every scenario of the cluster test once, in its short form. */
export default defineConfig({
  test: {
    ...harness({ testLimitMs: 240_000, filesInMemory: true }),
    include: isOff ? [] : ["test/cluster/scenarios.test.ts"],
    passWithNoTests: isOff,
  },
});
