/**
 * A number of queued tasks that this process counts, and corrects by what it reads from a store that other processes write to, too. A
 * reading neither contains the changes after it, nor shows which of the changes during it it contains. So the count is only moved into the
 * range that the reading permits. Without changes by other processes, the count is exact and stays as it is.
 */
export interface QueueTally {
  count: number;
  /** Counted tasks that may not be stored yet. */
  arriving: number;
  /** The reading for which the following two count. */
  reading: number;
  /** Tasks that were added since the reading has begun, or were not stored then. */
  added: number;
  /** Tasks that were removed since the reading has begun. */
  removed: number;
}

export const createTally = (): QueueTally => ({ count: 0, arriving: 0, reading: 0, added: 0, removed: 0 });

/** How a count changes: by a task that is about to be stored, by one that is stored or was not, or by one that has left the queue. */
export type TallyChange = "arrive" | "store" | "retract" | "remove";

/** Changes the count by one task; `reading` is the number of the last reading that has begun. Returns by how much the count has changed. */
export function changeTally(tally: QueueTally, change: TallyChange, reading: number): number {
  beginReading(tally, reading);
  const before = tally.count;
  if (change === "arrive") {
    tally.count += 1;
    tally.added += 1;
    tally.arriving += 1;
  } else if (change === "store") tally.arriving -= 1;
  else if (change === "retract") {
    tally.count = Math.max(0, tally.count - 1);
    tally.added -= 1;
    tally.arriving -= 1;
  } else {
    // A reading may have omitted the task already.
    tally.count = Math.max(0, tally.count - 1);
    tally.removed += 1;
  }
  return tally.count - before;
}

/** Adds stored tasks. */
export function addStored(tally: QueueTally, count: number, reading: number): void {
  beginReading(tally, reading);
  tally.count += count;
  tally.added += count;
}

/** Moves the count into the range that the reading permits; `claiming` of the tasks may have started. Returns the change. */
export function correctTally(tally: QueueTally, { reading, read, claiming }: { reading: number; read: number; claiming: number }): number {
  beginReading(tally, reading);
  const before = tally.count;
  const least = Math.max(0, read - tally.removed);
  tally.count = Math.min(Math.max(before, least), read + tally.added + claiming);
  return tally.count - before;
}

function beginReading(tally: QueueTally, reading: number): void {
  if (tally.reading === reading) return;
  tally.reading = reading;
  tally.added = tally.arriving;
  tally.removed = 0;
}
