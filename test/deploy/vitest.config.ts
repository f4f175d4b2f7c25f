import path from "node:path";
import { defineConfig } from "vitest/config";
import { harness } from "../harness/vitest-options.ts";

const options = harness({ testLimitMs: 120_000, filesInMemory: true });

/** The tests of the deployment files, which need PostgreSQL and the load balancers. `npm test` does not run them. */
export default defineConfig({
  test: {
    ...options,
    globalSetup: [options.globalSetup, path.resolve(import.meta.dirname, "../support/postgres/global-setup.ts")].flat() as string[],
    include: ["test/deploy/**/*.test.ts"],
  },
});
