import { toColumnText } from "../column-text.ts";
import type { AnyKind } from "../engines/postgres/batch-transaction.ts";
import type { BatchWriter } from "../engines/postgres/batch-writer.ts";
import type { OperationKind, Transaction } from "../engines/postgres/operation-kind.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { advisoryLocks, toStatement } from "../engines/postgres/statements.ts";
import { removeOfTasks } from "../repositories/rows.ts";
import { DELETED_TENANT, findObstacle, PURGE_SLICE } from "./deletion.ts";
import type { DeletionOutcome, DeletionStore } from "./interface.ts";

/** A task to delete. */
interface Deletion {
  tenant: string;
  taskId: string;
}

/**
 * Deletes ended tasks with their children, one by one. Detaches them from their tenant and removes their small rows. Their events and long
 * texts, which can be many rows, follow in slices.
 */
const deleteOperation: OperationKind<Deletion, DeletionOutcome> = {
  name: "delete",
  keyOf: ({ tenant, taskId }) => `${tenant}\n${taskId}`,
  isRepeatable: true,
  async run(inputs, transaction) {
    const outputs: DeletionOutcome[] = [];
    for (const input of inputs) outputs.push(await deleteTask(input, transaction));
    // For most tasks this removes all rows.
    if (outputs.includes("deleted") && (await lockRetention(transaction))) await purgeSlice(transaction);
    return outputs.map((output) => ({ output }));
  },
};

async function deleteTask({ tenant, taskId }: Deletion, transaction: Transaction): Promise<DeletionOutcome> {
  const members = (await transaction.query(lockFamily, [tenant, taskId])).map(({ seq }) => Number(seq));
  if (members.length === 0) return "absent";
  // Read after the locks, because the callback of an ended task can become pending again.
  const family = await transaction.query(selectLockedFamily, [members]);
  const task = family.find((row) => row["tenant"] === tenant && row["id"] === taskId);
  if (task === undefined) return "absent";
  const [parent] = await transaction.query(selectParent, [Number(task["seq"])]);
  const obstacle = findObstacle({ task, parent, family });
  if (obstacle !== null) return obstacle;
  for (const statement of [...deleteSmallRows, deleteRepositories]) await transaction.query(statement, [members]);
  await transaction.query(detachTasks, [members]);
  return "deleted";
}

/** Locks the task and everything below it, sorted, as a batch locks the tasks of its other operations. */
const lockFamily = {
  name: "lock_family",
  text: `WITH RECURSIVE family (seq) AS (
      SELECT seq FROM task WHERE tenant = $1 AND id = $2
      UNION ALL SELECT t.seq FROM family f JOIN task t ON t.parent_seq = f.seq)
    SELECT t.seq FROM task t WHERE t.seq = ANY (ARRAY (SELECT seq FROM family)) ORDER BY t.seq FOR NO KEY UPDATE`,
};

const selectLockedFamily = {
  name: "select_locked_family",
  text: `SELECT t.seq, t.tenant, t.id, t.finished_at, c.state AS callback FROM task t LEFT JOIN callback c ON c.task = t.seq
    WHERE t.seq = ANY ($1::bigint[])`,
};

const selectParent = {
  name: "select_parent",
  text: "SELECT p.finished_at FROM task t JOIN task p ON p.seq = t.parent_seq WHERE t.seq = $1",
};

const deleteSmallRows = ["callback_dedup", "callback", "approval", "task_label", "task_budget", "webhook_delivery"].map((table) => ({
  name: `delete_${table}`,
  text: `DELETE FROM ${table} WHERE task = ANY ($1::bigint[])`,
}));

/** Of tasks that will be deleted. */
export const deleteRepositories = { name: "delete_task_repository", text: removeOfTasks("= ANY ($1::bigint[])") };

const detachTasks = {
  name: "detach_tasks",
  text: `UPDATE task SET tenant = '${DELETED_TENANT}', id = seq::text, parent_seq = NULL, parent_id = NULL, agent_id = '', provider = '',
      metadata = NULL, request = '{}', fingerprint = '', traceparent = NULL, tracestate = NULL, resume_token = NULL, result = '{}', result_gaps = NULL,
      title = NULL, model = NULL, cost_usd = NULL, cost_source = NULL, usage = NULL, error_code = NULL, attempts = NULL, node = NULL, needs = '{}', stop_code = NULL, stop_reason = NULL
    WHERE seq = ANY ($1::bigint[])`,
};

/** Removes one slice of the rows of deleted tasks. Returns 0 if none is left, or if another node removes them. */
const purgeOperation: OperationKind<void, number> = {
  name: "purge",
  keyOf: () => "retention",
  isRepeatable: false,
  run: async (_, transaction) => [{ output: (await lockRetention(transaction)) ? await purgeSlice(transaction) : 0 }],
};

/** The writes of deletion. */
export function createDeletionWrites(writer: Pick<BatchWriter, "write">) {
  return {
    deleteTaskIfEnded: (tenant, taskId) => writer.write(deleteOperation, { tenant, taskId: toColumnText(taskId) }),
    purgeDeletedTasks: () => writer.write(purgeOperation, undefined),
  } satisfies Partial<DeletionStore>;
}

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

/** The writes of deletions, in the order in which a batch runs them. */
export const deletionKinds: readonly AnyKind[] = [deleteOperation, purgeOperation];
