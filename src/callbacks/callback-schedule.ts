/** The retry settings of callbacks. */
export interface CallbackScheduleSettings {
  /** Retries after the first POST of a round. */
  retries: number;
  /** Delay before the first retry. */
  backoffMs: number;
}

const GROWTH = 5;
const JITTER = 0.2;
/** Maximum delay between two attempts: one day. */
const MAX_DELAY_MS = 24 * 3600 * 1000;

/**
 * Returns the milliseconds until the next POST after `roundAttempts` failed ones, or null if none is left. The receiver's `Retry-After` can
 * extend the delay to at most twice its length, and cannot shorten it.
 */
export function nextCallbackDelayMs(
  { retries, backoffMs }: CallbackScheduleSettings,
  { roundAttempts, retryAfterMs, random }: { roundAttempts: number; retryAfterMs: number | null; random: () => number },
): number | null {
  if (roundAttempts > retries) return null;
  const delayMs = Math.min(backoffMs * GROWTH ** (roundAttempts - 1), MAX_DELAY_MS);
  const jitteredMs = delayMs * (1 - JITTER + 2 * JITTER * random());
  const requestedMs = Math.min(retryAfterMs ?? 0, 2 * delayMs);
  return Math.round(Math.max(jitteredMs, requestedMs));
}
