import { type Deadline, isLate, startDeadline } from "../callbacks/deadline.ts";

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

/** The silence is checked this many times per limit. At most one interval of a pause of Bridge counts as silence. */
const LOOKS_PER_LIMIT = 8;

/** Creates clocks that stand at zero and begin with `start`. */
export function createTaskClocks({ onTimeout, onIdle }: { onTimeout(seconds: number): void; onIdle(seconds: number): void }): TaskClocks {
  const startedAt = performance.now();
  const holders = new Set<object>();
  let limits = { timeoutSeconds: Number.POSITIVE_INFINITY, idleSeconds: 0 };
  let heldSince = 0;
  let heldMs = 0;
  let isClosed = false;
  let deadline: Deadline | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  let lastLook: NodeJS.Immediate | undefined;
  /** Start of the silence, moved forward by the time in which Bridge itself did not run. */
  let silentSince = startedAt;

  function remainingMs(): number {
    const now = holders.size > 0 ? heldSince : performance.now();
    return Math.max(0, limits.timeoutSeconds * 1000 - (now - startedAt - heldMs));
  }

  function run(): void {
    stop();
    if (isClosed || holders.size > 0) return;
    const { timeoutSeconds, idleSeconds } = limits;
    if (Number.isFinite(timeoutSeconds)) deadline = startDeadline(() => onTimeout(timeoutSeconds), remainingMs());
    silentSince = performance.now();
    if (idleSeconds > 0) listen(idleSeconds * 1000);
  }

  /** Checks the silence after one interval, or at the limit. */
  function listen(limitMs: number): void {
    const partMs = limitMs / LOOKS_PER_LIMIT;
    const leftMs = silentSince + limitMs - performance.now();
    // After a pause the remaining time may be zero although output of the runtime is still unread.
    const waitMs = leftMs <= 0 ? partMs : Math.min(partMs, leftMs);
    idleTimer = setTimeout(look, waitMs, limitMs, performance.now() + waitMs);
  }

  function look(limitMs: number, dueAt: number): void {
    const now = performance.now();
    if (isLate(dueAt)) silentSince = Math.min(silentSince + now - dueAt, now);
    else if (now - silentSince >= limitMs) {
      // Timers run before the reads of their turn, so waiting output is read first.
      lastLook = setImmediate(() => {
        if (performance.now() - silentSince >= limitMs) onIdle(limitMs / 1000);
        else listen(limitMs);
      });
      return;
    }
    listen(limitMs);
  }

  function stop(): void {
    deadline?.cancel();
    clearTimeout(idleTimer);
    clearImmediate(lastLook);
  }

  return {
    start(wanted) {
      limits = wanted;
      run();
    },
    touch() {
      silentSince = performance.now();
    },
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
