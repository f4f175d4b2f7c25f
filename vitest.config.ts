import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { harness, postgresTests } from "./test/harness/vitest-options.ts";

export default defineConfig({
  test: {
    // Many tests start real programs.
    ...harness({ testLimitMs: 60_000, filesInMemory: true }),
    // With isolation, half of the CPU time would be spent on loading the same modules for each file.
    isolate: false,
    // One more than the number of cores, because tests often wait.
    maxWorkers: availableParallelism() + 1,
    include: ["test/**/*.test.ts", "packages/*/test/**/*.test.ts"],
    // `npm test -- --coverage`: code that runs in the test process, not in programs that tests start.
    coverage: {
      provider: "v8",
      include: ["{src,adapters,packages/*/src}/**/*.ts"],
      reporter: ["text-summary", "html"],
    },
    // Suites with their own commands: `npm run test:runtimes` (installs agent programs), `npm run test:openapi` (installs linters and
    // generators), `npm run test:browser` (needs a browser), `npm run test:sandbox` (needs bubblewrap), `npm run test:postgres` and
    // `npm run test:cluster:short` (need PostgreSQL), `npm run test:deploy` (needs servers), `npm run test:python` (needs httpx),
    // `npm run test:image` (needs buildah).
    exclude: [
      "**/node_modules/**",
      "test/runtimes/!(model-server)/**",
      "test/runtimes/*.test.ts",
      "test/browser/**",
      "test/sandbox/**",
      ...postgresTests,
      "test/support/postgres/**",
      "test/cluster/scenarios.test.ts",
      "test/deploy/**",
      "test/openapi/**",
      "test/image/**",
      "packages/python-client/**",
    ],
  },
});
