import { type BackoffOptions, createBackoff } from "./backoff.ts";
import { BridgeClientError } from "./bridge-client-error.ts";

/** Bridge rejected the request temporarily. An offline adapter usually needs an operator, so it is not retried. */
const isDeferred = ({ status, code }: BridgeClientError): boolean => (status === 429 || status === 503) && code !== "adapter_offline";

/** It is unknown whether Bridge processed the request. */
const isUncertain = ({ status, code }: BridgeClientError): boolean =>
  code === "unreachable" || code === "too_slow" || status === 502 || status === 504;

/** Returns whether a retry is useful and safe. `isRepeatable`: processing the request twice has the same effect as once. */
export function isRetryable(error: unknown, isRepeatable: boolean): error is BridgeClientError {
  return error instanceof BridgeClientError && (isDeferred(error) || (isRepeatable && isUncertain(error)));
}

/** Calls the function until it succeeds, fails with an error that is not retryable, or the time is up. */
export async function retry<T>(
  act: () => Promise<T>,
  { isRepeatable, signal, ...options }: BackoffOptions & { isRepeatable: boolean; signal: AbortSignal | undefined },
): Promise<T> {
  const backoff = createBackoff(options);
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!isRetryable(error, isRepeatable)) throw error;
      await backoff.wait(error, signal);
    }
  }
}
