import { GatewayError } from "./gateway-error.ts";

const MAX_PENDING_CALLS = 1_000;

/** How a call waits for its response. */
interface WaitOptions {
  timeoutMs: number;
  signal: AbortSignal | undefined;
  /** Called with the first of two responses, which ends the time limit. */
  onAccepted: ((payload: unknown) => void) | undefined;
}

interface PendingCall {
  resolve(payload: unknown): void;
  reject(error: Error): void;
  onAccepted: ((payload: unknown) => void) | undefined;
  timer: NodeJS.Timeout;
}

/** Creates the set of calls that wait for a response of the gateway, each until its time limit or its abort. */
export function createPendingCalls() {
  const calls = new Map<string, PendingCall>();

  /** Removes a call; undefined if it does not wait any more. */
  function remove(id: string): PendingCall | undefined {
    const call = calls.get(id);
    calls.delete(id);
    clearTimeout(call?.timer);
    return call;
  }

  return {
    isFull: (): boolean => calls.size >= MAX_PENDING_CALLS,
    /** Adds a call. Resolves with the payload of its response. */
    add(id: string, method: string, { timeoutMs, signal, onAccepted }: WaitOptions): Promise<unknown> {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const timer = setTimeout(() => remove(id)?.reject(createTimeoutError(method, timeoutMs)), timeoutMs);
      const onAbort = (): void => remove(id)?.reject(createAbortedError(method));
      signal?.addEventListener("abort", onAbort, { once: true });
      calls.set(id, { resolve, reject, onAccepted, timer });
      return promise.finally(() => {
        remove(id);
        signal?.removeEventListener("abort", onAbort);
      });
    },
    /** Delivers a response, if its call still waits. */
    resolve(id: string, payload: unknown): void {
      const call = calls.get(id);
      if (call?.onAccepted === undefined || !isAccepted(payload)) remove(id)?.resolve(payload);
      else {
        clearTimeout(call.timer);
        call.onAccepted(payload);
      }
    },
    reject: (id: string, error: Error): void => remove(id)?.reject(error),
    rejectAll(error: Error): void {
      for (const call of calls.values()) call.reject(error);
    },
  };
}

const isAccepted = (payload: unknown): boolean =>
  typeof payload === "object" && payload !== null && "status" in payload && payload.status === "accepted";

/** Creates the error of a call whose caller stopped waiting. */
export const createAbortedError = (method: string) => new GatewayError({ code: "ABORTED", message: `The call of ${method} was aborted.` });
const createTimeoutError = (method: string, timeoutMs: number) =>
  new GatewayError({ code: "TIMEOUT", message: `The gateway did not respond to ${method} within ${timeoutMs / 1000} s.`, retryable: true });
