/** Creates a detector that notices that the system clock was set back. It compares the times that are passed to `track`. */
export function createSetBackDetector() {
  /** The first time counts as set back, because the clock may have been set back while Bridge was down. */
  let lastTime = Number.POSITIVE_INFINITY;
  let wasSetBack = false;

  return {
    /** Compares the time with the previous one, and returns it. Call it for each operation, so that small changes are noticed. */
    track(now: number): number {
      wasSetBack ||= now < lastTime;
      lastTime = now;
      return now;
    },
    /** Returns whether the clock was set back since the last call of this function. */
    takeSetBack(): boolean {
      const result = wasSetBack;
      wasSetBack = false;
      return result;
    },
  };
}
