/** When a failed callback is tried again. */
export interface CallbackScheduleSettings {
  /** Retries after the first POST of a round. */
  retries: number;
  /** Delay before the first retry. */
  backoffMs: number;
}

const GROWTH = 5;
const JITTER = 0.2;
/** A long round still tries once a day. */
const MAX_DELAY_MS = 24 * 3600 * 1000;

/**
 * Milliseconds until the next POST after `roundAttempts` failed ones, null when none is left. What the receiver asks for by
 * `Retry-After` counts between the delay and twice the delay, so it can neither hurry nor park the callback.
 */
export function nextCallbackDelayMs(
  { retries, backoffMs }: CallbackScheduleSettings,
  { roundAttempts, retryAfterMs, random }: { roundAttempts: number; retryAfterMs: number | null; random: () => number },
): number | null {
  if (roundAttempts > retries) return null;
  const delayMs = Math.min(backoffMs * GROWTH ** (roundAttempts - 1), MAX_DELAY_MS);
  const jitteredMs = delayMs * (1 - JITTER + 2 * JITTER * random());
  const wishMs = Math.min(retryAfterMs ?? 0, 2 * delayMs);
  return Math.round(Math.max(jitteredMs, wishMs));
}
