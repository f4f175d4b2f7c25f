/** Options of `createRepeatedPass`. Times are in ms. */
export interface RepeatedPassOptions {
  pass(): Promise<void>;
  /** Time from the end of a pass to the beginning of the next one, if nothing wakes it earlier. */
  pollMs: number;
  /** Minimum time between the beginnings of two passes, so that events that follow each other share one. */
  leastMs: number;
  /** As `pollMs`, after a pass that failed. */
  faultPauseMs: number;
  onFault(error: unknown): void;
}

/** Creates a pass over the event log that is repeated: at regular intervals, and soon after each wake. Passes never overlap. */
export function createRepeatedPass({ pass, pollMs, leastMs, faultPauseMs, onFault }: RepeatedPassOptions) {
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  let startedAt = Number.NEGATIVE_INFINITY;
  let passing: Promise<void> | null = null;
  let isWoken = false;
  let isOpen = false;

  /** Starts a pass after this time, or earlier if one is due before. */
  function wakeIn(ms: number): void {
    const now = performance.now();
    const at = Math.max(now + ms, startedAt + leastMs);
    if (!isOpen || at >= timerAt) return;
    clearTimeout(timer);
    timerAt = at;
    timer = setTimeout(() => {
      timerAt = Number.POSITIVE_INFINITY;
      if (passing === null) passing = run();
      else isWoken = true;
    }, at - now);
  }

  async function run(): Promise<void> {
    startedAt = performance.now();
    isWoken = false;
    let pauseMs = pollMs;
    try {
      await pass();
    } catch (error) {
      onFault(error);
      pauseMs = faultPauseMs;
    }
    passing = null;
    wakeIn(isWoken ? 0 : pauseMs);
  }

  return {
    /** Starts the first pass at once. */
    start(): void {
      isOpen = true;
      wakeIn(0);
    },
    wakeIn,
    /** Starts no further pass, and waits for the current one. */
    async close(): Promise<void> {
      isOpen = false;
      clearTimeout(timer);
      await passing;
    },
  };
}
