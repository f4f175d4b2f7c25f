import type { BudgetAsk } from "../budgets/interface.ts";
import { toCallback } from "../posts/callback-rows.ts";
import type { Callback } from "../posts/interface.ts";
import { toTaskRepository } from "../repositories/rows.ts";
import type { TaskStatus } from "./interface.ts";
import { type StoredRow, toTaskIdentity } from "./rows.ts";

/** The status of a task from a row with the columns of its callback, which are null if it has none. `needs`: the tags that it needs. */
export const toTaskStatus = (row: StoredRow, needs: readonly string[]): TaskStatus => ({
  callback: row["url"] === null ? toUnstoredCallback(row) : toCallback(row),
  lastProgressAt: row["last_progress_at"] as number | null,
  silentMs: row["silent_ms"] as number | null,
  isApprovalPending: Boolean(row["is_approval_pending"]),
  childCount: Number(row["child_count"]),
  queued:
    row["task_state"] === "queued"
      ? {
          ...{ node: (row["node"] ?? null) as string | null, needs, isSessionInUse: Boolean(row["is_session_in_use"]) },
          isPostponed: Boolean(row["is_postponed"]),
          budgets: toAsks(row["budgets"]),
        }
      : null,
  repository: toTaskRepository(row),
});

/** What a queued task needs of budgets, as rows of name, cost and tokens in JSON; null if none applies. */
const toAsks = (needs: unknown): BudgetAsk[] =>
  (JSON.parse(String(needs ?? "[]")) as [string, number | null, number | null][]).map(([name, askMicros, askTokens]) => ({
    ...{ name, askMicros, askTokens },
  }));

/** The callback of a task that has not ended; null if the task has no callback URL. Its row is stored when the task ends. */
function toUnstoredCallback(row: StoredRow): Callback | null {
  if (row["callback_url"] === null || (row["task_state"] !== "queued" && row["task_state"] !== "running")) return null;
  return {
    ...{ task: toTaskIdentity(row), url: String(row["callback_url"]), state: "pending", attempts: 0 },
    ...{ nextAttemptAt: null, lastStatus: null, lastError: null, updatedAt: Number(row["created_at"]) },
  };
}
