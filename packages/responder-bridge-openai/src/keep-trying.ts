import { sleep } from "@hak2i/async-kit";
import { OpenAiError } from "./openai-error.ts";

/** How failures are met. */
export interface Retries {
  /** How many requests follow the first one, at most. */
  retries: number;
  /** The first pause, unless the API names one; each further one is twice as long. */
  retryDelayMs: number;
  /** If the API asks for more than this, the request has failed. */
  maxRetryDelayMs: number;
}

/** Acts until it succeeds, or until another try is of no use. */
export async function keepTrying<T>(
  act: () => Promise<T>,
  { retries, retryDelayMs, maxRetryDelayMs }: Retries,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (let retry = 0; ; retry += 1) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof OpenAiError) || !error.canBeTriedAgain || retry >= retries) throw error;
      // A random part keeps those who failed together from coming back together.
      const pauseMs = error.retryAfterMs ?? Math.min(retryDelayMs * 2 ** retry, maxRetryDelayMs) * (0.75 + Math.random() / 4);
      if (pauseMs > maxRetryDelayMs) throw error;
      await sleep(pauseMs, signal);
    }
  }
}
