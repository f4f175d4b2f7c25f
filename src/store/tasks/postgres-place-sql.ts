import { advisoryLocks } from "../engines/postgres/advisory-locks.ts";

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

/** The tags of a row of `node`: those of its settings, and its name, so that a task can ask for a node. */
export const tagsOfNode = "array_append(tags, 'node:' || name)";
