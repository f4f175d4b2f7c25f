/** Creates a timer that calls the action at the earliest of the requested times, at the latest after `maxDelayMs`. */
export function createWakeTimer(action: () => void, maxDelayMs: number) {
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  return {
    /** Requests a call after this delay; null means the maximum delay. */
    wakeIn(delayMs: number | null): void {
      const sleepMs = Math.min(delayMs ?? maxDelayMs, maxDelayMs);
      const at = performance.now() + sleepMs;
      if (at >= timerAt) return;
      clearTimeout(timer);
      timerAt = at;
      timer = setTimeout(() => {
        timerAt = Number.POSITIVE_INFINITY;
        action();
      }, sleepMs);
    },
    cancel: (): void => clearTimeout(timer),
  };
}
