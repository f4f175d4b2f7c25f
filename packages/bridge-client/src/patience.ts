import type { BridgeClientError } from "./bridge-client-error.ts";

/** Pauses grow up to so many times the first one. */
const LONGEST_PAUSE = 20;

/** How failures in a row are met. */
export interface PatienceOptions {
  /** Before the second try; each further pause is twice as long. */
  retryDelayMs: number;
  /** After so long without a success the failure is thrown. */
  patienceMs: number;
}

/** Waits between tries, for as long as there is patience. */
export interface Patience {
  /** Resolves when it is time for another try; throws the error when it is too late for one. */
  wait(error: BridgeClientError, signal: AbortSignal | undefined): Promise<void>;
  /** Something has succeeded. */
  renew(): void;
}

/** Creates patience for one call or one stream. */
export function createPatience({ retryDelayMs, patienceMs }: PatienceOptions): Patience {
  let since: number | null = null;
  let tries = 0;
  return {
    async wait(error, signal) {
      since ??= performance.now();
      const longestMs = Math.min(retryDelayMs * 2 ** tries, retryDelayMs * LONGEST_PAUSE);
      // A random part keeps clients that lost the same Bridge from all coming back at once.
      const pauseMs = Math.max(longestMs * (0.5 + Math.random() / 2), error.retryAfterMs ?? 0);
      if (performance.now() - since + pauseMs > patienceMs) throw error;
      tries += 1;
      await pause(pauseMs, signal);
    },
    renew() {
      since = null;
      tries = 0;
    },
  };
}

function pause(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
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
