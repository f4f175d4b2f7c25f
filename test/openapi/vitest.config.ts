import path from "node:path";
import { defineConfig } from "vitest/config";
import { harness } from "../harness/vitest-options.ts";

/** The linters of openapi.yaml and the generated clients. `install.ts` installs them first. */
export default defineConfig({
  resolve: {
    alias: [
      // The Convex example imports code that Convex generates for a deployment.
      { find: /^\.\/_generated\/(api|server)$/, replacement: path.join(import.meta.dirname, "fake-convex.ts") },
      {
        find: /^convex\/(server|values)$/,
        replacement: path.join(import.meta.dirname, "clients/node_modules/convex/dist/esm/$1/index.js"),
      },
    ],
  },
  test: {
    // Each test runs programs that take seconds to start.
    ...harness({ testLimitMs: 240_000, filesInMemory: true }),
    include: ["test/openapi/*.test.ts"],
  },
});
