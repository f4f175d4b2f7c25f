/** Maximum time between two reads of the clock. A change of the system clock takes effect within this time. */
const MAX_TIMER_MS = 60_000;

/** Calls `action` when the clock reaches `at`, in ms since the epoch. `at` may be later than the maximum delay of a Node timer. */
export function startWallClockTimer(at: number, clock: () => number, action: () => void): { cancel(): void } {
  let timer = setTimeout(check, 0);
  function check(): void {
    const remainingMs = at - clock();
    if (remainingMs <= 0) action();
    else timer = setTimeout(check, Math.min(remainingMs, MAX_TIMER_MS)).unref();
  }
  return { cancel: () => clearTimeout(timer) };
}
