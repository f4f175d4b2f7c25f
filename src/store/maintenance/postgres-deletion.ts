import { toColumnText } from "../column-text.ts";
import type { BatchWriter } from "../engines/postgres/batch-writer.ts";
import type { OperationKind, Transaction } from "../engines/postgres/operation-kind.ts";
import { DELETED_TENANT, findObstacle } from "./deletion-rules.ts";
import type { DeletionOutcome, DeletionStore } from "./interface.ts";
import { lockRetention, purgeSlice } from "./postgres-purge.ts";

/** A task to delete. */
interface Deletion {
  tenant: string;
  taskId: string;
}

/**
 * Deletes ended tasks with their children, one by one. Detaches them from their tenant and removes their small rows. Their events and long
 * texts, which can be many rows, follow in slices.
 */
export const deleteOperation: OperationKind<Deletion, DeletionOutcome> = {
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
  const family = await transaction.query(selectFamily, [members]);
  const task = family.find((row) => row["tenant"] === tenant && row["id"] === taskId);
  if (task === undefined) return "absent";
  const [parent] = await transaction.query(selectParent, [Number(task["seq"])]);
  const obstacle = findObstacle({ task, parent, family });
  if (obstacle !== null) return obstacle;
  for (const statement of deleteSmallRows) await transaction.query(statement, [members]);
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

const selectFamily = {
  name: "select_locked_family",
  text: `SELECT t.seq, t.tenant, t.id, t.finished_at, c.state AS callback FROM task t LEFT JOIN callback c ON c.task = t.seq
    WHERE t.seq = ANY ($1::bigint[])`,
};

const selectParent = {
  name: "select_parent",
  text: "SELECT p.finished_at FROM task t JOIN task p ON p.seq = t.parent_seq WHERE t.seq = $1",
};

const deleteSmallRows = ["callback_dedup", "callback", "approval", "task_label", "webhook_delivery"].map((table) => ({
  name: `delete_${table}`,
  text: `DELETE FROM ${table} WHERE task = ANY ($1::bigint[])`,
}));

const detachTasks = {
  name: "detach_tasks",
  text: `UPDATE task SET tenant = '${DELETED_TENANT}', id = seq::text, parent_seq = NULL, parent_id = NULL, agent_id = '', provider = '',
      metadata = NULL, request = '{}', fingerprint = '', traceparent = NULL, tracestate = NULL, resume_token = NULL, result = '{}', result_gaps = NULL,
      title = NULL, model = NULL, cost_usd = NULL, usage = NULL, error_code = NULL, node = NULL, needs = '{}', stop_code = NULL, stop_reason = NULL
    WHERE seq = ANY ($1::bigint[])`,
};

/** Removes one slice of the rows of deleted tasks. Returns 0 if none is left, or if another node removes them. */
export const purgeOperation: OperationKind<void, number> = {
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
