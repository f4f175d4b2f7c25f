/** The clock is read at least this often, so that a system clock that was set is noticed. */
const MAX_TIMER_MS = 60_000;

/** Calls at a time of the clock, which may be further away than a timer reaches. */
export function callAt(at: number, clock: () => number, action: () => void): { cancel(): void } {
  let timer = setTimeout(check, 0);
  function check(): void {
    const remainingMs = at - clock();
    if (remainingMs <= 0) action();
    else timer = setTimeout(check, Math.min(remainingMs, MAX_TIMER_MS)).unref();
  }
  return { cancel: () => clearTimeout(timer) };
}
