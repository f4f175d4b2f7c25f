import { limitBody } from "./limit-body.ts";
import type { ModelFetch } from "./model-endpoint.ts";

/** So many requests of one fetch may wait for the end of their answers: what a server asks of its client is answered by requests, too. */
const MAX_UNDER_WAY = 100;

/**
 * A fetch whose answers end with an error beyond so many bytes, that does no more than so many requests at once, and that ends with the signal
 * whatever its caller waits for.
 */
export function limitFetch(fetch: ModelFetch, limitBytes: number, signal: AbortSignal): ModelFetch {
  const underWay = new Set<object>();
  return async (input, init) => {
    if (underWay.size >= MAX_UNDER_WAY) throw new Error(`${MAX_UNDER_WAY} requests are under way, and no more may be.`);
    const request = {};
    const onEnd = (): void => void underWay.delete(request);
    underWay.add(request);
    const signals = [signal, init?.signal].filter((one) => one !== null && one !== undefined);
    const response = await fetch(input, { ...init, signal: AbortSignal.any(signals) }).catch((error: unknown) => {
      onEnd();
      throw error;
    });
    return limitBody(response, {
      bytes: limitBytes,
      excess: () => new Error(`The answer has more than ${limitBytes / 1024 ** 2} MiB.`),
      onEnd,
    });
  };
}
