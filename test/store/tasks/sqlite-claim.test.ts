import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../src/store/open-sqlite.ts";
import { claimSql } from "../../../src/store/tasks/sqlite-claim.ts";
import { newTask } from "../../conformance/store/fixtures.ts";
import { leastCpuRatio } from "../../support/cpu-time.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/**
 * Returns a function that claims a task of a queue, and undoes the claim. The budget `b` has no room for the given number of tasks, which
 * have `needs` different needs.
 */
async function openQueue(held: number, needs = 5): Promise<() => unknown> {
  const file = path.join(await temporaryDirectory(), "bridge.db");
  const store = openStore({ file });
  const asks = (index: number) => [{ name: "b", askMicros: 4 + (index % needs), askTokens: null }];
  const inserts = Array.from({ length: held }, (_, index) => newTask({ taskId: `held-${index}`, asks: asks(index) }));
  await Promise.all([...inserts, newTask({ taskId: "free" })].map((task) => store.insertTaskIfAbsent(task)));
  await store.close();
  const database = new SqliteDatabase(file);
  onTestFinished(() => void database.close());
  const filter = { provider: "command", tenant: "default", kind: "dispatched", exceptAgents: [] } as const;
  const { sql, parameters } = claimSql(filter, JSON.stringify([["b", 3, null]]), 1);
  const statement = database.prepare(sql);
  return () => {
    database.exec("BEGIN");
    const row = statement.get(...parameters) as { id: string };
    database.exec("ROLLBACK");
    return row.id;
  };
}

test("a claim costs about the same if 10,000 tasks before it wait for a budget", async () => {
  const [claim, claimBehind] = [await openQueue(0), await openQueue(10_000)];
  expect([claim(), claimBehind()]).toEqual(["free", "free"]);
  expect(leastCpuRatio(claimBehind, claim, 5)).toBeLessThanOrEqual(5);
});

test.each([1, 50, 200, 700])("a claim finds the only task with room behind 700 tasks with %i different needs", async (needs) => {
  expect((await openQueue(700, needs))()).toBe("free");
});
