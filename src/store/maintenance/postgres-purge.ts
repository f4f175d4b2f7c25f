import { advisoryLocks } from "../engines/postgres/advisory-locks.ts";
import type { Transaction } from "../engines/postgres/operation-kind.ts";
import { DELETED_TENANT, PURGE_SLICE } from "./deletion-rules.ts";

/** Deleted tasks of one slice. Most have few rows. */
const TASKS = 100;

/**
 * Returns false at once if another transaction deletes rows of retention. Holds the lock until the transaction ends. Later
 * statements see what the previous holder has committed.
 */
export async function lockRetention(transaction: Transaction): Promise<boolean> {
  const [row] = await transaction.query(tryLock, []);
  return row?.["locked"] === true;
}

const tryLock = { name: "lock_retention", text: `SELECT pg_try_advisory_xact_lock(${advisoryLocks.retention}) AS locked` };

/** Removes rows of deleted tasks. Returns their number; 0 if none is left. The transaction holds the lock of retention. */
export async function purgeSlice(transaction: Transaction): Promise<number> {
  const seqs = (await transaction.query(selectDeleted, [])).map(({ seq }) => Number(seq));
  if (seqs.length === 0) return 0;
  let rows = 0;
  let bytes = 0;
  for (const statement of [purgeEvents, purgeTexts]) {
    const [part] = await transaction.query(statement, [seqs, PURGE_SLICE.rows - rows, PURGE_SLICE.bytes - bytes]);
    rows += Number(part?.["rows"]);
    bytes += Number(part?.["bytes"]);
    if (rows >= PURGE_SLICE.rows || bytes >= PURGE_SLICE.bytes) return rows;
  }
  return rows + (await transaction.query(purgeTasks, [seqs])).length;
}

const selectDeleted = {
  name: "select_deleted_tasks",
  text: `SELECT seq FROM task WHERE tenant = '${DELETED_TENANT}' ORDER BY seq LIMIT ${TASKS}`,
};

/** Deletes rows until they are long enough together, and returns their number and size. */
const purge = (table: string, { key, data }: { key: string; data: string }, then = ""): string =>
  `WITH part AS (
     SELECT ${key}, octet_length(${data}) AS bytes, sum(octet_length(${data})) OVER (ROWS UNBOUNDED PRECEDING) AS total
     FROM (SELECT ${key}, ${data} FROM ${table} WHERE task = ANY ($1::bigint[]) LIMIT $2) AS one),
   deleted AS (
     DELETE FROM ${table} USING part
     WHERE (${key.replace(/\w+/g, `${table}.$&`)}) = (${key.replace(/\w+/g, "part.$&")}) AND part.total - part.bytes < $3
     RETURNING part.*)${then}
   SELECT count(*) AS rows, coalesce(sum(bytes), 0)::bigint AS bytes FROM deleted`;

/** The numbers of deleted events are not used again, also if they were the last ones. */
export const raiseFloor = (numbers: string): string => `
   , floor AS (
     UPDATE counter SET value = newest.number FROM (${numbers}) AS newest (number)
     WHERE counter.name = 'event_floor' AND counter.value < newest.number)`;

const purgeEvents = {
  name: "purge_events",
  text: purge("event", { key: "number", data: "data" }, raiseFloor("SELECT max(number) FROM deleted")),
};
const purgeTexts = { name: "purge_texts", text: purge("text_chunk", { key: "task, text, number", data: "json" }) };

/** Passes over tasks that another transaction has locked, so that it cannot deadlock. */
const purgeTasks = {
  name: "purge_tasks",
  text: `WITH free AS MATERIALIZED (
      SELECT seq FROM task t WHERE seq = ANY ($1::bigint[]) AND NOT EXISTS (SELECT 1 FROM event WHERE task = t.seq)
        AND NOT EXISTS (SELECT 1 FROM text_chunk WHERE task = t.seq)
      FOR UPDATE SKIP LOCKED)
    DELETE FROM task USING free WHERE task.seq = free.seq RETURNING task.seq`,
};
