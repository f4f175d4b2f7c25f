import type { Reader } from "../engines/postgres/reader-pool.ts";
import { toStatement } from "../engines/postgres/to-statement.ts";
import type { DeletionStore } from "./interface.ts";

/** Reads which tasks a deletion concerns. */
export function createDeletionReads(reader: Reader) {
  return {
    findFamily: async (tenant, taskId) => (await reader.all(selectFamily, tenant, taskId)).map((row) => Number(row["seq"])),
    isTaskKept: async (taskSeq) => (await reader.get(selectKept, taskSeq)) !== undefined,
  } satisfies Partial<DeletionStore>;
}

/** The task and everything below it. */
const selectFamily = toStatement(
  `WITH RECURSIVE family (seq) AS (
     SELECT seq FROM task WHERE tenant = $1 AND id = $2
     UNION ALL SELECT t.seq FROM family f JOIN task t ON t.parent_seq = f.seq)
   SELECT seq FROM family ORDER BY seq`,
);
const selectKept = toStatement("SELECT 1 AS kept FROM task WHERE seq = $1 AND tenant <> ''");
