/** A timer that is this late means that Bridge itself did not run: it was stopped, or its event loop was blocked. */
const LATE_MS = 1_000;
/** Enough to read the data that arrived meanwhile, including files that are polled. */
const CATCH_UP_MS = 1_000;

/** Returns whether a timer fires so late that data which arrived in time may still be unread. `dueAt` is a time of `performance.now()`. */
export const isLate = (dueAt: number): boolean => performance.now() - dueAt > LATE_MS;

/** A running deadline, which can be canceled. */
export interface Deadline {
  cancel(): void;
}

/**
 * Calls back when the time is over. Timers run before the reads of their turn: after a pause of Bridge, answers that
 * arrived in time are read first, for one more second.
 */
export function startDeadline(onPassed: () => void, timeoutMs: number): Deadline {
  const dueAt = performance.now() + timeoutMs;
  let timer = setTimeout(() => {
    if (isLate(dueAt)) timer = setTimeout(onPassed, CATCH_UP_MS);
    else onPassed();
  }, timeoutMs);
  return { cancel: () => clearTimeout(timer) };
}
