import type { ClaimFilter } from "./interface.ts";
import { mayStartAt } from "./sqlite-waits.ts";

/** The claim of the next task at a time. `largestAsks` is what budgets allow, as JSON; null if they hold no task back. */
export function claimSql(filter: ClaimFilter, largestAsks: string | null, now: number): { sql: string; parameters: (string | number)[] } {
  const { provider, tenant, kind, exceptAgents } = filter;
  const lane = [provider, tenant];
  const owned = [...lane, ...exceptAgents, now];
  const start = (next: string): string =>
    `UPDATE task SET state = 'running', started_at = ? WHERE state = 'queued' AND seq = (${next}) RETURNING *`;
  if (largestAsks !== null)
    return { sql: start(nextInBudgets(exceptAgents)), parameters: [now, largestAsks, ...lane, ...lane, ...owned, ...owned, ...owned] };
  // Children of the parent that has waited longest start first, so that a parent with many children does not delay the others.
  const turn =
    kind === "child" ? "(SELECT max(c.started_at) FROM task c WHERE c.parent_seq = q.parent_seq AND c.provider = q.provider), " : "";
  const order = `ORDER BY ${turn}q.seq LIMIT 1`;
  return {
    sql: start(`SELECT q.seq FROM task q WHERE ${mayStart(exceptAgents)} AND ${isOfKind(kind)} ${order}`),
    parameters: [now, ...owned],
  };
}

/** Conditions for starting the task `q`, except its kind and budgets. */
const mayStart = (exceptAgents: readonly string[]): string => `q.provider = ? AND q.tenant = ? AND q.state = 'queued'
  ${exceptAgents.length === 0 ? "" : `AND q.agent_id NOT IN (${exceptAgents.map(() => "?").join(", ")})`}
  AND (q.resume_token IS NULL OR NOT EXISTS (
    SELECT 1 FROM task r WHERE r.provider = q.provider AND r.state = 'running' AND r.resume_token = q.resume_token
      AND r.tenant = q.tenant AND r.agent_id = q.agent_id))
  AND ${mayStartAt}`;

const isOfKind = (kind: ClaimFilter["kind"]): string => `(q.parent_seq IS NULL) = ${kind === "child" ? 0 : 1}`;

/** The oldest tasks that a claim compares with the budgets one by one. */
const MAX_HEAD = 100;
/** With more different needs than this in the queue, a claim compares all tasks one by one. */
const MAX_NEEDS = 500;

/**
 * The oldest dispatched task for which budgets have room. If it is not among the oldest ones, it reads the needs that occur in the queue,
 * each once, and the oldest task of those that fit, so that any number of tasks with the same needs can wait.
 */
const nextInBudgets = (exceptAgents: readonly string[]): string => `
  WITH RECURSIVE allowed (name, micros, tokens) AS MATERIALIZED (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)),
  need (rows) AS (
    SELECT (${firstNeeds} ORDER BY q.budget_needs LIMIT 1)
    UNION ALL SELECT (${firstNeeds} AND q.budget_needs > need.rows ORDER BY q.budget_needs LIMIT 1) FROM need WHERE need.rows IS NOT NULL
    LIMIT ${MAX_NEEDS + 2})
  SELECT coalesce(
    (SELECT q.seq FROM (${waiting("q.seq, q.budget_needs", exceptAgents)} ORDER BY q.seq LIMIT ${MAX_HEAD}) q
      WHERE ${fits("q.budget_needs")} ORDER BY q.seq LIMIT 1),
    CASE WHEN (SELECT count(*) FROM need WHERE need.rows IS NOT NULL) <= ${MAX_NEEDS} THEN (
      SELECT min((SELECT q.seq FROM task q
        WHERE ${mayStart(exceptAgents)} AND q.parent_seq IS NULL AND q.budget_needs = need.rows ORDER BY q.seq LIMIT 1))
      FROM need WHERE need.rows IS NOT NULL AND ${fits("need.rows")})
    ELSE (${waiting("q.seq", exceptAgents)} AND ${fits("q.budget_needs")} ORDER BY q.seq LIMIT 1) END)`;

const firstNeeds =
  "SELECT q.budget_needs FROM task q WHERE q.provider = ? AND q.tenant = ? AND q.state = 'queued' AND q.parent_seq IS NULL";

const waiting = (columns: string, exceptAgents: readonly string[]): string =>
  `SELECT ${columns} FROM task q WHERE ${mayStart(exceptAgents)} AND ${isOfKind("dispatched")}`;

const fits = (needs: string): string => `NOT EXISTS (
  SELECT 1 FROM json_each(${needs}) one JOIN allowed ON allowed.name = one.value ->> 0
  WHERE one.value ->> 1 > allowed.micros OR one.value ->> 2 > allowed.tokens)`;
