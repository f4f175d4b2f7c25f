import type { CallLimit } from "../model-api/call-limit.ts";

/** How long a program may wait for the end of a limit. Some wait for hours if the vendor names such a time. */
const MAX_WAIT_MS = 60_000;
/** A program that has nothing to do at this number of checks in a row waits. The others end their turn by themselves. */
const IDLE_CHECKS = 2;
const CHECK_EVERY_MS = 5_000;

interface LimitWatchOptions {
  /** The limit that rejected the last call of the model; null if a later call was answered. */
  lastLimit(): CallLimit | null;
  /** Whether the program calls its model or runs a tool. */
  isBusy(): boolean;
}

/**
 * Creates the watch of one task. `signal` is aborted when the program waits for the end of a limit that is further away than a program may
 * wait, so that the task can continue elsewhere.
 */
export function createLimitWatch({ lastLimit, isBusy }: LimitWatchOptions) {
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;

  function check(idleChecks: number): void {
    const limit = lastLimit();
    if (limit?.resetsAt == null || limit.resetsAt - Date.now() <= MAX_WAIT_MS) return;
    const idle = isBusy() ? 0 : idleChecks + 1;
    if (idle === IDLE_CHECKS) stop.abort();
    else timer = setTimeout(check, CHECK_EVERY_MS, idle);
  }

  return {
    signal: stop.signal,
    /** Call it when the vendor has rejected a call. */
    start(): void {
      clearTimeout(timer);
      timer = setTimeout(check, CHECK_EVERY_MS, 0);
    },
    close: (): void => clearTimeout(timer),
  };
}
