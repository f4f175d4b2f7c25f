import path from "node:path";
import type { ProvidedContext } from "vitest";
import type { ViteUserConfig } from "vitest/config";

declare module "vitest" {
  interface ProvidedContext {
    /** How long a test or a hook may take on an idle machine; see `setup.ts`. */
    testLimitMs: number;
    /** Whether temporary files may be in memory. */
    filesInMemory: boolean;
  }
}

/** What all suites have in common: no suite leaves processes or directories behind, and its time limits fit the machine. */
export const harness = (provide: ProvidedContext): NonNullable<ViteUserConfig["test"]> => ({
  globalSetup: [path.join(import.meta.dirname, "global-setup.ts")],
  setupFiles: [path.join(import.meta.dirname, "setup.ts")],
  provide,
  maxWorkers: 2,
  restoreMocks: true,
  unstubEnvs: true,
});
