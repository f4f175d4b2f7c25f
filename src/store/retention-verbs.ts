import type { SqliteDriver } from "./sqlite-driver.ts";
import type { Store } from "./store.ts";

/** Deletes what is old, slice by slice, so that no reader waits for it. */
export function createRetentionVerbs(driver: SqliteDriver, clock: () => number) {
  /**
   * The oldest events go first and only in one piece, so what is kept never has a hole. It ends before the first event
   * that is young, or whose task is still under way or still owes its callback.
   */
  function pruneEvents(before: number, limit: number): number {
    const rows = driver.all(
      `SELECT e.number, (e.at < ? AND t.finished_at < ? AND coalesce(c.state, '') <> 'pending') AS old
       FROM event e CROSS JOIN task t ON t.seq = e.task LEFT JOIN callback c ON c.task = e.task ORDER BY e.number LIMIT ?`,
      before,
      before,
      limit,
    );
    const young = rows.findIndex((row) => row["old"] !== 1);
    const last = rows[(young === -1 ? rows.length : young) - 1];
    return last === undefined ? 0 : driver.run("DELETE FROM event WHERE number <= ?", Number(last["number"]));
  }

  function pruneTasks(before: number, limit: number): number {
    const rows = driver.all(
      "SELECT seq FROM task t WHERE t.finished_at < ? AND NOT EXISTS (SELECT 1 FROM event e WHERE e.task = t.seq) ORDER BY t.finished_at LIMIT ?",
      before,
      limit,
    );
    for (const row of rows) {
      const seq = Number(row["seq"]);
      for (const table of ["callback_dedup", "callback", "approval"]) driver.run(`DELETE FROM ${table} WHERE task = ?`, seq);
      driver.run("DELETE FROM task WHERE seq = ?", seq);
    }
    return rows.length;
  }

  return {
    prune: (olderThanMs, limit) =>
      driver.write(
        () => {
          const before = clock() - olderThanMs;
          const tokens = driver.run("DELETE FROM resume_token WHERE used_at < ?", before);
          return pruneEvents(before, limit) + pruneTasks(before, limit) + tokens;
        },
        { lazy: true },
      ),
  } satisfies Partial<Store>;
}
