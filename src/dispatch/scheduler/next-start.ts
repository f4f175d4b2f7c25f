import type { Logger } from "pino";
import type { Store } from "../../store/store.ts";

interface NextStartOptions {
  store: Pick<Store, "findNextStart">;
  logger: Logger;
  /** Called when postponed tasks may start. */
  onDue(): void;
}

/** How often the clock is compared with the time of a start, because it may be set, and how soon a failed read is repeated. */
const CHECK_MS = 60_000;

/** Creates the timer of tasks that wait for a time, and starts it. It does not keep the process alive. */
export function createNextStart({ store, logger, onDue }: NextStartOptions) {
  let timer: NodeJS.Timeout | undefined;

  async function schedule(): Promise<void> {
    try {
      const at = await store.findNextStart(Date.now());
      if (at !== null) wakeIn(Math.max(0, at - Date.now()));
    } catch (err) {
      logger.error({ err }, "failed to read when the next postponed task may start");
      wakeIn(CHECK_MS);
    }
  }

  function wakeIn(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(wake, Math.min(ms, CHECK_MS));
    timer.unref();
  }

  function wake(): void {
    onDue();
    void schedule();
  }

  void schedule();
  return {
    /** Waits for the next start. Call it after each postponement. Never rejects. */
    schedule,
  };
}
