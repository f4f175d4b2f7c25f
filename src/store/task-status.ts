import { toCallback } from "./callback-rows.ts";
import type { TaskStatus } from "./records.ts";
import type { StoredRow } from "./task-rows.ts";

/** The condition of events that count as progress of a task. */
export const isExecution = "type NOT LIKE 'callback.%'";

/** The status of a task from a row with the columns of its callback, which are null if it has none. `needs`: the tags that it needs. */
export const toTaskStatus = (row: StoredRow, needs: readonly string[]): TaskStatus => ({
  callback: row["url"] === null ? null : toCallback(row),
  lastProgressAt: row["last_progress_at"] as number | null,
  silentMs: row["silent_ms"] as number | null,
  isApprovalPending: Boolean(row["is_approval_pending"]),
  queued:
    row["task_state"] === "queued"
      ? { node: (row["node"] ?? null) as string | null, needs, isSessionInUse: Boolean(row["is_session_in_use"]) }
      : null,
});
