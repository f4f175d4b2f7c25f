import type { QueueOwner } from "../../errors.ts";
import type { TenantQuota } from "../../task.ts";
import { createTally, type QueueTally } from "./queue-tally.ts";

/**
 * The dispatched tasks of one tenant over all adapters, and the quota that limits them. Child tasks do not count. Queued tasks are those of
 * all nodes; running tasks are those of this node.
 */
export interface TenantLoad {
  readonly name: string;
  quota: TenantQuota;
  queued: number;
  /** Running tasks and claims. */
  running: number;
  /** Claims in progress. Each will take one of the queued tasks. */
  claiming: number;
  readonly agents: Map<string, AgentLoad>;
}

/** The queued and running tasks of an agent. */
export interface AgentLoad {
  readonly queued: QueueTally;
  running: number;
}

/** Changes the counts of an agent, and forgets an agent without tasks. Returns by how much the number of its queued tasks has changed. */
export function changeAgent(load: TenantLoad, agentId: string, change: (agent: AgentLoad) => number): number {
  const agent = load.agents.get(agentId) ?? { queued: createTally(), running: 0 };
  const delta = change(agent);
  load.queued += delta;
  if (agent.queued.count === 0 && agent.queued.arriving === 0 && agent.running === 0) load.agents.delete(agentId);
  else load.agents.set(agentId, agent);
  return delta;
}

/** Queued tasks that no claim will take. */
export const waitingOf = ({ queued, claiming }: TenantLoad): number => queued - claiming;

/**
 * The tenant's own queue that has no room for one more task of the agent; null if both have room. `load` is undefined for a tenant without
 * tasks.
 */
export function findFullOwnQueue(load: TenantLoad | undefined, quota: TenantQuota, agentId: string): Exclude<QueueOwner, "bridge"> | null {
  if (isReached(load?.agents.get(agentId)?.queued.count ?? 0, quota.agentQueueLimit)) return "agent";
  return isReached(load === undefined ? 0 : waitingOf(load), quota.queueLimit) ? "tenant" : null;
}

/** Whether the tenant may start one more task, as far as that is known before the agent of the task is. */
export function mayStartAnother({ quota, running, claiming }: TenantLoad): boolean {
  if (isReached(running, quota.maxRunning)) return false;
  // A claim does not know the agent of its task, so only one claim at a time can respect the limit of each agent.
  return quota.agentMaxRunning === null || claiming === 0;
}

/** Whether a limit of the tenant or of the agent prevents the start of a task. */
export const isHeldByLimit = (load: TenantLoad, agentId: string): boolean =>
  isReached(load.running, load.quota.maxRunning) || isAgentAtLimit(load, agentId);

export const isAgentAtLimit = ({ agents, quota }: TenantLoad, agentId: string): boolean =>
  isReached(agents.get(agentId)?.running ?? 0, quota.agentMaxRunning);

export function agentsAtLimit({ agents, quota: { agentMaxRunning } }: TenantLoad): string[] {
  if (agentMaxRunning === null) return [];
  return [...agents].filter(([, { running }]) => running >= agentMaxRunning).map(([agentId]) => agentId);
}

export const limitsRunning = ({ maxRunning, agentMaxRunning }: TenantQuota): boolean => maxRunning !== null || agentMaxRunning !== null;

/** Whether the number has reached the limit; never without a limit. */
export const isReached = (count: number, limit: number | null): boolean => limit !== null && count >= limit;
