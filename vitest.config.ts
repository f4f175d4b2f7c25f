import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
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
    // Two test files at once keep a small machine responsive enough for tests that measure time.
    maxWorkers: 2,
    // Many tests start real processes; on a busy machine that alone can take seconds.
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // What a test waits for may take seconds, too; it goes on as soon as it is there.
    expect: { poll: { timeout: 15_000 } },
    restoreMocks: true,
    unstubEnvs: true,
  },
});
