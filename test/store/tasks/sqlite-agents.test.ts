import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { openDriver, type SqliteDriver } from "../../../src/store/engines/sqlite/driver.ts";
import { openStore } from "../../../src/store/open-sqlite.ts";
import type { Store } from "../../../src/store/store.ts";
import { createAgentOperations } from "../../../src/store/tasks/sqlite-lists.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const insertTasks = (agentId: string, first: number, last: number): string => `
  WITH RECURSIVE n (i) AS (VALUES (${first}) UNION ALL SELECT i + 1 FROM n WHERE i < ${last})
  INSERT INTO task (seq, tenant, id, agent_id, provider, state, request, fingerprint, created_at, started_at, finished_at, result)
    SELECT i, 'default', 't' || i, '${agentId}', 'p', 'completed', '{}', '', 1, 1, i, '{}' FROM n`;

const tasksOf = async ({ listAgents, listAgentsByName }: Pick<Store, "listAgents" | "listAgentsByName">) => {
  const byName = await listAgentsByName("default", { after: "", limit: 10 });
  const newest = await listAgents("default", 10);
  expect(newest.toSorted((a, b) => (a.agentId < b.agentId ? -1 : 1))).toEqual(byName);
  return Object.fromEntries(byName.map(({ agentId, tasks }) => [agentId, tasks]));
};

test("the list of agents counts each task once, in limited reads, and later only newer tasks", async () => {
  const driver = openDriver(path.join(await temporaryDirectory(), "bridge.db"), { onFault() {} });
  onTestFinished(() => driver.close());
  const counted: number[] = [];
  const reading: SqliteDriver = {
    ...driver,
    get(...read) {
      const row = driver.get(...read);
      counted.push(Number(row?.["tasks"]));
      return row;
    },
  };
  const { operations } = createAgentOperations(reading);
  await driver.write(() => driver.run(insertTasks("a", 1, 45_000)));
  await driver.write(() => driver.run(insertTasks("b", 45_001, 45_003)));
  expect(await tasksOf(operations)).toEqual({ a: 45_000, b: 3 });
  expect(Math.max(...counted)).toBeLessThanOrEqual(20_000);
  expect(counted.reduce((sum, tasks) => sum + tasks, 0)).toBe(45_003);
  counted.length = 0;
  await driver.write(() => driver.run(insertTasks("a", 45_004, 45_005)));
  expect(await tasksOf(operations)).toEqual({ a: 45_002, b: 3 });
  expect(counted.reduce((sum, tasks) => sum + tasks, 0)).toBe(2);
});

test("the list of agents counts tasks again after a deletion and after retention", async () => {
  const file = path.join(await temporaryDirectory(), "bridge.db");
  await openStore({ file }).close();
  const database = new SqliteDatabase(file);
  database.exec(insertTasks("a", 1, 5));
  database.exec(insertTasks("b", 6, 8));
  database.close();
  const store = openStore({ file, clock: () => 100 });
  onTestFinished(() => store.close());
  expect(await tasksOf(store)).toEqual({ a: 5, b: 3 });
  expect(await store.deleteTaskIfEnded("default", "t7")).toBe("deleted");
  expect(await tasksOf(store)).toEqual({ a: 5, b: 2 });
  // Tasks that ended before time 3.
  expect(await store.prune(97, 10)).toBe(2);
  expect(await tasksOf(store)).toEqual({ a: 3, b: 2 });
});
