/** How long a sweep waits for processes to end. Those that remain then cannot be killed, or start faster than the sweep kills them. */
const LIMIT_MS = 4_000;
/** Minimum passes in that time. A Bridge that was frozen for longer than the limit may not have made a single one. */
const LEAST_PASSES = 20;
/** After this time, fewer passes are enough, because each of them can take seconds on a slow machine. */
const SLOW_LIMIT_MS = 15_000;
/** A pass counts for at most this time, because a Bridge that was frozen did not sweep. */
const MAX_PASS_MS = 5_000;

/** Creates the limit of a sweep. Call the function after each pass; it returns whether the sweep has to end. */
export function createSweepLimit(): () => boolean {
  let passes = 0;
  let sweptMs = 0;
  let countedAt: number | undefined;
  return () => {
    const now = performance.now();
    passes += 1;
    sweptMs += Math.min(now - (countedAt ?? now), MAX_PASS_MS);
    countedAt = now;
    return (passes > LEAST_PASSES && sweptMs > LIMIT_MS) || sweptMs >= SLOW_LIMIT_MS;
  };
}
