/** The two clocks of a running task: how long it takes in all, and how long it has been silent. */
export interface TaskClocks {
  /** Begins, or changes, the limits; 0 seconds of silence are no limit. */
  start(limits: { timeoutSeconds: number; idleSeconds: number }): void;
  /** The task gave a sign of life. */
  touch(): void;
  /** Stops both clocks until the answer is called; of several that hold them the last one lets them go. */
  hold(): () => void;
  /** What is left of the whole time. */
  remainingMs(): number;
  close(): void;
}

/** Creates clocks that stand at zero and begin with `start`. */
export function createTaskClocks({ onTimeout, onIdle }: { onTimeout(seconds: number): void; onIdle(seconds: number): void }): TaskClocks {
  const startedAt = performance.now();
  const holders = new Set<object>();
  let limits = { timeoutSeconds: Number.POSITIVE_INFINITY, idleSeconds: 0 };
  let heldSince = 0;
  let heldMs = 0;
  let isClosed = false;
  let wallTimer: NodeJS.Timeout | undefined;
  let idleTimer: NodeJS.Timeout | undefined;

  function remainingMs(): number {
    const now = holders.size > 0 ? heldSince : performance.now();
    return Math.max(0, limits.timeoutSeconds * 1000 - (now - startedAt - heldMs));
  }

  function run(): void {
    stop();
    if (isClosed || holders.size > 0) return;
    const { timeoutSeconds, idleSeconds } = limits;
    if (Number.isFinite(timeoutSeconds)) wallTimer = setTimeout(onTimeout, remainingMs(), timeoutSeconds);
    if (idleSeconds > 0) idleTimer = setTimeout(onIdle, idleSeconds * 1000, idleSeconds);
  }

  function stop(): void {
    clearTimeout(wallTimer);
    clearTimeout(idleTimer);
    // A timer that is refreshed would come back.
    idleTimer = undefined;
  }

  return {
    start(wanted) {
      limits = wanted;
      run();
    },
    touch: () => void idleTimer?.refresh(),
    hold() {
      if (holders.size === 0) heldSince = performance.now();
      const holder = {};
      holders.add(holder);
      stop();
      return () => {
        if (!holders.delete(holder) || holders.size > 0) return;
        heldMs += performance.now() - heldSince;
        run();
      };
    },
    remainingMs,
    close() {
      isClosed = true;
      stop();
    },
  };
}
