import type { BridgeClientError } from "./bridge-client-error.ts";

/** Maximum pause, as a multiple of the first one. */
const MAX_PAUSE_FACTOR = 20;

/** Limits of consecutive failures. */
export interface BackoffOptions {
  /** First pause; doubled after each further failure. */
  retryDelayMs: number;
  /** Maximum time since the first of the consecutive failures; then the failure is thrown. */
  patienceMs: number;
  /** Whether the address has answered this client before. Until then, a failed connection is thrown at once. */
  contact: Contact;
}

/** What a client knows about its address. Each answer changes it. */
export interface Contact {
  hasAnswered: boolean;
}

/** Creates the exponential backoff between the attempts of one call or one stream. */
export function createBackoff({ retryDelayMs, patienceMs, contact }: BackoffOptions) {
  let firstFailureAt: number | null = null;
  let attempts = 0;
  return {
    /** Resolves when the next attempt is due; throws the error when the time is up. */
    async wait(error: BridgeClientError, signal: AbortSignal | undefined): Promise<void> {
      // A wrong address would otherwise look like a client that hangs.
      if (!contact.hasAnswered && isNotConnected(error)) throw error;
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

/** The codes of connections that were not established, in Node. Browsers do not report why a request has failed. */
const notConnected = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** Whether nothing answered at the address. A connection that was lost after a request may have been lost by a restart of Bridge. */
function isNotConnected({ code, cause }: BridgeClientError): boolean {
  const reason = cause instanceof Error ? (cause.cause as { code?: unknown } | undefined)?.code : undefined;
  return code === "unreachable" && typeof reason === "string" && notConnected.has(reason);
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
