/** Maximum number of turns by which a commit is postponed, so that a continuous stream of new clients cannot stop commits. */
const MAX_POSTPONEMENTS = 16;

/** Creates the timer that calls `onDue` when the next commit is due. */
export function createCommitTimer(onDue: () => void) {
  let immediate: NodeJS.Immediate | null = null;
  let timeout: NodeJS.Timeout | null = null;
  let isPostponed = false;
  /** Turns by which the next commit was postponed. */
  let postponements = 0;

  function endTurn(): void {
    const isDue = !isPostponed || postponements === MAX_POSTPONEMENTS;
    isPostponed = false;
    if (isDue) {
      onDue();
    } else {
      postponements += 1;
      immediate = setImmediate(endTurn);
    }
  }

  return {
    get isRunning(): boolean {
      return immediate !== null || timeout !== null;
    },
    /** Makes the commit due at the end of this event-loop turn. */
    start(): void {
      immediate ??= setImmediate(endTurn);
    },
    /** Makes the commit due after this time, unless `start` makes it due earlier. */
    startIn(delayMs: number): void {
      if (immediate === null) timeout ??= setTimeout(onDue, delayMs);
    },
    /** Postpones the next commit by one event-loop turn. Calls in successive turns postpone it by at most `MAX_POSTPONEMENTS` turns. */
    postpone(): void {
      isPostponed = true;
    },
    /** Stops the timer until the next `start` or `startIn`. */
    clear(): void {
      if (immediate !== null) clearImmediate(immediate);
      if (timeout !== null) clearTimeout(timeout);
      immediate = null;
      timeout = null;
      postponements = 0;
    },
  };
}
