import { defineConfig } from "vitest/config";
import { harness } from "../../../test/harness/vitest-options.ts";

/** The tests of the Python client, which need Debian's python3-httpx, mypy and python3-setuptools. `npm test` does not run them. */
export default defineConfig({
  test: {
    ...harness({ testLimitMs: 60_000, filesInMemory: true }),
    include: ["packages/python-client/test/*.test.ts"],
  },
});
