import { setTimeout as delay } from "node:timers/promises";

/** Resolves with the value, or with null if the signal aborts and the value does not settle within `graceMs` after that. */
export async function raceAbort<T>(value: Promise<T>, signal: AbortSignal, graceMs: number): Promise<T | null> {
  const done = new AbortController();
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true, signal: done.signal });
  });
  const tooLate = aborted.then(() => delay(graceMs, null, { signal: done.signal }));
  tooLate.catch(() => {});
  value.catch(() => {});
  return await Promise.race([value, tooLate]).finally(() => done.abort());
}
