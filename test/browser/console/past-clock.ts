/** A clock in the past. Only `advance` moves it. It replaces `Date` in this process until `stop`. */
export interface PastClock {
  advance(seconds: number): void;
  stop(): void;
}

/** Starts the clock this many minutes ago, so that tasks of many minutes can run at once. It never goes beyond the present. */
export function startPastClock(minutesAgo: number): PastClock {
  const Present = Date;
  let startedAt = Present.now() - minutesAgo * 60_000;
  const now = (): number => Math.min(startedAt, Present.now());
  globalThis.Date = class extends Present {
    constructor(...time: unknown[]) {
      super(...((time.length === 0 ? [now()] : time) as [number]));
    }

    static override now(): number {
      return now();
    }
  } as DateConstructor;
  return {
    advance(seconds) {
      startedAt += seconds * 1000;
    },
    stop() {
      startedAt = Number.POSITIVE_INFINITY;
      globalThis.Date = Present;
    },
  };
}
