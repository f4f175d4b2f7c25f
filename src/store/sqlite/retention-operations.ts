import type { Store } from "../store.ts";
import type { createAgentOperations } from "./agent-operations.ts";
import type { createDeletionOperations } from "./deletion-operations.ts";
import type { SqliteDriver } from "./sqlite-driver.ts";

/** Approximate size of the event data that one slice deletes. */
const SLICE_BYTES = 1024 * 1024;

/** Approximate size of the tasks that one slice deletes, which takes about 5 ms. A single task is deleted at once. */
const TASK_SLICE_BYTES = 16 * 1024 * 1024;

/** Rows older than `before` are deleted. Rows newer than `now` were stored while the system clock was ahead. */
interface Age {
  now: number;
  before: number;
}

/** The other parts of the store that retention uses. */
interface Dependencies {
  deletions: Pick<ReturnType<typeof createDeletionOperations>, "purgeSlice">;
  agents: Pick<ReturnType<typeof createAgentOperations>, "forgetCounts">;
  clock: () => number;
}

/** Deletes expired rows slice by slice, so that no reader waits for it. */
export function createRetentionOperations(driver: SqliteDriver, { deletions, agents, clock }: Dependencies) {
  /**
   * Deletes the oldest events as one contiguous range, so retention leaves no gap in the log. The range ends before the first event
   * that has not expired, whose task has not ended, or whose callback is pending.
   */
  function pruneEvents({ now, before }: Age, limit: number): number {
    const rows = driver.all(
      `SELECT e.number, octet_length(e.data) AS bytes, e.at > ? AS ahead,
         ((e.at < ? OR e.at > ?) AND (t.finished_at < ? OR t.finished_at > ?) AND coalesce(c.state, '') <> 'pending') AS old
       FROM event e CROSS JOIN task t ON t.seq = e.task LEFT JOIN callback c ON c.task = e.task ORDER BY e.number LIMIT ?`,
      now,
      before,
      now,
      before,
      now,
      limit,
    );
    let next: { number: number; old: boolean } | undefined;
    /** The system clock was ahead when the event was stored. The event counts as old if the next event with a time in the past is old. */
    function isOldByNext(number: number): boolean {
      if (next === undefined || next.number <= number) {
        const row = driver.get(
          "SELECT number, at < ? AS old FROM event WHERE number > ? AND at <= ? ORDER BY number LIMIT 1",
          before,
          number,
          now,
        );
        next =
          row === undefined ? { number: Number.POSITIVE_INFINITY, old: false } : { number: Number(row["number"]), old: row["old"] === 1 };
      }
      return next.old;
    }
    const firstKept = rows.findIndex((row) => row["old"] !== 1 || (row["ahead"] === 1 && !isOldByNext(Number(row["number"]))));
    let bytes = 0;
    const expired = rows.slice(0, firstKept === -1 ? rows.length : firstKept);
    const last =
      expired.find((row) => {
        bytes += Number(row["bytes"]);
        return bytes >= SLICE_BYTES;
      }) ?? expired.at(-1);
    if (last === undefined) return 0;
    const through = Number(last["number"]);
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
      for (const table of ["callback_dedup", "callback", "approval", "text_chunk"]) driver.run(`DELETE FROM ${table} WHERE task = ?`, seq);
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
          return pruneEvents(age, limit) + pruneTasks(age, limit) + tokens;
        },
        { lazy: true },
      ),
  } satisfies Partial<Store>;
}
