import { describe, expect, test } from "vitest";
import { engine } from "../support/database-subject.ts";
import { openPostgresDatabase, openSqliteDatabase, type Sabotage, sabotages } from "./crash-database.ts";
import { runCrashTest } from "./crash-run.ts";

const openDatabase = (file: string, sabotage?: Sabotage) =>
  engine === "sqlite" ? openSqliteDatabase(file, sabotage as never) : openPostgresDatabase(sabotage as never);

describe("kill -9 at random moments", () => {
  test("kill -9 at random moments loses, duplicates and leaves behind nothing", async () => {
    const { violations, figures } = await runCrashTest({ rounds: 4, seed: 20_260_101, openDatabase });
    expect(violations).toEqual([]);
    expect(figures["completed"]).toBeGreaterThan(10);
    expect(figures["streamsResumed"]).toBeGreaterThan(5);
    expect(figures["failedByRestart"]).toBeGreaterThan(0);
  });

  test.each(sabotages[engine])("kill -9 at random moments is detected to lose data when durability is disabled (%s)", async (sabotage) => {
    const { violations } = await runCrashTest({ rounds: 2, seed: 7, openDatabase: (file) => openDatabase(file, sabotage) });
    expect(violations).toContainEqual(expect.stringMatching(/^durability: /));
  });
});
