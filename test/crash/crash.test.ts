import { describe, expect, test } from "vitest";
import { engine } from "../support/database-subject.ts";
import { openPostgresDatabase, openSqliteDatabase, type Sabotage, sabotages } from "./crash-database.ts";
import { runCrashTest } from "./crash-run.ts";

const openDatabase = (file: string, sabotage?: Sabotage) =>
  engine === "sqlite" ? openSqliteDatabase(file, sabotage as never) : openPostgresDatabase(sabotage as never);

/** Loses the last commits. `npm run test:crash -- --sabotage copy` restores an older copy, which loses more. */
const [durabilitySabotage] = sabotages[engine];

describe("kill -9 at random moments", () => {
  test("kill -9 at random moments loses, duplicates and leaves behind nothing", async () => {
    const { violations, figures } = await runCrashTest({ rounds: 4, seed: 20_260_101, openDatabase });
    expect(violations).toEqual([]);
    expect(figures["completed"]).toBeGreaterThan(10);
    expect(figures["streamsResumed"]).toBeGreaterThan(5);
    expect(figures["failedByRestart"]).toBeGreaterThan(0);
  });

  test("the checker detects lost data after kill -9 when durability is disabled", async () => {
    const { violations } = await runCrashTest({ rounds: 2, seed: 7, openDatabase: (file) => openDatabase(file, durabilitySabotage) });
    expect(violations).toContainEqual(expect.stringMatching(/^durability: /));
  });

  test("the checker detects remaining reservations of budgets after kill -9 when a start does not settle them", async () => {
    const { violations } = await runCrashTest({ rounds: 2, seed: 7, openDatabase: (file) => openDatabase(file, "budgets") });
    expect(violations).toContainEqual(expect.stringMatching(/^budget: all still reserves [1-9]/));
  });
});
