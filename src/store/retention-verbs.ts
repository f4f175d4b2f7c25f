import type { SqliteDriver } from "./sqlite-driver.ts";
import type { Store } from "./store.ts";

/** How much data of events one slice deletes, give or take one event. */
const SLICE_BYTES = 1024 * 1024;

/** Deletes what is old, slice by slice, so that no reader waits for it. */
export function createRetentionVerbs(driver: SqliteDriver, clock: () => number) {
  /**
   * The oldest events go first and only in one piece, so what is kept never has a hole. It ends before the first event
   * that is young, or whose task is still under way or still owes its callback.
   */
  function pruneEvents(before: number, limit: number): number {
    const rows = driver.all(
      `SELECT e.number, octet_length(e.data) AS bytes, (e.at < ? AND t.finished_at < ? AND coalesce(c.state, '') <> 'pending') AS old
       FROM event e CROSS JOIN task t ON t.seq = e.task LEFT JOIN callback c ON c.task = e.task ORDER BY e.number LIMIT ?`,
      before,
      before,
      limit,
    );
    const young = rows.findIndex((row) => row["old"] !== 1);
    let bytes = 0;
    const old = rows.slice(0, young === -1 ? rows.length : young);
    const last =
      old.find((row) => {
        bytes += Number(row["bytes"]);
        return bytes >= SLICE_BYTES;
      }) ?? old.at(-1);
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
    return driver.run("DELETE FROM event WHERE number <= ?", through);
  }

  function pruneTasks(before: number, limit: number): number {
    const rows = driver.all(
      "SELECT seq FROM task t WHERE t.finished_at < ? AND NOT EXISTS (SELECT 1 FROM event e WHERE e.task = t.seq) ORDER BY t.finished_at LIMIT ?",
      before,
      limit,
    );
    for (const row of rows) {
      const seq = Number(row["seq"]);
      for (const table of ["callback_dedup", "callback", "approval", "text_chunk"]) driver.run(`DELETE FROM ${table} WHERE task = ?`, seq);
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
