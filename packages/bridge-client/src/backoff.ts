import type { BridgeClientError } from "./bridge-client-error.ts";

/** Maximum pause, as a multiple of the first one. */
const MAX_PAUSE_FACTOR = 20;

/** Limits of consecutive failures. */
export interface BackoffOptions {
  /** First pause; doubled after each further failure. */
  retryDelayMs: number;
  /** Maximum time since the first of the consecutive failures; then the failure is thrown. */
  patienceMs: number;
}

/** Creates the exponential backoff between the attempts of one call or one stream. */
export function createBackoff({ retryDelayMs, patienceMs }: BackoffOptions) {
  let firstFailureAt: number | null = null;
  let attempts = 0;
  return {
    /** Resolves when the next attempt is due; throws the error when the time is up. */
    async wait(error: BridgeClientError, signal: AbortSignal | undefined): Promise<void> {
      firstFailureAt ??= performance.now();
      const maxPauseMs = Math.min(retryDelayMs * 2 ** attempts, retryDelayMs * MAX_PAUSE_FACTOR);
      // Random, so that clients of one Bridge do not all reconnect at the same time.
      const pauseMs = Math.max(maxPauseMs * (0.5 + Math.random() / 2), error.retryAfterMs ?? 0);
      if (performance.now() - firstFailureAt + pauseMs > patienceMs) throw error;
      attempts += 1;
      await pause(pauseMs, signal);
    },
    /** Resets the backoff after a success. */
    reset(): void {
      firstFailureAt = null;
      attempts = 0;
    },
  };
}

/** Resolves after a time. Rejects with the signal's reason when the signal aborts. */
export function pause(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, durationMs);
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  });
}
