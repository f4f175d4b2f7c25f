import { defineConfig } from "vitest/config";
import { harness } from "./test/harness/vitest-options.ts";

export default defineConfig({
  test: {
    // Many tests start real programs.
    ...harness(60_000),
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
  },
});
