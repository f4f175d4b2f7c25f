import type { DispatchedTask } from "../../crash/orchestrator.ts";
import type { ClusterNode } from "../cluster-node.ts";
import type { Cluster, Scenario } from "../scenario.ts";

/** Clients cancel tasks, wait for them and use tickets through nodes that neither accepted nor run the tasks. */
export const otherNodes: Scenario = {
  name: "other-nodes",
  nodes: 3,
  leaseSeconds: 120,
  async act(cluster) {
    const { nodes, tenants, orchestrator, random, times, count } = cluster;
    for (let number = 0; number < times(20); number += 1) {
      const [first, second] = [0, 1].map((offset) => (nodes[(number + offset) % nodes.length] as ClusterNode).address ?? "");
      const tenant = random.pick(tenants);
      const task = await orchestrator.dispatchOne(first ?? "", tenant, random.pick(["slow", "long"]));
      const runner = await findRunner(cluster, task);
      const others = nodes.filter(({ name }) => name !== runner);
      const other = random.pick(others).address ?? "";
      if (random.chance(0.5)) await cancelThere(cluster, other, task);
      else await waitThere(cluster, other, task);
      await useTicketThere(cluster, { mintedAt: second ?? "", usedAt: first ?? "", task });
      count("faults");
    }
  },
};

/** Returns the name of the node that runs the task; null if it has not started. */
async function findRunner({ query, expectSoon }: Cluster, { tenant, taskId }: DispatchedTask): Promise<string | null> {
  let name: string | null = null;
  await expectSoon(`other node: ${taskId} does not start`, async () => {
    const [row] = await query<{ name: string | null; state: string }>(
      "SELECT node.name, task.state FROM task LEFT JOIN node ON node.id = task.node WHERE task.tenant = $1 AND task.id = $2",
      [tenant.tenant, taskId],
    );
    name = row?.name ?? null;
    return row !== undefined && row.state !== "queued";
  });
  return name;
}

async function cancelThere({ orchestrator, expectSoon, count }: Cluster, address: string, task: DispatchedTask): Promise<void> {
  await orchestrator.cancel(address, task);
  count("cancels");
  await expectSoon(`other node: ${task.taskId} does not end after it was canceled`, () => task.ended);
}

async function waitThere({ onViolation, count }: Cluster, address: string, { tenant, taskId }: DispatchedTask): Promise<void> {
  const headers = { authorization: `Bearer ${tenant.token}`, prefer: "wait=60" };
  const answer = await fetch(`${address}/api/v2/tasks/${taskId}`, { headers });
  const { state } = (await answer.json()) as { state?: string };
  count("waits");
  if (!["completed", "failed", "cancelled"].includes(state ?? "")) onViolation(`other node: ${taskId} was ${state} after the wait`);
}

async function useTicketThere(
  { onViolation, count }: Cluster,
  { mintedAt, usedAt, task: { tenant, taskId } }: { mintedAt: string; usedAt: string; task: DispatchedTask },
): Promise<void> {
  const headers = { authorization: `Bearer ${tenant.token}` };
  const minted = await fetch(`${mintedAt}/api/v2/events/ticket`, { method: "POST", headers });
  const { ticket } = (await minted.json()) as { ticket?: string };
  const statuses: number[] = [];
  for (const address of [usedAt, mintedAt]) {
    const leaving = new AbortController();
    const { status } = await fetch(`${address}/api/events?ticket=${ticket}`, { signal: leaving.signal });
    statuses.push(status);
    leaving.abort();
  }
  count("tickets");
  if (statuses.join() !== "200,401") onViolation(`other node: a ticket was answered ${statuses.join()} instead of 200 and 401 (${taskId})`);
}
