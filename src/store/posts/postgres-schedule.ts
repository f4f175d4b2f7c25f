import type { BatchWriter } from "../engines/postgres/batch-writer.ts";
import type { OperationKind } from "../engines/postgres/operation-kind.ts";
import { createSetBackDetector } from "./set-back-detector.ts";

/** The clock of the server, as the schedules of callbacks and webhooks use it. */
export interface CallbackSchedule {
  /** Notes the time of a write, which the server was asked for at `askedAt`, by the monotonic clock. */
  track(now: number, askedAt: number): void;
  /** Reads the clock. If it was set back, first restarts the delays of pending posts. */
  correct(): Promise<number>;
}

/** Creates the schedule; `readClock` returns the time of the server in ms since the epoch. */
export function createCallbackSchedule(writer: Pick<BatchWriter, "write">, readClock: () => Promise<number>): CallbackSchedule {
  const detector = createSetBackDetector();
  /** When the last time arrived that was compared, by the monotonic clock. */
  let answeredAt = Number.NEGATIVE_INFINITY;

  /** Several connections ask for the time, so an earlier one can arrive later. Only a time that was asked for later is compared. */
  function track(now: number, askedAt: number): void {
    if (askedAt < answeredAt) return;
    answeredAt = performance.now();
    detector.track(now);
  }

  return {
    track,
    async correct() {
      const askedAt = performance.now();
      const now = await readClock();
      track(now, askedAt);
      if (detector.takeSetBack()) await writer.write(correctScheduleOperation, undefined, { patient: true });
      return now;
    },
  };
}

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
