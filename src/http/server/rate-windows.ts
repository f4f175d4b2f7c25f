/** What the rate limit knows of one window. */
interface Window {
  current: number;
  startedAt: number;
}

type Report = (error: Error | null, window: { current: number; ttl: number }) => void;

/**
 * Creates the store of the rate limit: one window for each principal. It uses the monotonic clock, which cannot be set. With the plugin's own store, a system
 * clock that is set back by an hour refuses those at their limit for an hour.
 */
export function createRateWindows(clock: () => number = () => performance.now()) {
  const windows = new Map<string, Window>();

  return class RateWindows {
    incr(key: string, report: Report, timeWindowMs: number): void {
      const now = clock();
      let window = windows.get(key);
      if (window === undefined || window.startedAt + timeWindowMs <= now) window = { current: 0, startedAt: now };
      window.current += 1;
      windows.set(key, window);
      report(null, { current: window.current, ttl: window.startedAt + timeWindowMs - now });
    }

    /** All routes share one allowance. */
    child(): this {
      return this;
    }
  };
}
