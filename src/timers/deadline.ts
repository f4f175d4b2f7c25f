/** A timer that is this late means that Bridge itself did not run: it was stopped, or its event loop was blocked. */
const LATE_MS = 1_000;
/** Time to read the data that arrived in the meantime, including files that are polled. */
const CATCH_UP_MS = 1_000;

/** Returns whether a timer fires so late that data which arrived in time may still be unread. `dueAt` is a time of `performance.now()`. */
export const isLate = (dueAt: number): boolean => performance.now() - dueAt > LATE_MS;

/** A running deadline, which can be canceled. */
export interface Deadline {
  cancel(): void;
}

/**
 * Calls `onPassed` after `timeoutMs`. The event loop runs timers before it reads data, so after a pause of Bridge the
 * call comes one second later, when answers that arrived in time have been read.
 */
export function startDeadline(onPassed: () => void, timeoutMs: number): Deadline {
  const dueAt = performance.now() + timeoutMs;
  let timer = setTimeout(() => {
    if (isLate(dueAt)) timer = setTimeout(onPassed, CATCH_UP_MS);
    else onPassed();
  }, timeoutMs);
  return { cancel: () => clearTimeout(timer) };
}
