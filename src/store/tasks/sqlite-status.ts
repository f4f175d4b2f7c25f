import type { Row, SqliteDriver } from "../engines/sqlite/driver.ts";
import { isExecution } from "../events/rows.ts";
import { callbackColumns } from "../posts/callback-rows.ts";
import type { TaskStore } from "./interface.ts";
import { isSessionInUse } from "./rows.ts";
import { toTaskStatus } from "./status.ts";

/** Reads what tasks wait for and how far they are. */
export function createTaskStatusOperations(driver: SqliteDriver, clock: () => number) {
  return {
    async readTaskStatuses(taskSeqs) {
      const now = clock();
      const rows = taskSeqs.map((seq) => driver.get(selectStatus, now, seq)).filter((row): row is Row => row !== undefined);
      return new Map(rows.map((row) => [Number(row["seq"]), toTaskStatus(row, [])]));
    },
  } satisfies Partial<TaskStore>;
}

const selectStatus = `SELECT ${callbackColumns}, q.state AS task_state, q.created_at, s.callback_url, newest.at AS last_progress_at,
    ? - max(coalesce(newest.at, q.started_at), q.started_at) AS silent_ms,
    EXISTS (SELECT 1 FROM approval a WHERE a.task = q.seq AND a.state = 'pending') AS is_approval_pending,
    (SELECT count(*) FROM task child WHERE child.parent_seq = q.seq) AS child_count,
    q.state = 'queued' AND ${isSessionInUse} AS is_session_in_use
  FROM task q JOIN task t ON t.seq = q.seq LEFT JOIN callback c ON c.task = q.seq LEFT JOIN task_summary s ON s.task = q.seq
  LEFT JOIN event newest ON newest.number = (
    SELECT number FROM event WHERE task = q.seq AND ${isExecution} ORDER BY number DESC LIMIT 1)
  WHERE q.seq = ?`;
