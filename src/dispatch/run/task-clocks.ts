import { type Deadline, isLate, startDeadline } from "../../timers/deadline.ts";

/** Checks per idle limit. If Bridge was suspended, at most one check interval counts as idle time. */
const CHECKS_PER_LIMIT = 8;

interface TaskClocksOptions {
  onTimeout(seconds: number): void;
  onIdle(seconds: number): void;
  /** Whether a tool call is open. The runtime is not idle while its tool works, and a tool can be silent for any time. */
  isToolOpen(): boolean;
}

export type TaskClocks = ReturnType<typeof createTaskClocks>;

/** Creates the timeout clock and the idle clock of a running task. Both start with `start`. */
export function createTaskClocks({ onTimeout, onIdle, isToolOpen }: TaskClocksOptions) {
  const startedAt = performance.now();
  const pauses = new Set<object>();
  let limits = { timeoutSeconds: Number.POSITIVE_INFINITY, idleSeconds: 0 };
  let pausedSince = 0;
  let pausedMs = 0;
  let isClosed = false;
  let deadline: Deadline | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  let lastCheck: NodeJS.Immediate | undefined;
  /** Start of the idle time, moved forward by the time in which Bridge itself did not run. */
  let idleSince = startedAt;

  function remainingMs(): number {
    const now = pauses.size > 0 ? pausedSince : performance.now();
    return Math.max(0, limits.timeoutSeconds * 1000 - (now - startedAt - pausedMs));
  }

  function run(): void {
    stop();
    if (isClosed || pauses.size > 0) return;
    const { timeoutSeconds, idleSeconds } = limits;
    if (Number.isFinite(timeoutSeconds)) deadline = startDeadline(() => onTimeout(timeoutSeconds), remainingMs());
    idleSince = performance.now();
    if (idleSeconds > 0) scheduleCheck(idleSeconds * 1000);
  }

  /** Schedules the next idle check: after one interval, or at the limit. */
  function scheduleCheck(limitMs: number): void {
    const partMs = limitMs / CHECKS_PER_LIMIT;
    const leftMs = idleSince + limitMs - performance.now();
    // After Bridge was suspended, no time may be left although output of the runtime is still unread.
    const waitMs = leftMs <= 0 ? partMs : Math.min(partMs, leftMs);
    idleTimer = setTimeout(checkIdle, waitMs, limitMs, performance.now() + waitMs);
  }

  function checkIdle(limitMs: number, dueAt: number): void {
    const now = performance.now();
    if (isLate(dueAt)) idleSince = Math.min(idleSince + now - dueAt, now);
    else if (now - idleSince >= limitMs && !isToolOpen()) {
      // Timers run before the reads of their event-loop turn. The setImmediate lets pending output be read first.
      lastCheck = setImmediate(() => {
        if (performance.now() - idleSince >= limitMs) onIdle(limitMs / 1000);
        else scheduleCheck(limitMs);
      });
      return;
    }
    scheduleCheck(limitMs);
  }

  function stop(): void {
    deadline?.cancel();
    clearTimeout(idleTimer);
    clearImmediate(lastCheck);
  }

  return {
    /** Starts the clocks, or changes their limits. An idle limit of 0 disables the idle clock. */
    start(wanted: { timeoutSeconds: number; idleSeconds: number }): void {
      limits = wanted;
      run();
    },
    /** Restarts the idle clock, because the task has emitted something. */
    touch(): void {
      idleSince = performance.now();
    },
    /** Pauses both clocks until the returned function is called. They run again when every pause has ended. */
    pause(): () => void {
      if (pauses.size === 0) pausedSince = performance.now();
      const pause = {};
      pauses.add(pause);
      stop();
      return () => {
        if (!pauses.delete(pause) || pauses.size > 0) return;
        pausedMs += performance.now() - pausedSince;
        run();
      };
    },
    /** Time until the timeout. */
    remainingMs,
    close(): void {
      isClosed = true;
      stop();
    },
  };
}
