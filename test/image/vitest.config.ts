import { defineConfig } from "vitest/config";
import { harness } from "../harness/vitest-options.ts";

/**
 * The tests of the image, which `build-images.ts` builds first. They need root and Debian's container tools. `npm test` does not run them.
 */
export default defineConfig({
  test: {
    ...harness({ testLimitMs: 240_000, filesInMemory: false }),
    include: ["test/image/*.test.ts"],
  },
});
