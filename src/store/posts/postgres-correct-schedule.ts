import type { OperationKind } from "../engines/postgres/operation-kind.ts";

/** The clock of the server was set back: restarts the delays of pending posts, which would otherwise be that much longer. */
export const correctScheduleOperation: OperationKind<void, void> = {
  name: "correct_schedule",
  keyOf: () => "schedule",
  isRepeatable: true,
  async run(inputs, transaction) {
    for (const statement of correctSchedules) await transaction.query(statement, [transaction.now]);
    return inputs.map(() => ({ output: undefined }));
  },
};

/** Sorted, so that it cannot deadlock with the same correction of another node. */
const correctSchedules = [
  { table: "callback", key: "task" },
  { table: "webhook_delivery", key: "seq" },
].map(({ table, key }) => ({
  name: `correct_schedule_of_${table}`,
  text: `WITH ahead AS MATERIALIZED (
      SELECT ${key} FROM ${table} WHERE state = 'pending' AND updated_at > $1 ORDER BY ${key} FOR NO KEY UPDATE)
    UPDATE ${table} p SET next_at = $1 + (p.next_at - p.updated_at), updated_at = $1 FROM ahead WHERE p.${key} = ahead.${key}`,
}));
