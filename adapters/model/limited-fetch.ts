import type { ModelFetch } from "./model-endpoint.ts";

/** A fetch whose answers end with an error beyond so many bytes, and that ends with the signal whatever its caller waits for. */
export function createLimitedFetch(fetch: ModelFetch, limitBytes: number, signal: AbortSignal): ModelFetch {
  return async (input, init) => {
    const signals = [signal, init?.signal].filter((one) => one !== null && one !== undefined);
    const response = await fetch(input, { ...init, signal: AbortSignal.any(signals) });
    if (response.body === null) return response;
    let bytes = 0;
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.length;
          if (bytes > limitBytes) controller.error(new Error(`The answer has more than ${limitBytes / 1024 ** 2} MiB.`));
          else controller.enqueue(chunk);
        },
      }),
    );
    const { status, statusText, headers } = response;
    return new Response(counted, { status, statusText, headers });
  };
}
