import type { BatchWriter } from "../engines/postgres/batch-writer.ts";
import { correctScheduleOperation } from "./postgres-correct-schedule.ts";
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
