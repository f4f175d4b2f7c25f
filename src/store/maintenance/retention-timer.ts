import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "pino";
import type { MaintenanceStore } from "./interface.ts";

const HOUR_MS = 3_600_000;
/** Rows of one slice, small enough not to delay readers. */
const SLICE_ROWS = 200;

/** Deletes expired rows once an hour, in slices: tasks and events after `days`, and other rows, such as tickets, at their own expiry. */
export function createRetention({
  store,
  days,
  logger,
  everyMs = HOUR_MS,
}: {
  store: MaintenanceStore;
  days: number;
  logger: Logger;
  everyMs?: number;
}) {
  let closed = false;
  let sweeping: Promise<void> | null = null;

  async function sweep(): Promise<void> {
    let rows = 0;
    for (let deleted = -1; deleted !== 0 && !closed; rows += deleted) {
      deleted = await store.prune(days * 24 * HOUR_MS, SLICE_ROWS);
      await nextTurn();
    }
    if (rows > 0) logger.info({ rows, days }, "expired rows deleted");
  }

  function start(): void {
    sweeping ??= sweep()
      .catch((error: unknown) => logger.error({ err: error }, "failed to delete expired rows"))
      .finally(() => {
        sweeping = null;
      });
  }

  const timer = setInterval(start, everyMs);
  timer.unref();
  start();
  return {
    async close(): Promise<void> {
      closed = true;
      clearInterval(timer);
      await sweeping;
    },
  };
}
