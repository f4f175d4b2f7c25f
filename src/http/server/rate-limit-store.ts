/** The requests of one key in the current time window. */
interface Window {
  current: number;
  startedAt: number;
}

type Callback = (error: Error | null, window: { current: number; ttl: number }) => void;

/**
 * Creates the store for @fastify/rate-limit: one time window per principal. It uses the monotonic clock. With the
 * plugin's own store, setting the system clock back by an hour would reject principals at their limit for an hour.
 */
export function createRateLimitStore(clock: () => number = () => performance.now()) {
  const windows = new Map<string, Window>();

  return class RateLimitStore {
    incr(key: string, callback: Callback, timeWindowMs: number): void {
      const now = clock();
      let window = windows.get(key);
      if (window === undefined || window.startedAt + timeWindowMs <= now) window = { current: 0, startedAt: now };
      window.current += 1;
      windows.set(key, window);
      callback(null, { current: window.current, ttl: window.startedAt + timeWindowMs - now });
    }

    /** All routes share one window. */
    child(): this {
      return this;
    }
  };
}
