import path from "node:path";
import type { DispatchedTask, Tenant } from "../../crash/orchestrator.ts";
import type { ClusterNode } from "../cluster-node.ts";
import type { Cluster, Scenario } from "../scenario.ts";

const scriptedAdapter = path.resolve(import.meta.dirname, "../scripted-adapter.js");

/**
 * Clients cancel tasks, wait for them, decide approvals, and use tickets and files through nodes that neither accepted nor run the tasks.
 */
export const otherNodes: Scenario = {
  name: "other-nodes",
  nodes: 3,
  leaseSeconds: 120,
  environment: { BRIDGE_ADAPTERS: `command,${scriptedAdapter}` },
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
      await approveThere(cluster, tenant);
      await useFilesThere(cluster, task);
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

/** Dispatches a task that asks for an approval, which a client of another node gives. */
async function approveThere(cluster: Cluster, tenant: Tenant): Promise<void> {
  const { nodes, orchestrator, random, expectSoon, onViolation, count } = cluster;
  const fields = { provider: "scripted", more: { profile: "modify", approvals: "ask" } };
  const task = await orchestrator.dispatchOne(random.pick(nodes).address ?? "", tenant, "ask", fields);
  const runner = await findRunner(cluster, task);
  const address = random.pick(nodes.filter(({ name }) => name !== runner)).address ?? "";
  const headers = { authorization: `Bearer ${tenant.token}`, "content-type": "application/json" };
  let approvalId: string | undefined;
  await expectSoon(`other node: ${task.taskId} asks for no approval`, async () => {
    const answer = await fetch(`${address}/api/v2/approvals?state=pending`, { headers });
    const { data } = (await answer.json()) as { data: { approvalId: string; taskId: string }[] };
    approvalId = data.find(({ taskId }) => taskId === task.taskId)?.approvalId;
    return approvalId !== undefined || task.cancelled;
  });
  // The load repeats dispatches, and cancels some of the repeated tasks.
  if (task.cancelled) return;
  const body = JSON.stringify({ decision: "approve" });
  const { status } = await fetch(`${address}/api/v2/approvals/${approvalId}`, { method: "POST", headers, body });
  count("approvals");
  // The load can cancel the task meanwhile, which rejects its approval.
  if (status !== 200 && !(status === 409 && task.cancelled))
    onViolation(`other node: the decision about ${task.taskId} was answered ${status}`);
  await expectSoon(`other node: ${task.taskId} does not end after its approval`, () => task.ended);
}

/** Writes a file of the task's agent through each node. The first one creates it, and the others replace it. */
async function useFilesThere({ nodes, onViolation, count }: Cluster, { tenant, taskId, body: { agentId } }: DispatchedTask): Promise<void> {
  const headers = { authorization: `Bearer ${tenant.token}`, "content-type": "application/octet-stream" };
  const target = `/api/v2/workspaces/${String(agentId)}/files/note-of-${taskId}.md`;
  const statuses: number[] = [];
  for (const { name, address } of nodes) {
    statuses.push((await fetch(`${address}${target}`, { method: "PUT", headers, body: taskId })).status);
    const list = await fetch(`${address}/api/v2/tasks/${taskId}/files`, { headers });
    if (list.status !== 200) onViolation(`other node: ${name} answered the files of ${taskId} with ${list.status}: ${await list.text()}`);
  }
  if (statuses.join() !== "201,204,204") onViolation(`other node: a file was answered ${statuses.join()} instead of 201, 204 and 204`);
  count("files");
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
