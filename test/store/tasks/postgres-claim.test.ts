import { describe, expect, onTestFinished, test } from "vitest";
import type { BudgetLimit } from "../../../src/store/budgets/interface.ts";
import { connect, planAsWritten, type Statement } from "../../../src/store/engines/postgres/connection.ts";
import type { ClaimFilter } from "../../../src/store/tasks/interface.ts";
import { claimChild, claimDispatched, claimDispatchedInBudgets } from "../../../src/store/tasks/postgres-claim.ts";
import { newFinish } from "../../conformance/store/fixtures.ts";
import type { TestDatabase } from "../../support/postgres/create-database.ts";
import { accept, openWrites, type WritingNode } from "../../support/postgres/open-writes.ts";

const claim = async (store: WritingNode, filter: Partial<ClaimFilter> = {}): Promise<string | undefined> => {
  const task = await store.startNextTaskIfQueued({
    ...{ provider: "command", tenant: "default", kind: "dispatched", exceptAgents: [] },
    ...filter,
  });
  return task?.taskId;
};

async function queue(store: WritingNode, names: readonly string[], fields: Parameters<typeof accept>[1] = {}) {
  for (const taskId of names) await accept(store, { taskId, agentId: `agent of ${taskId}`, ...fields }, false);
}

test("a claim starts the oldest task that the filter allows, on this node", async () => {
  const { database, store } = await openWrites();
  await queue(store, ["other-tenant"], { tenant: "other" });
  await queue(store, ["other-provider"], { provider: "other" });
  await queue(store, ["excluded"], { agentId: "busy" });
  await queue(store, ["first", "second"]);
  expect(await claim(store, { exceptAgents: ["busy", "nobody"] })).toBe("first");
  expect(await claim(store, { exceptAgents: ["busy"] })).toBe("second");
  expect(await claim(store, { exceptAgents: ["busy"] })).toBeUndefined();
  expect(await claim(store, { kind: "child" })).toBeUndefined();
  expect(await claim(store)).toBe("excluded");
  expect(await claim(store, { tenant: "other" })).toBe("other-tenant");
  expect(await database.query("SELECT DISTINCT node FROM task WHERE state = 'running'")).toEqual([{ node: "n1" }]);
  expect(store.published.map(({ type, task }) => [type, task.taskId])).toEqual([
    ...[
      ["execution.started", "first"],
      ["execution.started", "second"],
      ["execution.started", "excluded"],
    ],
    ["execution.started", "other-tenant"],
  ]);
});

test("a claim starts tasks of this node and of any node in the order of their arrival, and none of another node", async () => {
  const { database, store, other } = await openWrites();
  await queue(store, ["any-1", "other", "own", "any-2"]);
  await database.query("UPDATE task SET node = 'n1' WHERE id = 'own'");
  await database.query("UPDATE task SET node = 'n2' WHERE id = 'other'");
  expect([await claim(store), await claim(store), await claim(store), await claim(store)]).toEqual(["any-1", "own", "any-2", undefined]);
  expect(await claim(other)).toBe("other");
});

test("several claims of one batch start different tasks; more claims than tasks start none twice", async () => {
  const { store, other } = await openWrites();
  await queue(store, ["a", "b", "c", "d", "e"]);
  const claims = await Promise.all([store, other, store, other, store, other, store].map((node) => claim(node)));
  expect(claims.filter((id) => id !== undefined).toSorted()).toEqual(["a", "b", "c", "d", "e"]);
});

test("equal claims of one batch start the oldest tasks of this node, and bind those of other nodes", async () => {
  const { database, store, other } = await openWrites();
  await accept(other, { taskId: "elsewhere", agentId: "away" });
  await queue(store, ["new-1"]);
  await database.query("UPDATE place SET node = 'n2'");
  await queue(store, ["bound-1", "bound-2"], { agentId: "away" });
  await database.query("UPDATE task SET node = NULL WHERE id LIKE 'bound%'");
  await queue(store, ["new-2", "new-3"], { agentId: "here" });
  const claims = await Promise.all(Array.from({ length: 5 }, () => claim(store)));
  expect(claims.filter((id) => id !== undefined).toSorted()).toEqual(["new-1", "new-2", "new-3"]);
  expect(await database.query("SELECT id, node FROM task WHERE state = 'queued' ORDER BY id")).toEqual([
    { id: "bound-1", node: "n2" },
    { id: "bound-2", node: "n2" },
  ]);
  expect(store.faults).toEqual([]);
});

test("equal claims that have bound tasks of another node each start another task", async () => {
  const { database, store, other } = await openWrites();
  await accept(other, { taskId: "elsewhere", agentId: "away" });
  await queue(store, ["bound-1", "bound-2", "bound-3"], { agentId: "away" });
  await queue(store, ["new-1", "new-2", "new-3"]);
  await database.query("UPDATE task SET node = NULL WHERE state = 'queued'");
  const claims = await Promise.all(Array.from({ length: 3 }, () => claim(store)));
  expect(claims.toSorted()).toEqual(["new-1", "new-2", "new-3"]);
  expect(store.published.filter(({ type }) => type === "execution.started")).toHaveLength(3);
});

test("two nodes start each of many tasks once, and fill their slots", async () => {
  const { database, store, other } = await openWrites();
  await Promise.all(Array.from({ length: 200 }, (_, index) => accept(store, { taskId: `t${index}`, agentId: `a${index}` }, false)));
  const claimed = await Promise.all(
    [store, other].map(async (node) => {
      const started: (string | undefined)[] = [];
      for (let round = 0; round < 10; round += 1) started.push(...(await Promise.all(Array.from({ length: 10 }, () => claim(node)))));
      return started;
    }),
  );
  expect(new Set(claimed.flat()).size).toBe(200);
  expect(await database.query("SELECT node, count(*) AS count FROM task GROUP BY node ORDER BY node")).toEqual([
    { node: "n1", count: "100" },
    { node: "n2", count: "100" },
  ]);
});

test("a claim passes over a task that another transaction is starting, and starts it if that transaction gives up", async () => {
  const { store, hold } = await openWrites();
  await queue(store, ["first", "second"]);
  const held = await hold("SELECT 1 FROM task WHERE id = 'first' FOR UPDATE");
  expect(await claim(store)).toBe("second");
  expect(await claim(store)).toBeUndefined();
  await held.commit();
  expect(await claim(store)).toBe("first");
});

describe("a resume token", () => {
  const withToken = (taskId: string) => ({ taskId, request: { ...accepted.request, resumeToken: "session" } });
  const accepted = {
    request: { message: "work", outputStrategy: { type: "stream" }, profile: "inspect", approvals: "deny", onInterrupt: "fail" },
  } as const;

  test("a resume token is used by one running task at a time, also in one batch", async () => {
    const { store } = await openWrites();
    await accept(store, withToken("first"), false);
    await accept(store, withToken("second"), false);
    await queue(store, ["third"]);
    expect(await Promise.all([claim(store), claim(store), claim(store)])).toEqual(["first", "third", undefined]);
  });

  test("a resume token is released by the end of its task for a claim of the same batch", async () => {
    const { store } = await openWrites();
    const first = await accept(store, withToken("first"));
    await accept(store, withToken("second"), false);
    const [, claimed] = await Promise.all([store.finishTaskIfRunning(first, newFinish()), claim(store)]);
    expect(claimed).toBe("second");
  });

  test("a resume token that another transaction has just taken makes the claim start the next task, without an error", async () => {
    const { store, hold } = await openWrites();
    await accept(store, withToken("first"), false);
    await accept(store, withToken("second"), false);
    await queue(store, ["third"]);
    const held = await hold("UPDATE task SET state = 'running', started_at = 1, node = 'n2' WHERE id = 'first'");
    const claimed = claim(store);
    await held.blocks();
    await held.commit();
    expect(await claimed).toBe("third");
    expect(store.faults).toEqual([]);
  });
});

test("children of several parents start in turns, also several in one millisecond", async () => {
  const { store } = await openWrites();
  const parents = [await accept(store, { taskId: "a" }), await accept(store, { taskId: "b" })];
  for (const parent of parents)
    await queue(
      store,
      [1, 2, 3].map((index) => `${parent.taskId}${index}`),
      { parent },
    );
  const filter = { kind: "child" } as const;
  expect(await Promise.all(Array.from({ length: 6 }, () => claim(store, filter)))).toEqual(["a1", "b1", "a2", "b2", "a3", "b3"]);
});

test("a task that ends before its start in the same batch is not started, whatever the order of the calls", async () => {
  const { store } = await openWrites();
  const task = await accept(store, {}, false);
  const [claimed, ended] = await Promise.all([claim(store), store.finishTaskIfQueued(task, newFinish({ state: "cancelled" }))]);
  expect([claimed, ended?.state]).toEqual([undefined, "cancelled"]);
});

test.each(["dispatched", "child"] as const)("a claim reads only what it needs of a long queue, for a %s task", async (kind) => {
  const { database } = await openWrites();
  await database.query(`INSERT INTO task (tenant, id, agent_id, provider, state, request, fingerprint, created_at, node)
    SELECT 'default', i::text, 'agent' || i % 700, 'command', 'queued', '{}', '', 0, CASE WHEN i % 4 < 2 THEN 'n2' WHEN i % 4 = 2 THEN 'n1' END
    FROM generate_series(1, 100000) AS i`);
  await database.query("ANALYZE task");
  expect(await readBuffers(database, kind === "child" ? claimChild : claimDispatched)).toBeLessThan(100);
});

test.each(["dispatched", "child"] as const)(
  "a claim reads each page of a long queue once if this node lacks a tag for every %s task",
  async (kind) => {
    const { database } = await openWrites();
    await database.query(`INSERT INTO task (tenant, id, parent_seq, agent_id, provider, state, request, fingerprint, created_at, node, needs)
    SELECT 'default', i::text, ${kind === "child" ? "i / 10" : "NULL"}, 'agent' || i % 700, 'command', 'queued', '{}', '', 0, ${kind === "child" ? "'n1'" : "NULL"}, '{gpu}'
    FROM generate_series(1, 20000) AS i`);
    await database.query("ANALYZE task");
    const [{ pages } = { pages: 0 }] = await database.query<{ pages: number }>(
      "SELECT (pg_relation_size('task') + pg_relation_size('task_queued')) / 8192 AS pages",
    );
    expect(await readBuffers(database, kind === "child" ? claimChild : claimDispatched)).toBeLessThan(2 * Number(pages));
  },
);

/** A budget of 10. */
const limitOf = (name: string): BudgetLimit => ({
  ...{ name, startsAt: 0, endsAt: 2 ** 50, maxMicros: 10, maxTokens: null, warnAt: [], tenant: null, provider: null },
});

/** The values of a budget that holds tasks back, for `readBuffers`. */
const holdingBudget = ", '{b}', '{3}', '{NULL}'";

/** Queues `count` tasks. With `needs`, the budget `b` has no room for them, and they have that many different needs. */
const fill = (database: TestDatabase, count: number, needs: number | null = null) =>
  database.query(
    `INSERT INTO task (tenant, id, agent_id, provider, state, request, fingerprint, created_at, node, budgets, budget_needs)
     SELECT 'default', gen_random_uuid(), 'agent' || i % 700, 'command', 'queued', '{}', '', 0, CASE WHEN i % 4 < 2 THEN 'n2' WHEN i % 4 = 2 THEN 'n1' END,
       CASE WHEN $2::int IS NOT NULL THEN 'b' END, coalesce('[["b",' || 4 + i % $2 || ',null]]', '[]') FROM generate_series(1, $1::int) AS i`,
    [count, needs],
  );

/** The pages that a claim reads of a queue of 20,000 tasks without room for them, and what comes before and after them. */
async function readBuffersBehind(needs: number, { before = 0, after = 0 }): Promise<{ read: number; pages: number }> {
  const { database } = await openWrites();
  await fill(database, before);
  await fill(database, 20_000, needs);
  await fill(database, after);
  await database.query("ANALYZE task");
  const [{ pages } = { pages: 0 }] = await database.query<{ pages: number }>("SELECT pg_relation_size('task') / 8192 AS pages");
  return { read: await readBuffers(database, claimDispatchedInBudgets, holdingBudget), pages: Number(pages) };
}

test("a claim reads only what it needs of a long queue in which nearly all tasks wait for a budget", async () => {
  expect((await readBuffersBehind(5, { after: 100 })).read).toBeLessThan(300);
});

test("a claim reads nothing of the tasks behind the oldest one if budgets have room for it, however different they are", async () => {
  expect((await readBuffersBehind(20_000, { before: 4 })).read).toBeLessThan(100);
});

test("a claim reads a queue in which very many different needs wait for a budget once, after 500 of the needs", async () => {
  const { read, pages } = await readBuffersBehind(20_000, { after: 100 });
  expect(read).toBeLessThan(2 * pages + 500 * 6);
});

test("a claim starts a task behind more tasks with the same needs than it reads, if another transaction has locked all of these", async () => {
  const { store, hold } = await openWrites({ limits: [limitOf("b")] });
  const asking = (askMicros: number) => ({ asks: [{ name: "b", askMicros, askTokens: null }] });
  await queue(store, ["holder", "large"], asking(6));
  expect(await claim(store)).toBe("holder");
  const locked = Array.from({ length: 130 }, (_, index) => `locked-${index}`);
  await queue(store, [...locked, "free"], asking(4));
  const held = await hold("SELECT 1 FROM task WHERE id LIKE 'locked-%' FOR UPDATE");
  expect(await claim(store)).toBe("free");
  await held.commit();
});

test("a claim uses task_budget for a task whose row has no budget_needs", async () => {
  const { database, store } = await openWrites({ limits: [limitOf("b")] });
  await queue(store, ["holder", "large", "small"], { asks: [{ name: "b", askMicros: 6, askTokens: null }] });
  expect(await claim(store)).toBe("holder");
  await database.query("UPDATE task SET budget_needs = '[]'");
  await database.query("UPDATE task_budget SET ask_micros = 4 FROM task WHERE seq = task AND id = 'small'");
  expect([await claim(store), await claim(store)]).toEqual(["small", undefined]);
});

test("a task whose budget_needs are too long for the row waits for each of its budgets", async () => {
  const names = Array.from({ length: 100 }, (_, index) => `budget-${index}`);
  const { store } = await openWrites({ limits: names.map(limitOf) });
  await queue(store, ["holder", "waits"], { asks: names.map((name) => ({ name, askMicros: 6, askTokens: null })) });
  await queue(store, ["free"]);
  expect([await claim(store), await claim(store), await claim(store)]).toEqual(["holder", "free", undefined]);
});

/** The pages that a statement reads, planned as in the session of a writer. */
async function readBuffers({ urlAt, port }: TestDatabase, { text }: Statement, more = ""): Promise<number> {
  const connection = await connect({ url: urlAt(port) });
  onTestFinished(() => connection.close());
  await connection.query(planAsWritten);
  await connection.query(`PREPARE claim AS ${text}`);
  const { rows } = await connection.query(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE claim ('command', 'default', ARRAY['agent1'], 'n1', 1, '{}', 1, 1${more})`,
  );
  const [plan] = (rows[0]?.["QUERY PLAN"] ?? []) as unknown as { Plan: Record<string, number> }[];
  return Number(plan?.Plan["Shared Hit Blocks"]) + Number(plan?.Plan["Shared Read Blocks"]);
}
