import type { BatchEntry } from "./batch-entry.ts";
import type { AnyKind } from "./batch-transaction.ts";

/** Limits of one batch, because all its operations wait for its end, and its values are in memory twice. */
const MAX_BATCH_OPERATIONS = 1_000;

const MAX_BATCH_BYTES = 4 * 1024 ** 2;

/**
 * Returns how many operations at the front of the queue form the next batch. Kinds run in a fixed order, so an operation waits for the next
 * batch if an earlier operation with the same key would run after it.
 */
export function lengthOfBatch(queue: readonly BatchEntry[], kinds: readonly AnyKind[]): number {
  const positions = new Map<number | string, number>();
  let bytes = 0;
  for (const [index, entry] of queue.slice(0, MAX_BATCH_OPERATIONS).entries()) {
    const position = kinds.indexOf(entry.kind);
    const key = entry.kind.keyOf(entry.input);
    const earlier = key === null ? undefined : positions.get(key);
    if (earlier !== undefined && (earlier > position || (earlier === position && !entry.kind.isRepeatable))) return index;
    if (key !== null) positions.set(key, position);
    bytes += entry.bytes;
    if (bytes >= MAX_BATCH_BYTES) return index + 1;
  }
  return Math.min(queue.length, MAX_BATCH_OPERATIONS);
}

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
