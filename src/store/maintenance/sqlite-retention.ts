import type { createSessionOperations, createTicketOperations } from "../access/sqlite.ts";
import type { createBudgetOperations } from "../budgets/sqlite.ts";
import type { Row, SqliteDriver } from "../engines/sqlite/driver.ts";
import type { createWebhookOperations } from "../posts/sqlite-webhooks.ts";
import type { createRepositoryOperations } from "../repositories/sqlite.ts";
import type { createAgentOperations } from "../tasks/sqlite-lists.ts";
import type { createUsageOperations } from "../usage/sqlite.ts";
import { taskTables } from "./deletion.ts";
import type { MaintenanceStore } from "./interface.ts";
import { type Age, findRangeEnd, type OldestEvent, TASK_SLICE_BYTES } from "./retention-range.ts";
import type { createDeletionOperations } from "./sqlite-deletion.ts";

/** The other parts of the store that retention uses. */
interface Dependencies {
  deletions: Pick<ReturnType<typeof createDeletionOperations>, "purgeSlice">;
  agents: Pick<ReturnType<typeof createAgentOperations>, "forgetCounts">;
  tickets: Pick<ReturnType<typeof createTicketOperations>, "removeExpired">;
  sessions: Pick<ReturnType<typeof createSessionOperations>, "removeExpired">;
  webhooks: Pick<ReturnType<typeof createWebhookOperations>, "prune">;
  usage: Pick<ReturnType<typeof createUsageOperations>, "removeExpired">;
  budgets: Pick<ReturnType<typeof createBudgetOperations>, "removeExpired">;
  repositories: Pick<ReturnType<typeof createRepositoryOperations>, "removeOfTask" | "removeExpired">;
  clock: () => number;
}

/** Deletes expired rows slice by slice, so that no reader waits for it. */
export function createRetentionOperations(
  driver: SqliteDriver,
  { deletions, agents, tickets, sessions, webhooks, usage, budgets, repositories, clock }: Dependencies,
) {
  /** Deletes the oldest events. */
  function pruneEvents(age: Age, limit: number): number {
    const { now, before } = age;
    const rows = driver.all(
      `SELECT e.number, e.at, octet_length(e.data) AS bytes,
         ((t.finished_at < ? OR t.finished_at > ?) AND coalesce(c.state, '') <> 'pending') AS released
       FROM event e CROSS JOIN task t ON t.seq = e.task LEFT JOIN callback c ON c.task = e.task ORDER BY e.number LIMIT ?`,
      before,
      now,
      limit,
    );
    const events = rows.map(toOldestEvent);
    const through = findRangeEnd(events, age, () => {
      const next = "SELECT at FROM event WHERE number > ? AND at <= ? ORDER BY number LIMIT 1";
      const at = driver.get(next, events.at(-1)?.number ?? 0, now)?.["at"];
      return typeof at === "number" && at < before;
    });
    if (through === null) return 0;
    // The result of a task that is still kept may be read from its text events.
    driver.run(
      `INSERT INTO text_chunk (task, text, number, json) SELECT e.task, 0, e.number, e.data FROM event e
       WHERE e.number <= ? AND e.type = 'assistant.text' AND e.task IN (
         SELECT t.seq FROM task t WHERE t.result_gaps LIKE '%"events"%' AND t.seq IN (SELECT task FROM event WHERE number <= ?))`,
      through,
      through,
    );
    driver.run("UPDATE counter SET value = ? WHERE name = 'pruned'", through);
    return driver.run("DELETE FROM event WHERE number <= ?", through);
  }

  /** Deletes ended tasks without events: their events have expired. The rows are not sorted, which would read all such tasks per slice. */
  function pruneTasks({ now, before }: Age, limit: number): number {
    let bytes = 0;
    const rows = driver.allUntil(
      (row) => {
        bytes += Number(row["bytes"]);
        return bytes >= TASK_SLICE_BYTES;
      },
      `SELECT seq, octet_length(t.request) + octet_length(t.result) + coalesce(octet_length(c.body), 0)
           + (SELECT coalesce(sum(octet_length(x.json)), 0) FROM text_chunk x WHERE x.task = t.seq) AS bytes
         FROM task t LEFT JOIN callback c ON c.task = t.seq
         WHERE (t.finished_at < ? OR t.finished_at > ?) AND NOT EXISTS (SELECT 1 FROM event e WHERE e.task = t.seq) LIMIT ?`,
      before,
      now,
      limit,
    );
    for (const row of rows) {
      const seq = Number(row["seq"]);
      for (const table of [...taskTables, "text_chunk"]) driver.run(`DELETE FROM ${table} WHERE task = ?`, seq);
      repositories.removeOfTask(seq);
      driver.run("DELETE FROM task WHERE seq = ?", seq);
    }
    if (rows.length > 0) agents.forgetCounts();
    return rows.length;
  }

  return {
    prune: (olderThanMs, limit) =>
      driver.write(
        () => {
          // The rest of a deletion that a crash has interrupted.
          const purged = deletions.purgeSlice();
          if (purged > 0) return purged;
          const now = clock();
          const age = { now, before: now - olderThanMs };
          const tokens = driver.run("DELETE FROM resume_token WHERE used_at < ?", age.before);
          const expiring = [tickets, sessions, usage, budgets, repositories];
          const others = expiring.reduce((removed, part) => removed + part.removeExpired(now), webhooks.prune(age.before, limit));
          return pruneEvents(age, limit) + pruneTasks(age, limit) + tokens + others;
        },
        { lazy: true },
      ),
  } satisfies Partial<MaintenanceStore>;
}

const toOldestEvent = (row: Row): OldestEvent => ({
  number: Number(row["number"]),
  at: Number(row["at"]),
  bytes: Number(row["bytes"]),
  isReleased: row["released"] === 1,
});
