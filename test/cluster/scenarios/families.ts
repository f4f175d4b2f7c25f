import path from "node:path";
import type { DispatchedTask } from "../../crash/orchestrator.ts";
import type { ClusterNode } from "../cluster-node.ts";
import type { Cluster, Scenario } from "../scenario.ts";

const scriptedAdapter = path.resolve(import.meta.dirname, "../scripted-adapter.js");
const CHILDREN = 12;

/** Nodes that run a task with twelve children, as a council is, are drained or killed. The children stay on the node of their parent. */
export const families: Scenario = {
  name: "families",
  nodes: 3,
  // A killed node starts again at once, so no lease has to end.
  leaseSeconds: 120,
  minCompleted: 0.5,
  environment: { BRIDGE_ADAPTERS: `command,${scriptedAdapter}`, BRIDGE_DRAIN_SECONDS: "120" },
  async act(cluster) {
    const { nodes, tenants, orchestrator, random, times, count, expectSoon, onViolation } = cluster;
    for (let number = 0; number < times(6); number += 1) {
      const parent = await orchestrator.dispatchOne(random.pick(nodes).address ?? "", random.pick(tenants), "family", {
        provider: "scripted",
      });
      const runner = await findRunner(cluster, parent);
      if (runner === undefined) continue;
      if (number % 2 === 0) {
        const code = await runner.stop();
        if (code !== 0) onViolation(`family: ${runner.name} stopped with code ${code}`);
        count("drains");
      } else {
        await runner.kill();
        count("kills");
      }
      await runner.start();
      await expectSoon(`family: ${parent.taskId} does not end`, () => parent.ended, 60_000);
      await checkFamily(cluster, parent, number % 2 === 0 && !parent.cancelled);
    }
  },
};

/** Returns the node that runs the parent, when children run there, too. */
async function findRunner({ nodes, query, expectSoon }: Cluster, { tenant, taskId }: DispatchedTask): Promise<ClusterNode | undefined> {
  let name: string | undefined;
  await expectSoon(`family: no child of ${taskId} starts`, async () => {
    const [row] = await query<{ name: string }>(
      `SELECT node.name FROM task p JOIN node ON node.id = p.node
       WHERE p.tenant = $1 AND p.id = $2 AND EXISTS (SELECT FROM task c WHERE c.parent_seq = p.seq AND c.state = 'running')`,
      [tenant.tenant, taskId],
    );
    name = row?.name;
    return name !== undefined;
  });
  return nodes.find((node) => node.name === name);
}

async function checkFamily({ query, onViolation }: Cluster, { tenant, taskId }: DispatchedTask, isComplete: boolean): Promise<void> {
  const rows = await query<{ state: string; restarts: number; children: number; strays: number; open: number; completed: number }>(
    `SELECT p.state, p.restarts, count(c.seq)::int AS children,
       count(c.seq) FILTER (WHERE p.restarts = 0 AND c.node IS DISTINCT FROM p.node)::int AS strays,
       count(c.seq) FILTER (WHERE c.finished_at IS NULL OR c.finished_at > p.finished_at)::int AS open,
       count(c.seq) FILTER (WHERE c.state = 'completed')::int AS completed
     FROM task p LEFT JOIN task c ON c.parent_seq = p.seq WHERE p.tenant = $1 AND p.id = $2 GROUP BY p.seq`,
    [tenant.tenant, taskId],
  );
  const family = rows[0];
  if (family === undefined || family.strays > 0) onViolation(`family: ${family?.strays} children of ${taskId} were on another node`);
  if (family !== undefined && family.open > 0) onViolation(`family: ${family.open} children of ${taskId} ended after it`);
  if (isComplete && (family?.state !== "completed" || family.completed !== CHILDREN))
    onViolation(`family: ${taskId} is ${family?.state} with ${family?.completed} completed children after its node was drained`);
}
