import { limitBody } from "./limit-body.ts";
import type { ModelFetch } from "./model-endpoint.ts";

/** Maximum number of concurrent requests of one fetch. An MCP server can cause requests: Bridge answers each of its requests by a POST. */
const MAX_CONCURRENT = 100;

/**
 * Wraps a fetch: a body ends with an error after `limitBytes`, and the number of concurrent requests is limited.
 * `signal` aborts all requests.
 */
export function limitFetch(fetch: ModelFetch, limitBytes: number, signal: AbortSignal): ModelFetch {
  const running = new Set<object>();
  return async (input, init) => {
    if (running.size >= MAX_CONCURRENT) throw new Error(`The limit of ${MAX_CONCURRENT} concurrent requests is reached.`);
    const request = {};
    const onEnd = (): void => void running.delete(request);
    running.add(request);
    const signals = [signal, init?.signal].filter((one) => one !== null && one !== undefined);
    const response = await fetch(input, { ...init, signal: AbortSignal.any(signals) }).catch((error: unknown) => {
      onEnd();
      throw error;
    });
    return limitBody(response, {
      bytes: limitBytes,
      createError: () => new Error(`The answer has more than ${limitBytes / 1024 ** 2} MiB.`),
      onEnd,
    });
  };
}
