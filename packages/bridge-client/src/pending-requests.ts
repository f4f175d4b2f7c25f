import type { BridgeClientError } from "./bridge-client-error.ts";
import { createRandomId } from "./random-id.ts";

/** Options of one request. */
export interface AskOptions {
  /** Rejects the request. Its answer is ignored when it arrives. */
  signal: AbortSignal;
  /** How long Bridge may take before it answers, in addition to the limit of every request. */
  waitMs?: number;
  /** Called as soon as a successful answer arrives, before the next message is processed and before the promise resolves. */
  onSuccess?: () => void;
}

interface PendingRequest {
  /** Length of its frame. */
  length: number;
  resolve(payload: object): void;
  reject(error: unknown): void;
}

/** Creates the list of the requests that have no answer yet. */
export function createPendingRequests() {
  const pending = new Map<string, PendingRequest>();

  function take(requestId: string): PendingRequest | undefined {
    const request = pending.get(requestId);
    pending.delete(requestId);
    return request;
  }

  return {
    /**
     * Sends a request with a new id. Resolves with the payload of its answer. `send` returns the length of the frame. `watch` starts the
     * time limit, and returns a function that stops it.
     */
    add<T>(send: (requestId: string) => number, watch: () => () => void, { signal, onSuccess }: AskOptions): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        const requestId = createRandomId();
        const length = send(requestId);
        const stopWatch = watch();
        const settle = (act: () => void): void => {
          stopWatch();
          signal.removeEventListener("abort", onAbort);
          act();
        };
        // The request stays in the list, so that its answer is recognized.
        const onAbort = (): void => settle(() => reject(signal.reason));
        signal.addEventListener("abort", onAbort);
        pending.set(requestId, {
          length,
          reject: (error) => settle(() => reject(error)),
          resolve: (payload) =>
            settle(() => {
              onSuccess?.();
              resolve(payload as T);
            }),
        });
      });
    },
    take,
    /** Rejects the request with the longest frame, because Bridge rejected a frame as too large without reading its id. */
    rejectLongest(error: BridgeClientError): void {
      const [longest] = [...pending].sort(([, one], [, other]) => other.length - one.length);
      if (longest !== undefined) take(longest[0])?.reject(error);
    },
    rejectAll(error: unknown): void {
      for (const requestId of [...pending.keys()]) take(requestId)?.reject(error);
    },
  };
}
