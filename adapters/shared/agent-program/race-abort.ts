import { setTimeout as delay } from "node:timers/promises";

/** The value; null when the task is cancelled and the value has not come within that time after it. */
export async function raceAbort<T>(value: Promise<T>, signal: AbortSignal, graceMs: number): Promise<T | null> {
  const done = new AbortController();
  const cancelled = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true, signal: done.signal });
  });
  const tooLate = cancelled.then(() => delay(graceMs, null, { signal: done.signal }));
  tooLate.catch(() => {});
  value.catch(() => {});
  return await Promise.race([value, tooLate]).finally(() => done.abort());
}
