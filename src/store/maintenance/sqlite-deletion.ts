import type { Row, SqliteDriver } from "../engines/sqlite/driver.ts";
import type { createRepositoryOperations } from "../repositories/sqlite.ts";
import type { createAgentOperations } from "../tasks/sqlite-lists.ts";
import { DELETED_TENANT, findObstacle, PURGE_SLICE, taskTables } from "./deletion.ts";
import type { DeletionOutcome, DeletionStore } from "./interface.ts";

/** The other parts of the store that deletions use. */
interface Dependencies {
  agents: Pick<ReturnType<typeof createAgentOperations>, "forgetCounts">;
  repositories: Pick<ReturnType<typeof createRepositoryOperations>, "removeOfTask">;
}

/**
 * Deletes tasks. One transaction detaches a task and its children from their tenant and removes their small rows. Their
 * events and long texts, which can be many rows, follow in slices; `prune` removes what remains after a crash.
 */
export function createDeletionOperations(driver: SqliteDriver, { agents, repositories }: Dependencies) {
  /** The task and everything below it. */
  const familyOf = (seq: number): Row[] =>
    driver.all(
      `WITH RECURSIVE family (seq) AS (SELECT ? UNION ALL SELECT t.seq FROM family f CROSS JOIN task t ON t.parent_seq = f.seq)
       SELECT t.seq, t.finished_at, c.state AS callback
       FROM family f CROSS JOIN task t ON t.seq = f.seq LEFT JOIN callback c ON c.task = t.seq`,
      seq,
    );

  function detach(seq: number): void {
    for (const table of [...taskTables, "webhook_delivery"]) driver.run(`DELETE FROM ${table} WHERE task = ?`, seq);
    repositories.removeOfTask(seq);
    driver.run(
      `UPDATE task SET tenant = ?, id = CAST(seq AS TEXT), parent_seq = NULL, parent_id = NULL, agent_id = '', provider = '', metadata = NULL,
         request = '{}', fingerprint = '', traceparent = NULL, tracestate = NULL, resume_token = NULL, result = '{}', result_gaps = NULL WHERE seq = ?`,
      DELETED_TENANT,
      seq,
    );
  }

  /** Removes rows of deleted tasks, inside an operation that is already running. Returns their number; 0 if none is left. */
  function purgeSlice(): number {
    let rows = 0;
    let bytes = 0;
    while (rows < PURGE_SLICE.rows && bytes < PURGE_SLICE.bytes) {
      const seq = driver.get("SELECT seq FROM task WHERE tenant = ? LIMIT 1", DELETED_TENANT)?.["seq"];
      if (typeof seq !== "number") break;
      const part = purgeEvents(seq) ?? purgeTexts(seq) ?? { rows: driver.run("DELETE FROM task WHERE seq = ?", seq), bytes: 0 };
      rows += part.rows;
      bytes += part.bytes;
    }
    return rows;
  }

  function purgeEvents(seq: number): Part | null {
    const { rows, bytes } = readPart("SELECT number, octet_length(data) AS bytes FROM event WHERE task = ? ORDER BY number LIMIT ?", seq);
    const last = rows.at(-1);
    if (last === undefined) return null;
    return { rows: driver.run("DELETE FROM event WHERE task = ? AND number <= ?", seq, last["number"] ?? null), bytes };
  }

  function purgeTexts(seq: number): Part | null {
    const { rows, bytes } = readPart(
      "SELECT text, number, octet_length(json) AS bytes FROM text_chunk WHERE task = ? ORDER BY text, number LIMIT ?",
      seq,
    );
    for (const { text = null, number = null } of rows)
      driver.run("DELETE FROM text_chunk WHERE task = ? AND text = ? AND number = ?", seq, text, number);
    return rows.length === 0 ? null : { rows: rows.length, bytes };
  }

  function readPart(sql: string, seq: number): { rows: Row[]; bytes: number } {
    let bytes = 0;
    const isEnough = (row: Row): boolean => {
      bytes += Number(row["bytes"]);
      return bytes >= PURGE_SLICE.bytes;
    };
    return { rows: driver.allUntil(isEnough, sql, seq, PURGE_SLICE.rows), bytes };
  }

  const operations = {
    async findFamily(tenant, taskId) {
      const seq = driver.get("SELECT seq FROM task WHERE tenant = ? AND id = ?", tenant, taskId)?.["seq"];
      return typeof seq === "number" ? familyOf(seq).map((row) => Number(row["seq"])) : [];
    },
    deleteTaskIfEnded: (tenant, taskId) =>
      driver.write((): DeletionOutcome => {
        const task = driver.get("SELECT seq, parent_seq, finished_at FROM task WHERE tenant = ? AND id = ?", tenant, taskId);
        if (task === undefined) return "absent";
        const family = familyOf(Number(task["seq"]));
        const parent = driver.get("SELECT finished_at FROM task WHERE seq = ?", task["parent_seq"] ?? null);
        const obstacle = findObstacle({ task, parent, family });
        if (obstacle !== null) return obstacle;
        for (const { seq } of family) detach(Number(seq));
        agents.forgetCounts();
        // For most tasks this removes all rows.
        purgeSlice();
        return "deleted";
      }),
    purgeDeletedTasks: () => driver.write(purgeSlice, { lazy: true }),
    isTaskKept: async (taskSeq) =>
      driver.get("SELECT 1 AS kept FROM task WHERE seq = ? AND tenant <> ?", taskSeq, DELETED_TENANT) !== undefined,
  } satisfies Partial<DeletionStore>;

  return { purgeSlice, operations };
}

interface Part {
  rows: number;
  bytes: number;
}
