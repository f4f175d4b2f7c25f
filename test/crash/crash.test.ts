import { describe, expect, test } from "vitest";
import { runCrashTest } from "./crash-run.ts";
import { sabotages } from "./sabotage.ts";

describe("kill -9 at random moments", () => {
  test("loses, duplicates and leaves behind nothing", async () => {
    const { violations, figures } = await runCrashTest({ rounds: 6, seed: 20_260_101 });
    expect(violations).toEqual([]);
    expect(figures["completed"]).toBeGreaterThan(10);
    expect(figures["streamsResumed"]).toBeGreaterThan(5);
    expect(figures["failedByRestart"]).toBeGreaterThan(0);
  });

  test.each(sabotages)("is detected to lose data when durability is disabled (%s)", async (sabotage) => {
    const { violations } = await runCrashTest({ rounds: 2, seed: 7, sabotage });
    expect(violations).toContainEqual(expect.stringMatching(/^durability: /));
  });
});
