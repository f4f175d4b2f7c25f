/** Limits of the memory. They may be coarse, because forgetting an receiver only costs it a few hanging sockets. */
const MAX_REMEMBERED = 10_000;
const REMEMBERED_MS = 600_000;

/** Creates a memory of the receivers whose last POST got no response. `clock` is for tests. */
export function createUnresponsiveReceivers(clock: () => number = () => performance.now()) {
  /** Time of the last POST without a response, the oldest first. */
  const failedAt = new Map<string, number>();

  /** Removes receivers that have not been called for a long time. */
  function forgetOld(): void {
    for (const [receiver, at] of failedAt) {
      if (failedAt.size <= MAX_REMEMBERED && clock() - at < REMEMBERED_MS) return;
      failedAt.delete(receiver);
    }
  }

  return {
    has: (receiver: string): boolean => failedAt.has(receiver),
    /** A POST to the receiver has ended, with any HTTP response or without one. */
    record(receiver: string, responded: boolean): void {
      // A key that is set again keeps its place in the order, so it is deleted first.
      failedAt.delete(receiver);
      if (!responded) failedAt.set(receiver, clock());
      forgetOld();
    },
    forgetOld,
  };
}
