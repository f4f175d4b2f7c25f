/** Batches of a busy writer begin at this interval, or later. */
const INTERVAL_MS = 10;
/** A batch with so many operations shows that the writer is busy: a single client that waits for each answer causes fewer. */
const BUSY_OPERATIONS = 4;

/**
 * Creates the pace of a writer. Each batch costs the node and the server several statements and a commit, however few operations it
 * contains, so a busy writer gathers operations for some ms. `clock` is monotonic.
 */
export function createBatchPace(clock: () => number = () => performance.now()) {
  let nextAt = Number.NEGATIVE_INFINITY;
  return {
    /** Notes that a batch of so many operations begins. */
    note(operations: number): void {
      nextAt = operations < BUSY_OPERATIONS ? Number.NEGATIVE_INFINITY : clock() + INTERVAL_MS;
    },
    /** For how long the next batch should gather. */
    pauseMs: (): number => Math.max(0, nextAt - clock()),
  };
}
