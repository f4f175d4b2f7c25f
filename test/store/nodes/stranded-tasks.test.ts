import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import type { ClusterView } from "../../../src/cluster/cluster-view.ts";
import { createUnrunnableTasks } from "../../../src/dispatch/sharing/unrunnable-tasks.ts";
import { connect } from "../../../src/store/engines/postgres/connection.ts";
import { createReaderPool } from "../../../src/store/engines/postgres/reader-pool.ts";
import type { ClusterNode } from "../../../src/store/nodes/interface.ts";
import { createDeadNodeWrites } from "../../../src/store/nodes/postgres-dead-nodes.ts";
import { createPlacementReads } from "../../../src/store/nodes/postgres-places.ts";
import { takeOriginsOperation } from "../../../src/store/posts/postgres-origins.ts";
import { newFinish } from "../../conformance/store/fixtures.ts";
import { accept, openWrites } from "../../support/postgres/open-writes.ts";

const dispatched = { provider: "command", tenant: "default", kind: "dispatched", exceptAgents: [] } as const;

/** Opens a database in which node n2 stores the task `late` of an agent of n1, and commits it when `commit` is called. */
async function storeLate(files: "local" | "ephemeral") {
  const opened = await openWrites();
  const { store, other, database, hold } = opened;
  await database.query("UPDATE node SET files = $1 WHERE id = 'n1'", [files]);
  await store.finishTaskIfRunning(await accept(store, { taskId: "first", agentId: "a" }), newFinish());
  const holder = await hold("INSERT INTO callback_origin (origin, node, taken_at) VALUES ('http://held', 'n2', 0)");
  const storing = accept(other, { taskId: "late", agentId: "a" }, false);
  const held = other.writer.write(takeOriginsOperation, { origins: ["http://held"], deliverer: "n2" });
  await holder.blocks();
  await database.query("UPDATE node SET state = 'gone', lease_until = 0 WHERE id = 'n1'");
  const reader = createReaderPool({ connect: () => connect({ url: database.urlAt(database.port) }), onFault() {} });
  onTestFinished(() => reader.close());
  const cluster = { ...createDeadNodeWrites(reader, "n2"), ...createPlacementReads(reader) };
  async function commit(): Promise<void> {
    await holder.commit();
    await Promise.all([storing, held]);
  }
  return { ...opened, cluster, commit };
}

type Opened = Awaited<ReturnType<typeof storeLate>>;
type Cluster = Opened["cluster"];

/** Creates the check of the node n2, which sees these nodes, and which adapters can run every task. */
function createCheck({ cluster, other }: Pick<Opened, "cluster" | "other">, nodes: readonly Partial<ClusterNode>[]) {
  const ended: string[] = [];
  const self = { id: "n2", name: "n2", tags: [], files: "local" } as const;
  const view = {
    self,
    nodes: () => [{ ...self, isAlive: true }, ...nodes] as ClusterNode[],
    isGivenUp: ({ isAlive }: ClusterNode) => !isAlive,
  } as unknown as ClusterView;
  const { check } = createUnrunnableTasks({
    cluster,
    view,
    adapters: { findRunner: () => ({ runner: {} as never, obstacle: null }) },
    graceMs: 0,
    async leaveAdapter(task, reason) {
      ended.push(`${task.taskId}: ${reason}`);
      await other.finishTaskIfQueued(task, newFinish({ state: "failed" }));
    },
    logger: pino({ level: "silent" }),
  });
  return { check, ended };
}

test.each([
  ["releases its agents", "ephemeral", (cluster: Cluster) => cluster.releaseNode("n1"), [{ id: "n1", isAlive: false, files: "ephemeral" }]],
  ["is forgotten", "local", (cluster: Cluster) => cluster.forgetNode("n1"), []],
] as const)("a task that is stored for a node while that node %s starts on another node", async (_, files, lose, nodes) => {
  const opened = await storeLate(files);
  const { other, database, cluster, commit } = opened;
  await lose(cluster);
  await commit();
  expect(await database.query("SELECT node FROM task WHERE id = 'late'")).toEqual([{ node: "n1" }]);
  expect(await other.startNextTaskIfQueued(dispatched)).toBeNull();
  const { check, ended } = createCheck(opened, nodes);
  check();
  await vi.waitFor(async () => expect(await database.query("SELECT node FROM task WHERE id = 'late'")).toEqual([{ node: null }]));
  expect(await other.startNextTaskIfQueued(dispatched)).toMatchObject({ taskId: "late", node: "n2" });
  expect(ended).toEqual([]);
});

test.each([
  ["was forgotten", []],
  ["is given up", [{ id: "n1", isAlive: false, files: "ephemeral" }]],
] as const)("a child whose parent has ended and whose node %s ends, because it cannot run elsewhere", async (_, nodes) => {
  const opened = await storeLate("local");
  await opened.commit();
  await opened.database.query("UPDATE task SET node = 'n1', parent_seq = 1, parent_id = 'first' WHERE id = 'late'");
  const { check, ended } = createCheck(opened, nodes);
  check();
  await vi.waitFor(() => expect(ended).toEqual(["late: The node of the parent task is not running."]));
});
