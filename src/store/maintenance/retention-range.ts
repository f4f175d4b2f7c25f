/** Rows older than `before` are deleted. Rows newer than `now` were stored while the system clock was ahead. */
export interface Age {
  now: number;
  before: number;
}

/** Approximate size of the event data that one slice of retention deletes. */
const EVENT_SLICE_BYTES = 1024 * 1024;

/** Approximate size of the tasks that one slice of retention deletes. A single task is deleted at once. */
export const TASK_SLICE_BYTES: number = 16 * 1024 * 1024;

/** An event at the beginning of the log. */
export interface OldestEvent {
  number: number;
  at: number;
  bytes: number;
  /** Whether its task has ended and expired, and has no pending callback. */
  isReleased: boolean;
}

/**
 * Returns the number of the last event that one slice of retention deletes; null if there is none. The events are the oldest ones, in the
 * order of their numbers. They are deleted as one contiguous range, so that retention leaves no gap in the log: the range ends before the
 * first event that has not expired or is not released. An event that was stored while the system clock was ahead has expired if the next
 * event with a time in the past has expired. `isNextOld` answers this for the events after the given ones.
 */
export function findRangeEnd(events: readonly OldestEvent[], { now, before }: Age, isNextOld: () => boolean): number | null {
  const isAhead = ({ at }: OldestEvent): boolean => at > now;
  const firstKept = events.findIndex(({ at, isReleased }) => !isReleased || (at >= before && at <= now));
  const released = firstKept === -1 ? events : events.slice(0, firstKept);
  const lastPast = released.findLastIndex((event) => !isAhead(event));
  // The events before `lastPast` are followed by it, which has expired.
  const isRestOld = lastPast < released.length - 1 && isNextOldOf(events.slice(released.length), { now, before }, isNextOld);
  const expired = isRestOld ? released : released.slice(0, lastPast + 1);
  let bytes = 0;
  for (const event of expired) {
    bytes += event.bytes;
    if (bytes >= EVENT_SLICE_BYTES) return event.number;
  }
  return expired.at(-1)?.number ?? null;
}

function isNextOldOf(kept: readonly OldestEvent[], { now, before }: Age, isNextOld: () => boolean): boolean {
  const next = kept.find(({ at }) => at <= now);
  return next === undefined ? isNextOld() : next.at < before;
}
