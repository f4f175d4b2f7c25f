/** How often a node reads the log when no hint arrives, and while hints cannot arrive. */
const POLL_MS = 1_000;
const POLL_WITHOUT_HINTS_MS = 250;

/** A repeated check. */
export interface Poll {
  /** Checks as soon as the least interval permits, also if a check is under way, and then waits for the whole interval again. */
  now(): void;
  close(): void;
}

interface PollOptions {
  /** Must not reject. */
  check(): Promise<unknown>;
  hintsArrive(): boolean;
  /** Milliseconds between the beginnings of two checks, however many hints arrive. Default: 0. */
  leastMs?: number;
}

/** Starts to poll. The time between two checks begins at the end of the first one. */
export function startPoll({ check, hintsArrive, leastMs = 0 }: PollOptions): Poll {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let isChecking = false;
  /** When the last check began, by the monotonic clock. */
  let checkedAt = Number.NEGATIVE_INFINITY;
  /** Whether another check was requested during the one that is under way, which may have read older rows. */
  let isOutdated = false;

  function wait(ms: number): void {
    clearTimeout(timer);
    if (!isClosed) timer = setTimeout(() => void startCheck(), ms);
  }

  /** Hints arrive at any rate. One check at a time, so that they do not take the connections of other reads. */
  async function startCheck(): Promise<void> {
    clearTimeout(timer);
    isChecking = true;
    isOutdated = false;
    checkedAt = performance.now();
    await check();
    isChecking = false;
    if (isOutdated) checkSoon();
    else wait(hintsArrive() ? POLL_MS : POLL_WITHOUT_HINTS_MS);
  }

  function checkSoon(): void {
    const pauseMs = checkedAt + leastMs - performance.now();
    if (pauseMs > 0) wait(pauseMs);
    else if (!isClosed) void startCheck();
  }

  wait(hintsArrive() ? POLL_MS : POLL_WITHOUT_HINTS_MS);
  return {
    now() {
      // Then a check is about to begin, or begins after the one that is under way.
      if (isOutdated) return;
      isOutdated = true;
      if (!isChecking) checkSoon();
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
