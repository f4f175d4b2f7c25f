/** Remembers the origins that gave no answer when they were last called. */
export interface UnresponsiveOrigins {
  has(origin: string): boolean;
  /** A POST to the origin is over, with an HTTP answer of whatever kind or without one. */
  note(origin: string, answered: boolean): void;
  /** Lets go of those that have not been called for long. */
  forgetOld(): void;
}

/** To forget one costs it a few sockets too many, once; these numbers need be no finer than that. */
const MAX_REMEMBERED = 10_000;
const REMEMBERED_MS = 600_000;

/** Makes an empty memory; `clock` is for tests. */
export function createUnresponsiveOrigins(clock: () => number = () => performance.now()): UnresponsiveOrigins {
  /** When each was silent last; the longest ago comes first. */
  const silentAt = new Map<string, number>();

  function forgetOld(): void {
    for (const [origin, at] of silentAt) {
      if (silentAt.size <= MAX_REMEMBERED && clock() - at < REMEMBERED_MS) return;
      silentAt.delete(origin);
    }
  }

  return {
    has: (origin) => silentAt.has(origin),
    note(origin, answered) {
      // Deleted first, because a key that is set again keeps its place in the order.
      silentAt.delete(origin);
      if (!answered) silentAt.set(origin, clock());
      forgetOld();
    },
    forgetOld,
  };
}
