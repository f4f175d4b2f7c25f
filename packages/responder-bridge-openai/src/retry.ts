import { sleep } from "@hak2i/async-kit";
import { OpenAiError } from "./openai-error.ts";

/** Options for retries. */
export interface RetryOptions {
  /** Maximum number of requests after the first one. */
  retries: number;
  /** First pause; doubled for each further retry. A pause that the API requests takes precedence. */
  retryDelayMs: number;
  /** The request fails if the API requests a longer pause. */
  maxRetryDelayMs: number;
}

/** Calls the function until it succeeds, fails with an error that is not retryable, or the retries are used up. */
export async function retry<T>(
  act: () => Promise<T>,
  { retries, retryDelayMs, maxRetryDelayMs }: RetryOptions,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (let count = 0; ; count += 1) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof OpenAiError) || !error.isRetryable || count >= retries) throw error;
      // Random, so that requests that failed together are not retried at the same time.
      const pauseMs = error.retryAfterMs ?? Math.min(retryDelayMs * 2 ** count, maxRetryDelayMs) * (0.75 + Math.random() / 4);
      if (pauseMs > maxRetryDelayMs) throw error;
      await sleep(pauseMs, signal);
    }
  }
}
