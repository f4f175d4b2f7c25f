/** A reading of the queue takes at most this part of the time, because the database reads the whole queue. */
const MAX_SHARE = 0.05;
/** Longer pauses follow only a reading that the network or a lock has delayed, which shows nothing about the work of the database. */
const MAX_PAUSE_MS = 10_000;

/** Returns for how many ms the queue should not be read again after a reading of this duration in ms. */
export const pauseAfterReading = (durationMs: number): number => Math.min(durationMs / MAX_SHARE, MAX_PAUSE_MS);
