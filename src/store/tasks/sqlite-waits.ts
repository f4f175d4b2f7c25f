import type { Spent, Task, TaskIdentity, TaskRun } from "../../task.ts";
import type { createApprovalOperations } from "../approvals/sqlite.ts";
import { toSpentTotal } from "../budgets/rows.ts";
import type { createBudgetOperations } from "../budgets/sqlite.ts";
import type { SqliteDriver } from "../engines/sqlite/driver.ts";
import type { createEventOperations } from "../events/sqlite.ts";
import type { TaskStore } from "./interface.ts";
import { isUnknown, toSpentSummary } from "./rows.ts";

interface Dependencies {
  events: ReturnType<typeof createEventOperations>;
  approvals: Pick<ReturnType<typeof createApprovalOperations>, "rejectAll">;
  budgets: ReturnType<typeof createBudgetOperations>;
  clock: () => number;
}

/** Whether the queued task `q` may start at the time that is the parameter. */
export const mayStartAt = "NOT EXISTS (SELECT 1 FROM task_wait w WHERE w.task = q.seq AND w.start_after > ?)";

/** The statement that stores what a task has spent so far, with its parameters. */
export function updateSpent({ seq }: TaskIdentity, spent: Spent): [string, ...(string | number | null)[]] {
  const { cost_usd, cost_source, usage } = toSpentSummary(spent);
  return ["UPDATE task_summary SET cost_usd = ?, cost_source = ?, usage = ? WHERE task = ?", cost_usd, cost_source, usage, seq];
}

/** Returns whether a limit has returned a task to the queue, so that its start is in the log already. */
export const hasStartedBefore = (driver: SqliteDriver, { seq, request }: Pick<Task, "seq" | "request">): boolean =>
  request.whenLimited === "wait" && driver.get("SELECT 1 AS waited FROM task_wait WHERE task = ?", seq) !== undefined;

/** Creates the operations of tasks that wait for a time. */
export function createWaits(driver: SqliteDriver, { events, approvals, budgets, clock }: Dependencies) {
  /** Stores until when the task waits; false if that is too long. */
  function keepWait({ seq }: TaskRun, { startAfter, maxWaitMs, now }: { startAfter: number; maxWaitMs: number; now: number }): boolean {
    const since = Number(driver.get("SELECT since FROM task_wait WHERE task = ?", seq)?.["since"] ?? now);
    if (startAfter > since + maxWaitMs) return false;
    driver.run(
      "INSERT INTO task_wait (task, start_after, since) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET start_after = excluded.start_after",
      ...[seq, startAfter, since],
    );
    return true;
  }

  return {
    async postponeTaskIfRunning(task, { startAfter, maxWaitMs, reason, spent, event }) {
      const isPostponed = await driver.write(
        () => {
          const now = clock();
          if (driver.get(selectPostponable, task.seq, task.restarts) === undefined) return false;
          if (!keepWait(task, { startAfter, maxWaitMs, now })) return false;
          driver.run("UPDATE task SET state = 'queued', started_at = NULL WHERE seq = ?", task.seq);
          if (!isUnknown(spent)) driver.run(...updateSpent(task, spent));
          approvals.rejectAll(task, reason, now);
          for (const warning of budgets.reservations.release(task, toSpentTotal(spent))) events.append(task, warning, now);
          events.append(task, event, now);
          return true;
        },
        { patient: true },
      );
      if (isPostponed) {
        events.toolCalls.forget(task);
        budgets.announceEnd(task, { isQueued: true });
      }
      return isPostponed;
    },
    async findNextStart(now) {
      const row = driver.get(selectNextStart, now);
      return (row?.["at"] ?? null) as number | null;
    },
  } satisfies Partial<TaskStore>;
}

const selectPostponable = `SELECT 1 AS running FROM task WHERE seq = ? AND state = 'running' AND restarts = ?
  AND NOT EXISTS (SELECT 1 FROM stop_request r WHERE r.task = seq)`;
const selectNextStart = `SELECT min(w.start_after) AS at FROM task_wait w JOIN task t ON t.seq = w.task
  WHERE t.state = 'queued' AND w.start_after > ?`;
