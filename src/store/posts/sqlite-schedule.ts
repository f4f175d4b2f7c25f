import type { SqliteDriver } from "../engines/sqlite/driver.ts";
import { createSetBackDetector } from "./set-back-detector.ts";

/** The clock, as the schedules of callbacks and webhooks use it. */
export interface CallbackSchedule {
  /** Notes the time of a write, and returns it. */
  track(now: number): number;
  /** Reads the clock. If it was set back, restarts the delays of pending posts, which would otherwise be that much longer. */
  correct(): Promise<number>;
}

/** Creates the schedule of the posts in a database. */
export function createCallbackSchedule(driver: Pick<SqliteDriver, "write" | "run">, clock: () => number): CallbackSchedule {
  const { track, takeSetBack } = createSetBackDetector();
  return {
    track,
    async correct() {
      const now = track(clock());
      if (!takeSetBack()) return now;
      const restart = (table: string): number =>
        driver.run(
          `UPDATE ${table} SET next_at = ? + (next_at - updated_at), updated_at = ? WHERE state = 'pending' AND updated_at > ?`,
          now,
          now,
          now,
        );
      await driver.write(() => restart("callback") + restart("webhook_delivery"), { lazy: true, patient: true });
      return now;
    },
  };
}
