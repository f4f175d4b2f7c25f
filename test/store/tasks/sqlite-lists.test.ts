import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDriver, type SqliteDriver } from "../../../src/store/engines/sqlite/driver.ts";
import type { TaskFilter } from "../../../src/store/tasks/interface.ts";
import { createTaskListOperations } from "../../../src/store/tasks/sqlite-lists.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

interface Place {
  agentId: string;
  provider: string;
  state: "completed" | "failed";
  parentTaskId: string | null;
}

/** A driver on a database of ended tasks; the rows that its reads return are counted. */
async function openWith(places: readonly Place[]) {
  const driver = openDriver(path.join(await temporaryDirectory(), "bridge.db"), { onFault() {} });
  onTestFinished(() => driver.close());
  await driver.write(() => {
    for (const [index, { agentId, provider, state, parentTaskId }] of places.entries())
      driver.run(
        `INSERT INTO task (tenant, id, parent_id, agent_id, provider, state, request, fingerprint, created_at, started_at, finished_at, result)
         VALUES ('default', ?, ?, ?, ?, ?, '{}', '', 1, 1, 1, '{}')`,
        `t${index}`,
        parentTaskId,
        agentId,
        provider,
        state,
      );
  });
  const reads = { rows: 0, most: 0 };
  const counted: SqliteDriver = {
    ...driver,
    allUntil(...read) {
      const rows = driver.allUntil(...read);
      reads.rows += rows.length;
      reads.most = Math.max(reads.most, rows.length);
      return rows;
    },
  };
  return { ...createTaskListOperations(counted, { findFamily: async () => [] }), reads };
}

const place = (fields: Partial<Place>): Place => ({ agentId: "a", provider: "p", state: "completed", parentTaskId: null, ...fields });

test("a list with several filters contains exactly the tasks that match all of them, on pages of any length", async () => {
  const places = Array.from({ length: 500 }, (_, index) => {
    const pick = (index * 2_654_435_761) % 4_294_967_296;
    const bit = (number: number) => Math.floor(pick / 2 ** number) % 2 === 0;
    return place({
      agentId: bit(10) ? "a" : "b",
      provider: bit(11) ? "p" : "q",
      state: bit(12) ? "completed" : "failed",
      parentTaskId: bit(13) ? "parent" : null,
    });
  });
  const { listTasks } = await openWith(places);
  const filters: Omit<TaskFilter, "tenant">[] = [
    { agentId: "a", provider: "q" },
    { agentId: "b", state: "failed" },
    { provider: "p", state: "completed", parentTaskId: "parent" },
    { agentId: "a", provider: "p", state: "failed", parentTaskId: "parent" },
    { agentId: "absent", provider: "p" },
  ];
  for (const filter of filters) {
    const expected = places
      .map((task, index) => ({ ...task, taskId: `t${index}` }))
      .filter((task) => Object.entries(filter).every(([name, value]) => task[name as keyof Place] === value))
      .map(({ taskId }) => taskId)
      .toReversed();
    for (const limit of [1, 7, 200]) {
      const listed: string[] = [];
      for (let before: number | null = null; ; ) {
        const page = await listTasks({ tenant: "default", ...filter }, { before, limit });
        expect(page.length).toBeLessThanOrEqual(limit);
        listed.push(...page.map(({ taskId }) => taskId));
        if (page.length === 0) break;
        before = page.at(-1)?.seq as number;
      }
      expect({ filter, limit, listed }).toEqual({ filter, limit, listed: expected });
    }
  }
});

test("a list with two filters passes over the tasks that match only one of them", async () => {
  const { listTasks, reads } = await openWith([
    place({ agentId: "a", provider: "rare" }),
    ...Array.from({ length: 5000 }, () => place({ agentId: "a", provider: "p" })),
    place({ agentId: "b", provider: "rare" }),
  ]);
  expect(await listTasks({ tenant: "default", agentId: "a", provider: "rare" }, { before: null, limit: 5 })).toHaveLength(1);
  expect(reads.rows).toBeLessThan(10);
});

test("a list whose filters match alternating tasks reads a limited number of them in one turn of the event loop", async () => {
  const { listTasks, reads } = await openWith(
    Array.from({ length: 5000 }, (_, index) => place(index % 2 === 0 ? { agentId: "a", provider: "q" } : { agentId: "b", provider: "p" })),
  );
  let turns = 0;
  let isOver = false;
  const countTurns = (): void => {
    turns += 1;
    if (!isOver) setImmediate(countTurns);
  };
  setImmediate(countTurns);
  expect(await listTasks({ tenant: "default", agentId: "a", provider: "p" }, { before: null, limit: 50 })).toEqual([]);
  isOver = true;
  expect(reads.most).toBeLessThanOrEqual(1000);
  expect(turns).toBeGreaterThanOrEqual(Math.floor(reads.rows / 1000));
  expect(reads.rows).toBeGreaterThan(2000);
});

test("the tasks of a tenant that failed since a time are read by an index of theirs", async () => {
  const driver = openDriver(path.join(await temporaryDirectory(), "bridge.db"), { onFault() {} });
  onTestFinished(() => driver.close());
  const plans: string[] = [];
  const explained: SqliteDriver = {
    ...driver,
    all(sql, ...values) {
      plans.push(...driver.all(`EXPLAIN QUERY PLAN ${sql}`, ...values).map(({ detail }) => String(detail)));
      return driver.all(sql, ...values);
    },
  };
  const search = { tenant: "default", finishedAfter: 1, state: "failed", root: null } as const;
  await createTaskListOperations(explained, { findFamily: async () => [] }).searchTasks(search, { before: null, limit: 10 });
  expect(plans).toEqual(
    expect.arrayContaining([expect.stringContaining("task_failed (tenant=? AND <expr>=? AND finished_at>? AND finished_at<?)")]),
  );
});
