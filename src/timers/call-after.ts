/** How often the time of day is compared with a deadline. */
const CLOCK_CHECK_MS = 1000;

/**
 * Calls `act` after a time, or when the time of day has advanced by it, whichever is first. People see a deadline as a time of day, and
 * timers do not advance while the machine sleeps or when its clock is set.
 */
export function callAfter(ms: number, act: () => void): { cancel(): void } {
  const deadline = Date.now() + ms;
  const end = performance.now() + ms;
  let timer: NodeJS.Timeout;
  const check = (): void => {
    const leftMs = Math.min(deadline - Date.now(), end - performance.now());
    if (leftMs <= 0) act();
    else timer = setTimeout(check, Math.min(leftMs, CLOCK_CHECK_MS));
  };
  check();
  return { cancel: () => clearTimeout(timer) };
}
