import { expect, onTestFinished, test } from "vitest";
import { connect, planAsWritten } from "../../../src/store/engines/postgres/connection.ts";
import type { RunningLimits } from "../../../src/store/tasks/interface.ts";
import { countRunningTasks } from "../../../src/store/tasks/postgres-starts.ts";
import { newFinish, newTask } from "../../conformance/store/fixtures.ts";
import { accept, openWrites, type WritingNode } from "../../support/postgres/open-writes.ts";

const claim = (node: WritingNode, limits?: RunningLimits) =>
  node.startNextTaskIfQueued({
    ...({ provider: "command", tenant: "default", kind: "dispatched", exceptAgents: [] } as const),
    ...(limits !== undefined && { limits }),
  });
const start = async (node: WritingNode, taskId: string, limits: RunningLimits, agentId = taskId) =>
  (await node.insertTaskIfAbsent(newTask({ taskId, agentId }), { starts: true, limits })).task.state;

const ofTenant = (maxRunning: number): RunningLimits => ({ maxRunning, agentMaxRunning: null });
const ofAgent = (agentMaxRunning: number): RunningLimits => ({ maxRunning: null, agentMaxRunning });

test("a tenant with a limit never runs more tasks on all nodes together, however accepts, claims and ends overlap", async () => {
  const { store, other, database } = await openWrites();
  const nodes = [store, other];
  const limits = ofTenant(3);
  let ended = 0;
  const ids = Array.from({ length: 60 }, (_, index) => `t${index}`);
  const worker = async (node: WritingNode, own: readonly string[]): Promise<void> => {
    for (const id of own) await start(node, id, limits);
    while (ended < ids.length) {
      const task = await claim(node, limits);
      const [row] = await database.query<{ count: string }>("SELECT count(*) AS count FROM task WHERE state = 'running'");
      expect(Number(row?.count)).toBeLessThanOrEqual(3);
      if (task !== null && (await node.finishTaskIfRunning(task, newFinish())) !== null) ended += 1;
    }
  };
  // The tasks that start on arrival end here, as their nodes would end them.
  const reaper = async (): Promise<void> => {
    while (ended < ids.length) {
      const rows = await database.query<{ seq: string; id: string }>(
        "SELECT seq, id FROM task WHERE state = 'running' ORDER BY seq LIMIT 1",
      );
      for (const { id } of rows) {
        const { task } = await store.insertTaskIfAbsent(newTask({ taskId: id }), { starts: false });
        if ((await store.finishTaskIfRunning(task, newFinish())) !== null) ended += 1;
      }
    }
  };
  await Promise.all([
    ...nodes.map((node, at) =>
      worker(
        node,
        ids.filter((_, index) => index % 2 === at),
      ),
    ),
    reaper(),
  ]);
  expect(await database.query("SELECT DISTINCT state FROM task")).toEqual([{ state: "completed" }]);
});

test("a start waits until another node that counts the tenant has committed, and then sees what it has started", async () => {
  const { store, hold } = await openWrites();
  await accept(store, { taskId: "first", agentId: "first" }, false);
  const held = await hold(`SELECT pg_advisory_xact_lock(4713006, hashtext('default'));
    UPDATE task SET state = 'running', started_at = 1, node = 'n2' WHERE id = 'first'`);
  const [started, unlimited] = [start(store, "second", ofTenant(1)), accept(store, { tenant: "other", agentId: "b" })];
  await held.blocks();
  await held.commit();
  expect(await started).toBe("queued");
  expect((await unlimited).state).toBe("running");
  expect(await claim(store, ofTenant(1))).toBeNull();
  expect((await claim(store, ofTenant(2)))?.taskId).toBe("second");
});

test("an agent with a limit does not run more, and other agents of its tenant start; children do not count", async () => {
  const { store, other } = await openWrites();
  expect(await start(store, "a1", ofAgent(1), "a")).toBe("running");
  expect(await start(store, "a2", ofAgent(1), "a")).toBe("queued");
  expect(await start(other, "b1", ofAgent(1), "b")).toBe("running");
  await accept(store, { taskId: "c1", agentId: "c" }, false);
  expect((await claim(store, ofAgent(1)))?.taskId).toBe("c1");
  expect(await claim(store, ofAgent(1))).toBeNull();
  expect((await claim(store, ofAgent(2)))?.taskId).toBe("a2");
  const parent = await accept(store, { taskId: "parent", agentId: "p" });
  await accept(store, { taskId: "child", agentId: "p", parent });
  expect(await start(store, "p2", ofAgent(2), "p")).toBe("running");
});

test("several starts of one batch respect the limit together", async () => {
  const { store } = await openWrites();
  const states = await Promise.all(["a", "b", "c", "d"].map((id) => start(store, id, ofTenant(2))));
  expect(states.toSorted()).toEqual(["queued", "queued", "running", "running"]);
  const claimed = await Promise.all([1, 2, 3].map(() => claim(store, ofTenant(3))));
  expect(claimed.filter((task) => task !== null)).toHaveLength(1);
});

test("the count of running tasks reads none of the other tasks of the tenant", async () => {
  const { database } = await openWrites();
  await database.query(`INSERT INTO task (tenant, id, agent_id, provider, state, request, fingerprint, created_at, finished_at, result, node)
    SELECT 'default', i::text, 'agent', 'command', CASE WHEN i % 2 = 0 THEN 'queued' ELSE 'failed' END, '{}', '', 0,
      CASE WHEN i % 2 = 0 THEN NULL ELSE 1 END, CASE WHEN i % 2 = 0 THEN NULL ELSE '{}' END, 'n1' FROM generate_series(1, 20000) AS i`);
  const connection = await connect({ url: database.urlAt(database.port) });
  onTestFinished(() => connection.close());
  await connection.query(planAsWritten);
  await connection.query(`PREPARE counting AS ${countRunningTasks.text}`);
  const { rows } = await connection.query("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE counting (ARRAY['default'])");
  const [plan] = (rows[0]?.["QUERY PLAN"] ?? []) as unknown as { Plan: Record<string, number> }[];
  expect(Number(plan?.Plan["Shared Hit Blocks"]) + Number(plan?.Plan["Shared Read Blocks"])).toBeLessThan(20);
});
