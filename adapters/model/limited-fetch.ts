import type { ModelFetch } from "./model-endpoint.ts";

/** So many requests of one fetch may wait for the end of their answers: what a server asks of its client is answered by requests, too. */
const MAX_UNDER_WAY = 100;

/**
 * A fetch whose answers end with an error beyond so many bytes, that does no more than so many requests at once, and that ends with the signal
 * whatever its caller waits for.
 */
export function createLimitedFetch(fetch: ModelFetch, limitBytes: number, signal: AbortSignal): ModelFetch {
  const underWay = new Set<object>();
  return async (input, init) => {
    if (underWay.size >= MAX_UNDER_WAY) throw new Error(`${MAX_UNDER_WAY} requests are under way, and no more may be.`);
    const request = {};
    const end = (): void => void underWay.delete(request);
    underWay.add(request);
    const signals = [signal, init?.signal].filter((one) => one !== null && one !== undefined);
    const response = await fetch(input, { ...init, signal: AbortSignal.any(signals) }).catch((error: unknown) => {
      end();
      throw error;
    });
    if (response.body === null) {
      end();
      return response;
    }
    let bytes = 0;
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.length;
          controller.enqueue(chunk);
          if (bytes <= limitBytes) return;
          end();
          throw new Error(`The answer has more than ${limitBytes / 1024 ** 2} MiB.`);
        },
        flush: end,
        cancel: end,
      }),
    );
    const { status, statusText, headers } = response;
    return new Response(counted, { status, statusText, headers });
  };
}
