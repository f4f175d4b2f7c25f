import type { Transaction } from "../engines/postgres/operation-kind.ts";
import { advisoryLocks } from "../engines/postgres/statements.ts";
import type { RunningLimits } from "./interface.ts";

/**
 * Whether no other transaction is about to give the agent in these columns a place. Two transactions that waited for each other's places
 * could deadlock, so a transaction that does not get this lock starts no task of the agent. The lock is held until the commit.
 */
export const lockAgent = (tenant: string, agentId: string): string =>
  `pg_try_advisory_xact_lock(${advisoryLocks.agent}, hashtext(${tenant} || E'\\n' || ${agentId}))`;

/** Whether a running task of the same session uses the resume token of the task `task`. */
export const isSessionBusy = (task: string): string =>
  `${task}.resume_token IS NOT NULL AND EXISTS (
     SELECT 1 FROM task r WHERE r.state = 'running' AND r.resume_token = ${task}.resume_token AND r.tenant = ${task}.tenant
       AND r.provider = ${task}.provider AND r.agent_id = ${task}.agent_id)`;

/** Dispatched tasks of some tenants that run on all nodes. */
export interface RunningCounts {
  /** Whether one more task may start; of any agent if `agentId` is null. */
  mayStart(tenant: string, agentId: string | null, limits: RunningLimits): boolean;
  /** Agents of the tenant that have reached their limit. */
  agentsAtLimit(tenant: string, limits: RunningLimits): string[];
  addStart(tenant: string, agentId: string): void;
}

/**
 * Counts the running tasks of tenants. The batch must hold the locks of these tenants (`limitedTenantOf`) since an earlier statement, so
 * that this one sees all that other nodes have started, and nothing starts before the commit.
 */
export async function countRunning(tenants: readonly string[], transaction: Transaction): Promise<RunningCounts> {
  const agents = new Map(tenants.map((tenant) => [tenant, new Map<string, number>()]));
  const rows = tenants.length === 0 ? [] : await transaction.query(countRunningTasks, [[...agents.keys()]]);
  for (const row of rows) agents.get(String(row["tenant"]))?.set(String(row["agent_id"]), Number(row["count"]));
  const agentsOf = (tenant: string): Map<string, number> => agents.get(tenant) ?? new Map();
  const sum = (tenant: string): number => [...agentsOf(tenant).values()].reduce((total, count) => total + count, 0);
  return {
    mayStart: (tenant, agentId, { maxRunning, agentMaxRunning }) =>
      sum(tenant) < (maxRunning ?? Infinity) && (agentId === null || (agentsOf(tenant).get(agentId) ?? 0) < (agentMaxRunning ?? Infinity)),
    agentsAtLimit: (tenant, { agentMaxRunning }) =>
      [...agentsOf(tenant)].filter(([, count]) => count >= (agentMaxRunning ?? Infinity)).map(([agentId]) => agentId),
    addStart: (tenant, agentId) => void agentsOf(tenant).set(agentId, (agentsOf(tenant).get(agentId) ?? 0) + 1),
  };
}

/** Every running task has a node, which makes PostgreSQL read the index of running tasks instead of all tasks of the tenant. */
export const countRunningTasks = {
  name: "count_running_tasks",
  text: `WITH running AS MATERIALIZED (SELECT tenant, agent_id, parent_seq FROM task WHERE state = 'running' AND node >= '')
    SELECT tenant, agent_id, count(*) AS count FROM running WHERE parent_seq IS NULL AND tenant = ANY ($1::text[]) GROUP BY tenant, agent_id`,
};
