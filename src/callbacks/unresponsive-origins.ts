/** Limits of the memory. They may be coarse, because forgetting an origin only costs it a few hanging sockets. */
const MAX_REMEMBERED = 10_000;
const REMEMBERED_MS = 600_000;

/** Creates a memory of the origins whose last POST got no response. `clock` is for tests. */
export function createUnresponsiveOrigins(clock: () => number = () => performance.now()) {
  /** Time of the last POST without a response, the oldest first. */
  const failedAt = new Map<string, number>();

  /** Removes origins that have not been called for a long time. */
  function forgetOld(): void {
    for (const [origin, at] of failedAt) {
      if (failedAt.size <= MAX_REMEMBERED && clock() - at < REMEMBERED_MS) return;
      failedAt.delete(origin);
    }
  }

  return {
    has: (origin: string): boolean => failedAt.has(origin),
    /** A POST to the origin has ended, with any HTTP response or without one. */
    record(origin: string, responded: boolean): void {
      // A key that is set again keeps its place in the order, so it is deleted first.
      failedAt.delete(origin);
      if (!responded) failedAt.set(origin, clock());
      forgetOld();
    },
    forgetOld,
  };
}
