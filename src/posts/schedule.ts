/** The retry settings of posts. */
export interface PostScheduleSettings {
  /** Retries after the first POST of a round, or those that take three days. */
  retries: number | "three-days";
  /** Delay before the first retry. */
  backoffMs: number;
}

const GROWTH = 5;
const JITTER = 0.2;
const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Returns the milliseconds until the next POST after `roundAttempts` failed ones, or null if none is left. The receiver's `Retry-After` can
 * extend the delay to at most twice its length, and cannot shorten it.
 */
export function nextDelayMs(
  settings: PostScheduleSettings,
  { roundAttempts, retryAfterMs, random }: { roundAttempts: number; retryAfterMs: number | null; random: () => number },
): number | null {
  const delayMs = listDelays(settings)[roundAttempts - 1];
  if (delayMs === undefined) return null;
  const jitteredMs = delayMs * (1 - JITTER + 2 * JITTER * random());
  const requestedMs = Math.min(retryAfterMs ?? 0, 2 * delayMs);
  return Math.round(Math.max(jitteredMs, requestedMs));
}

/** Returns the number of retries, and the seconds from the first attempt to the last one, without jitter and responses. */
export function describeSchedule(settings: PostScheduleSettings): { retries: number; seconds: number } {
  const delays = listDelays(settings);
  return { retries: delays.length, seconds: Math.ceil(sum(delays) / 1000) };
}

/** The delay before each retry, without jitter. Over three days, the first delays are the same, and later ones at most 4 hours. */
function listDelays({ retries, backoffMs }: PostScheduleSettings): number[] {
  const maxMs = retries === "three-days" ? 4 * HOUR_MS : DAY_MS;
  const delays: number[] = [];
  const isComplete = (): boolean => (retries === "three-days" ? sum(delays) >= 3 * DAY_MS : delays.length >= retries);
  while (!isComplete()) delays.push(Math.min(backoffMs * GROWTH ** delays.length, maxMs));
  return delays;
}

const sum = (delays: readonly number[]): number => delays.reduce((total, delayMs) => total + delayMs, 0);
