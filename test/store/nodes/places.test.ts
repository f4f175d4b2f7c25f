import { describe, expect, test } from "vitest";
import type { ClaimFilter } from "../../../src/store/tasks/interface.ts";
import { newFinish } from "../../conformance/store/fixtures.ts";
import { accept, openWrites, type WritingNode } from "../../support/postgres/open-writes.ts";

const claim = async (node: WritingNode, filter: Partial<ClaimFilter> = {}): Promise<string | undefined> => {
  const all = { provider: "command", tenant: "default", kind: "dispatched", exceptAgents: [] } as const;
  return (await node.startNextTaskIfQueued({ ...all, ...filter }))?.taskId;
};

const queue = (node: WritingNode, taskId: string, agentId: string) => accept(node, { taskId, agentId }, false);

type Opened = Awaited<ReturnType<typeof openWrites>>;
const placesIn = async ({ database }: Opened) => {
  const rows = await database.query<{ agent_id: string; node: string }>("SELECT agent_id, node FROM place ORDER BY agent_id");
  return Object.fromEntries(rows.map(({ agent_id: agentId, node }) => [agentId, node]));
};
const nodesIn = async ({ database }: Opened) => {
  const rows = await database.query<{ id: string; node: string | null }>("SELECT id, node FROM task ORDER BY id");
  return Object.fromEntries(rows.map(({ id, node }) => [id, node]));
};

describe("an agent lives on the node", () => {
  test("an agent lives on the node that accepts and starts its first task; another node queues its tasks there, and does not claim them", async () => {
    const opened = await openWrites();
    const { store, other } = opened;
    expect(await accept(store, { taskId: "first", agentId: "a" })).toMatchObject({ state: "running", node: "n1" });
    expect(await accept(other, { taskId: "second", agentId: "a" })).toMatchObject({ state: "queued", node: "n1", startedAt: null });
    expect(await accept(other, { taskId: "third", agentId: "b" })).toMatchObject({ state: "running", node: "n2" });
    expect(await placesIn(opened)).toEqual({ a: "n1", b: "n2" });
    expect([await claim(other), await claim(store), await claim(store)]).toEqual([undefined, "second", undefined]);
  });

  test("an agent lives on the node that claims its first task; a queued task has a node only after that", async () => {
    const opened = await openWrites();
    const { store, other } = opened;
    expect((await queue(store, "first", "a")).node).toBeNull();
    expect((await queue(store, "second", "a")).node).toBeNull();
    expect(await placesIn(opened)).toEqual({});
    expect(await claim(other)).toBe("first");
    expect(await placesIn(opened)).toEqual({ a: "n2" });
    expect((await queue(store, "third", "a")).node).toBe("n2");
    expect([await claim(store), await claim(other), await claim(other)]).toEqual([undefined, "second", "third"]);
  });

  test("an agent lives on the node of the same tenant only", async () => {
    const opened = await openWrites();
    expect((await accept(opened.store, { tenant: "t1", agentId: "a" })).node).toBe("n1");
    expect((await accept(opened.other, { tenant: "t2", agentId: "a" })).node).toBe("n2");
  });

  test("even if the start finds a task that was accepted before, which gives its agent no place", async () => {
    const opened = await openWrites();
    await queue(opened.store, "first", "a");
    expect((await accept(opened.other, { taskId: "first", agentId: "a" })).state).toBe("queued");
    expect(await placesIn(opened)).toEqual({});
  });

  test("an agent lives on the node that has all tags which its task needs; the others leave it in the queue", async () => {
    const opened = await openWrites();
    const { store, other, database } = opened;
    await database.query("UPDATE node SET tags = ARRAY['eu', 'gpu', 'big'] WHERE id = 'n2'");
    expect(await accept(store, { taskId: "a", agentId: "a", needs: ["gpu", "eu"] })).toMatchObject({ state: "queued", node: null });
    await accept(store, { taskId: "b", agentId: "b" }, false);
    expect([await claim(store), await claim(store)]).toEqual(["b", undefined]);
    expect(await placesIn(opened)).toEqual({ b: "n1" });
    expect(await claim(other)).toBe("a");
    expect(await accept(other, { taskId: "c", agentId: "c", needs: ["gpu"] })).toMatchObject({ state: "running", node: "n2" });
    expect(await accept(store, { taskId: "d", agentId: "d", needs: ["node:n1"] })).toMatchObject({ state: "running", node: "n1" });
    expect(await accept(store, { taskId: "e", agentId: "e", needs: ["node:n2"] })).toMatchObject({ state: "queued", node: null });
  });
});

test("tasks of agents that live elsewhere are bound to their nodes, however many they are, and the next one starts", async () => {
  const opened = await openWrites();
  const { store, other, database } = opened;
  await Promise.all(Array.from({ length: 1200 }, (_, index) => queue(store, `t${index}`, index % 2 === 0 ? "a" : "b")));
  await accept(other, { taskId: "at-other", agentId: "a" });
  await accept(other, { taskId: "there-too", agentId: "b" });
  await queue(store, "mine", "c");
  expect(await claim(store)).toBe("mine");
  // Tasks are bound in slices, not one by one.
  expect([store.foreign.length > 0, store.foreign.length < 10]).toEqual([true, true]);
  expect(await database.query("SELECT node, count(*) AS count FROM task WHERE state = 'queued' GROUP BY node")).toEqual([
    { node: "n2", count: "1200" },
  ]);
  expect(await claim(store)).toBeUndefined();
  expect(await claim(other)).toBe("t0");
});

describe("while another transaction gives an agent a place", () => {
  const placing = "SELECT pg_advisory_xact_lock(4713005, hashtext('default' || E'\\n' || 'a'))";
  const placed = "INSERT INTO place VALUES ('default', 'a', 'n2', 1)";

  test("a claim starts the next task of another agent, without waiting, and the agent stays there", async () => {
    const opened = await openWrites();
    const { store, hold } = opened;
    for (const id of ["a1", "a2"]) await queue(store, id, "a");
    await queue(store, "b1", "b");
    const held = await hold(`${placing}; ${placed}`);
    expect([await claim(store), await claim(store)]).toEqual(["b1", undefined]);
    await held.commit();
    expect(await claim(store)).toBeUndefined();
    expect(await nodesIn(opened)).toEqual({ a1: "n2", a2: "n2", b1: "n1" });
    expect(await placesIn(opened)).toEqual({ a: "n2", b: "n1" });
  });

  test("an accept stores the task as queued, without waiting", async () => {
    const { store, hold } = await openWrites();
    const held = await hold(`${placing}; ${placed}`);
    expect(await accept(store, { agentId: "a" })).toMatchObject({ state: "queued", node: null });
    await held.commit();
    expect(await accept(store, { taskId: "next", agentId: "a" })).toMatchObject({ state: "queued", node: "n2" });
  });

  test("while another transaction gives an agent a place that transaction may fail, and then the next claim gives the agent its place", async () => {
    const opened = await openWrites();
    const { store, hold } = opened;
    await queue(store, "a1", "a");
    const held = await hold(`${placing}; SAVEPOINT s; ${placed}; ROLLBACK TO s`);
    expect(await claim(store)).toBeUndefined();
    await held.commit();
    expect(await claim(store)).toBe("a1");
    expect(await placesIn(opened)).toEqual({ a: "n1" });
  });

  test("a place that is stored without the lock is kept", async () => {
    const opened = await openWrites();
    const { store, hold } = opened;
    await queue(store, "a1", "a");
    const held = await hold(placed);
    const claimed = claim(store);
    await held.blocks();
    await held.commit();
    expect([await claimed, await claim(store)]).toEqual([undefined, undefined]);
    expect(await nodesIn(opened)).toEqual({ a1: "n2" });
  });
});

test("many claims and accepts of two nodes never run an agent on both, and start all tasks", async () => {
  const opened = await openWrites();
  const { store, other, database } = opened;
  const nodes = [store, other];
  const agents = Array.from({ length: 20 }, (_, index) => `a${index}`);
  const started: (string | undefined)[] = [];
  await Promise.all(
    Array.from({ length: 300 }, async (_, index) => {
      const node = nodes[index % 2] as WritingNode;
      const task = await accept(node, { taskId: `t${index}`, agentId: agents[(index * 7) % 20] as string }, index % 3 === 0);
      if (task.state === "running") started.push(task.taskId);
      started.push(await claim(nodes[(index + 1) % 2] as WritingNode));
    }),
  );
  for (const node of nodes) for (let id = await claim(node); id !== undefined; id = await claim(node)) started.push(id);
  for (const node of nodes) for (let id = await claim(node); id !== undefined; id = await claim(node)) started.push(id);
  const ids = started.filter((id) => id !== undefined);
  expect([ids.length, new Set(ids).size]).toEqual([300, 300]);
  expect(await database.query("SELECT agent_id FROM task GROUP BY agent_id HAVING count(DISTINCT node) > 1")).toEqual([]);
  expect(await database.query("SELECT 1 FROM task t JOIN place p USING (tenant, agent_id) WHERE p.node <> t.node")).toEqual([]);
  expect(store.faults.length + other.faults.length).toBe(0);
});

describe("a child task", () => {
  test("a child task runs on the node of its parent, also if its agent lives elsewhere", async () => {
    const opened = await openWrites();
    const { store, other } = opened;
    const parent = await accept(store, { taskId: "parent", agentId: "a" });
    await accept(other, { taskId: "elsewhere", agentId: "b" });
    expect(await accept(store, { taskId: "child-1", agentId: "b", parent })).toMatchObject({ state: "running", node: "n1" });
    expect(await accept(other, { taskId: "child-2", agentId: "b", parent })).toMatchObject({ state: "queued", node: "n1" });
    expect([await claim(other, { kind: "child" }), await claim(store, { kind: "child" })]).toEqual([undefined, "child-2"]);
    expect((await placesIn(opened))["b"]).toBe("n2");
  });
});

describe("a task that is queued again", () => {
  test("a task that is queued again waits for the node of its agent, or for any node if the agent has lost its place", async () => {
    const opened = await openWrites();
    const { store, database } = opened;
    const [kept, lost] = [await accept(store, { taskId: "kept", agentId: "a" }), await accept(store, { taskId: "lost", agentId: "b" })];
    await database.query("DELETE FROM place WHERE agent_id = 'b'");
    await Promise.all([store.requeueTaskIfRunning(kept), store.requeueTaskIfRunning(lost)]);
    expect(await nodesIn(opened)).toEqual({ kept: "n1", lost: null });
  });
});

test("an ended task keeps the node that ran it", async () => {
  const opened = await openWrites();
  const task = await accept(opened.store);
  expect((await opened.store.finishTaskIfRunning(task, newFinish()))?.node).toBe("n1");
  expect(await nodesIn(opened)).toEqual({ "task-1": "n1" });
});
