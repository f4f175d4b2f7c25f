import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { harness } from "./test/harness/vitest-options.ts";

export default defineConfig({
  test: {
    // Many tests start real programs.
    ...harness({ testLimitMs: 60_000, filesInMemory: true }),
    // Half of the CPU time would go into loading modules again that an earlier file has loaded.
    isolate: false,
    // One more than there are cores: tests often wait.
    maxWorkers: availableParallelism() + 1,
    include: ["test/**/*.test.ts"],
    // `npm run coverage`: code that runs in the test process, not in programs that tests start.
    coverage: {
      provider: "v8",
      include: ["{src,adapters,packages/*/src}/**/*.ts"],
      reporter: ["text-summary", "html"],
    },
    // `npm run test:runtimes` installs the real agent programs for these, `npm run test:openapi` linters and generators, `npm run test:browser`
    // needs a browser, and `npm run test:sandbox` bubblewrap.
    exclude: [
      "**/node_modules/**",
      "test/runtimes/!(model-server)/**",
      "test/runtimes/*.test.ts",
      "test/browser/**",
      "test/sandbox/**",
      "test/openapi/**",
    ],
  },
});
