/** How often a node reads the log when no hint arrives, and while hints cannot arrive. */
const POLL_MS = 1_000;
const POLL_WITHOUT_HINTS_MS = 250;

/** A repeated check. */
export interface Poll {
  /** Checks now, or again after the check that is under way, and then waits for the whole interval again. */
  now(): void;
  close(): void;
}

interface PollOptions {
  /** Must not reject. */
  check(): Promise<unknown>;
  hintsArrive(): boolean;
}

/** Starts to poll. The time between two checks begins at the end of the first one. */
export function startPoll({ check, hintsArrive }: PollOptions): Poll {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let isChecking = false;
  /** Whether another check was requested during the one that is under way, which may have read older rows. */
  let isOutdated = false;

  function wait(): void {
    clearTimeout(timer);
    if (!isClosed) timer = setTimeout(now, hintsArrive() ? POLL_MS : POLL_WITHOUT_HINTS_MS);
  }

  /** Hints arrive at any rate. One check at a time, so that they do not take the connections of other reads. */
  async function checkUntilCurrent(): Promise<void> {
    isChecking = true;
    do {
      isOutdated = false;
      await check();
    } while (isOutdated && !isClosed);
    isChecking = false;
    wait();
  }

  function now(): void {
    clearTimeout(timer);
    isOutdated = true;
    if (!isChecking && !isClosed) void checkUntilCurrent();
  }

  wait();
  return {
    now,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
