import type { SharedRates } from "./shared-rates.ts";

/** The requests of one key in the current time window. */
interface Window {
  current: number;
  startedAt: number;
}

type Callback = (error: Error | null, window: { current: number; ttl: number }) => void;

/**
 * Creates the store for @fastify/rate-limit: one time window per principal. It uses the monotonic clock. With the
 * plugin's own store, setting the system clock back by an hour would reject principals at their limit for an hour. With
 * `shared`, the requests of all nodes in the current minute of the database count, too.
 */
export function createRateLimitStore(shared: Pick<SharedRates, "count"> | null, clock: () => number = () => performance.now()) {
  const windows = new Map<string, Window>();

  return class RateLimitStore {
    incr(key: string, callback: Callback, timeWindowMs: number): void {
      const now = clock();
      let window = windows.get(key);
      if (window === undefined || window.startedAt + timeWindowMs <= now) window = { current: 0, startedAt: now };
      window.current += 1;
      windows.set(key, window);
      const ttl = window.startedAt + timeWindowMs - now;
      const all = shared?.count(key);
      if (all === undefined || all.current <= window.current) callback(null, { current: window.current, ttl });
      else callback(null, { current: all.current, ttl: all.endsInMs });
    }

    /** All routes share one window. */
    child(): this {
      return this;
    }
  };
}
