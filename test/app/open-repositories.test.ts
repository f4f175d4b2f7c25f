import { expect, test } from "vitest";
import { createTreeSweep } from "../../src/app/open-repositories.ts";

test("the start waits only for the removal of locks, and the shutdown ends the first sweep", async () => {
  const calls: string[] = [];
  const { promise: sweeping, resolve: endSweep } = Promise.withResolvers<void>();
  const sweep = createTreeSweep({
    store: { findTaskProgress: async () => null, endTaskRepository: async () => {} },
    repositories: {
      prepare: async () => void calls.push("prepare"),
      sweep() {
        calls.push("sweep");
        return sweeping;
      },
      async close() {
        calls.push("close");
        endSweep();
      },
    },
  });
  await sweep.start();
  await sweep.close();
  expect(calls).toEqual(["prepare", "sweep", "close"]);
});
