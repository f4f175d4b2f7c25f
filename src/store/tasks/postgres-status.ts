import type { Reader } from "../engines/postgres/reader-pool.ts";
import { toStatement } from "../engines/postgres/to-statement.ts";
import { isExecution } from "../events/rows.ts";
import { callbackColumns } from "../posts/callback-rows.ts";
import type { TaskStore } from "./interface.ts";
import { isSessionInUse } from "./rows.ts";
import { toTaskStatus } from "./status.ts";

/** Reads what tasks wait for and how far they are. */
export function createTaskStatusReads(reader: Reader) {
  return {
    async readTaskStatuses(taskSeqs) {
      if (taskSeqs.length === 0) return new Map();
      const rows = await reader.all(selectStatuses, [...taskSeqs]);
      return new Map(rows.map((row) => [Number(row["seq"]), toTaskStatus(row, row["needs"] as unknown as string[])]));
    },
  } satisfies Partial<TaskStore>;
}

const selectStatuses = toStatement(
  `SELECT ${callbackColumns}, t.state AS task_state, t.created_at, t.callback_url, t.node, t.needs, newest.at AS last_progress_at,
     floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - greatest(newest.at, t.started_at) AS silent_ms,
     EXISTS (SELECT 1 FROM approval a WHERE a.task = t.seq AND a.state = 'pending') AS is_approval_pending,
     (SELECT count(*) FROM task child WHERE child.parent_seq = t.seq) AS child_count,
     q.seq IS NOT NULL AND ${isSessionInUse} AS is_session_in_use
   FROM unnest($1::bigint[]) AS given (seq) JOIN task t ON t.seq = given.seq
   LEFT JOIN callback c ON c.task = t.seq LEFT JOIN task q ON q.seq = t.seq AND q.state = 'queued'
   LEFT JOIN LATERAL (SELECT e.at FROM event e WHERE e.task = t.seq AND ${isExecution} ORDER BY e.number DESC LIMIT 1) AS newest ON true`,
);
