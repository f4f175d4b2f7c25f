import type { ClaimFilter } from "./interface.ts";

/** The claim of the next task as SQL. The time is its first parameter, followed by the returned ones. */
export function claimSql({ provider, tenant, kind, exceptAgents }: ClaimFilter): { sql: string; parameters: string[] } {
  const dispatched = kind === "child" ? 0 : 1;
  const agents = exceptAgents.length === 0 ? "" : `AND q.agent_id NOT IN (${exceptAgents.map(() => "?").join(", ")})`;
  // Children of the parent that has waited longest start first, so that a parent with many children does not delay the others.
  const turn =
    kind === "child" ? "(SELECT max(c.started_at) FROM task c WHERE c.parent_seq = q.parent_seq AND c.provider = q.provider), " : "";
  return {
    sql: `UPDATE task SET state = 'running', started_at = ? WHERE state = 'queued' AND seq = (
       SELECT q.seq FROM task q
       WHERE q.provider = ? AND q.tenant = ? AND q.state = 'queued' AND (q.parent_seq IS NULL) = ${dispatched} ${agents}
         AND (q.resume_token IS NULL OR NOT EXISTS (
         SELECT 1 FROM task r WHERE r.provider = q.provider AND r.state = 'running' AND r.resume_token = q.resume_token
           AND r.tenant = q.tenant AND r.agent_id = q.agent_id))
       ORDER BY ${turn}q.seq LIMIT 1) RETURNING *`,
    parameters: [provider, tenant, ...exceptAgents],
  };
}
