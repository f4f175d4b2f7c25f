import { BridgeError } from "../../errors.ts";
import type { SharedRates } from "./shared-rates.ts";

export const RATE_WINDOW_MS = 60_000;

/** The requests of one token in the current window. */
interface Window {
  current: number;
  startedAt: number;
}

/** Options of the counter; `clock` is for tests. */
interface RequestRateOptions {
  /** Maximum requests of a token in a minute. */
  perMinute: number;
  /** The counts of all nodes. */
  shared: SharedRates;
  clock?: () => number;
}

export type RequestRates = ReturnType<typeof createRequestRates>;

/**
 * Creates the counter of requests: one time window of a minute per token, over HTTP and WebSockets. It uses the monotonic
 * clock: if it used the system clock, setting that back by an hour would reject tokens at their limit for an hour. With
 * other nodes, the requests of all nodes in the current minute of the database count, too.
 */
export function createRequestRates({ perMinute, shared, clock = () => performance.now() }: RequestRateOptions) {
  const windows = new Map<string, Window>();

  /** Counts a request. Returns the requests of this token in the window, and the milliseconds until the next window. */
  function count(token: string): { current: number; ttl: number } {
    const now = clock();
    let window = windows.get(token);
    if (window === undefined || window.startedAt + RATE_WINDOW_MS <= now) window = { current: 0, startedAt: now };
    window.current += 1;
    windows.set(token, window);
    const ttl = window.startedAt + RATE_WINDOW_MS - now;
    const all = shared.count(token);
    return all.current > window.current ? { current: all.current, ttl: all.endsInMs } : { current: window.current, ttl };
  }

  /** Creates the error for a token that is over its limit. */
  const createError = (ttl: number): BridgeError =>
    new BridgeError("too_many_requests", `This token has sent more than ${perMinute} requests in a minute. Try again later.`, {
      retryAfterSeconds: Math.max(1, Math.ceil(ttl / 1000)),
    });

  return {
    perMinute,
    count,
    createError,
    /** Counts a request. Throws BridgeError `too_many_requests` if its token is over its limit. */
    check(token: string): void {
      const { current, ttl } = count(token);
      if (current > perMinute) throw createError(ttl);
    },
    close: shared.close,
  };
}
