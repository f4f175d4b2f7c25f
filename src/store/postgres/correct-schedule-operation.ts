import type { OperationKind } from "./operation-kind.ts";

/** The clock of the server was set back: restarts the delays of pending callbacks, which would otherwise be that much longer. */
export const correctScheduleOperation: OperationKind<void, void> = {
  name: "correct_schedule",
  keyOf: () => "schedule",
  isRepeatable: true,
  async run(inputs, transaction) {
    await transaction.query(correctSchedule, [transaction.now]);
    return inputs.map(() => ({ output: undefined }));
  },
};

/** Sorted, so that it cannot deadlock with the same correction of another node. */
const correctSchedule = {
  name: "correct_schedule",
  text: `WITH ahead AS MATERIALIZED (
      SELECT task FROM callback WHERE state = 'pending' AND updated_at > $1 ORDER BY task FOR NO KEY UPDATE)
    UPDATE callback c SET next_at = $1 + (c.next_at - c.updated_at), updated_at = $1 FROM ahead WHERE c.task = ahead.task`,
};
