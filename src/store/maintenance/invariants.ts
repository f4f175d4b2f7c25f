/** A rule that holds in every database of Bridge. Its query returns the tasks that break it; the same SQL on both engines. */
export interface Invariant {
  /** What is wrong with a task that the query returns. */
  fault: string;
  /** Selects `tenant` and `id`; of a budget, "budget" and its name. */
  sql: string;
}

const TERMINAL = "('execution.completed', 'execution.failed')";

/** Rows of deleted tasks, which have an empty tenant, are removed in the background and do not count. */
export const invariants: readonly Invariant[] = [
  {
    fault: "an ended task does not have exactly one terminal event",
    // Retention deletes the oldest events first, so after the terminal event only outcomes of callbacks can remain.
    sql: `SELECT t.tenant, t.id FROM task t
      LEFT JOIN (SELECT task, count(*) AS ends FROM event WHERE type IN ${TERMINAL} GROUP BY task) e ON e.task = t.seq
      WHERE t.finished_at IS NOT NULL AND t.tenant <> '' AND coalesce(e.ends, 0) <> 1
        AND (e.ends > 1 OR (SELECT value FROM counter WHERE name = 'pruned') = 0
          OR EXISTS (SELECT 1 FROM event x WHERE x.task = t.seq AND x.type NOT LIKE 'callback.%')) ORDER BY t.seq`,
  },
  {
    fault: "a task that has not ended has a terminal event",
    sql: `SELECT t.tenant, t.id FROM task t WHERE t.finished_at IS NULL
      AND EXISTS (SELECT 1 FROM event e WHERE e.task = t.seq AND e.type IN ${TERMINAL}) ORDER BY t.seq`,
  },
  {
    fault: "a task that has not ended has a callback",
    sql: "SELECT t.tenant, t.id FROM callback c JOIN task t ON t.seq = c.task WHERE t.finished_at IS NULL ORDER BY t.seq",
  },
  {
    fault: "an approval is pending although its task is not running",
    sql: "SELECT t.tenant, t.id FROM approval a JOIN task t ON t.seq = a.task WHERE a.state = 'pending' AND t.state <> 'running' ORDER BY t.seq",
  },
  {
    fault: "a task that does not run has reserved in a budget",
    sql: `SELECT t.tenant, t.id FROM task_budget b JOIN task t ON t.seq = b.task
      WHERE b.starts_at IS NOT NULL AND t.state <> 'running' ORDER BY t.seq`,
  },
  {
    fault: "the reservations of a budget are not those of its running tasks",
    sql: `SELECT 'budget' AS tenant, p.name AS id FROM budget_period p
      LEFT JOIN (SELECT name, starts_at, sum(reserved_micros) AS micros, sum(reserved_tokens) AS tokens FROM task_budget
        WHERE starts_at IS NOT NULL GROUP BY name, starts_at) b ON b.name = p.name AND b.starts_at = p.starts_at
      WHERE p.reserved_micros <> coalesce(b.micros, 0) OR p.reserved_tokens <> coalesce(b.tokens, 0) ORDER BY p.name, p.starts_at`,
  },
];

/** Describes the tasks that break a rule, with up to three of them. */
export function describeBroken({ fault }: Invariant, rows: readonly Readonly<Record<string, unknown>>[]): string {
  const shown = rows.slice(0, 3).map((row) => `${row["tenant"]}/${row["id"]}`);
  return `${fault}: ${shown.join(", ")}${rows.length > shown.length ? ` and ${rows.length - shown.length} more` : ""}`;
}

/** What a check of a database has found. */
export interface DatabaseReport {
  engine: "sqlite" | "postgres";
  /** The file, or the server and the database without user and password. */
  database: string;
  schemaVersion: number;
  /** The newest version that this code knows. */
  knownSchemaVersion: number;
  epoch: string | null;
  /** Null if the tables cannot be read. */
  counts: Readonly<Record<"tasks" | "events" | "callbacks" | "approvals", number>> | null;
  faults: readonly string[];
}
