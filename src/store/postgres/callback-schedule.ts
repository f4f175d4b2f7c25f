import { createSetBackDetector } from "../set-back-detector.ts";
import type { BatchWriter } from "./batch-writer.ts";
import { correctScheduleOperation } from "./correct-schedule-operation.ts";

/** The clock of the server, as the schedule of callbacks uses it. */
export interface CallbackSchedule {
  /** Notes the time of a write. */
  track(now: number): void;
  /** Reads the clock. If it was set back, first restarts the delays of pending callbacks. */
  correct(): Promise<number>;
}

/** Creates the schedule; `readClock` returns the time of the server in ms since the epoch. */
export function createCallbackSchedule(writer: Pick<BatchWriter, "write">, readClock: () => Promise<number>): CallbackSchedule {
  const detector = createSetBackDetector();
  return {
    track: (now) => void detector.track(now),
    async correct() {
      const now = detector.track(await readClock());
      if (detector.takeSetBack()) await writer.write(correctScheduleOperation, undefined, { patient: true });
      return now;
    },
  };
}
