import { setTimeout as delay } from "node:timers/promises";

/** Waits for a duration. Rejects with the signal's reason as soon as the signal aborts; Node's own timer rejects with an `AbortError`. */
export async function sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(durationMs, undefined, signal && { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
