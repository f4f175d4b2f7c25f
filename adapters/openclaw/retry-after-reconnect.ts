import { setTimeout as delay } from "node:timers/promises";
import type { Gateway } from "./gateway.ts";
import { GatewayError } from "./gateway-error.ts";
import type { Hello } from "./gateway-socket.ts";

/** How long tasks wait for a gateway that is disconnected or busy. */
const WAIT_LIMIT_MS = 120_000;
/** Delay before a retry if the gateway asks for one without a delay. */
const DEFAULT_RETRY_MS = 500;

interface RetryOptions {
  gateway: Gateway;
  /** Ends the wait for the gateway when aborted. */
  signal: AbortSignal;
}

/**
 * Runs an idempotent operation on the gateway, and repeats it after each reconnect and when the gateway is busy, for example while it shuts
 * down or when it limits the rate of configuration changes. Rejects with a GatewayError, or when the signal is aborted.
 */
export async function retryAfterReconnect<T>(options: RetryOptions, act: (hello: Hello) => Promise<T>): Promise<T> {
  let waitedMs = 0;
  for (;;) {
    const hello = await waitForConnection(options);
    try {
      return await act(hello);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      if (error.code === "DISCONNECTED") continue;
      if (!error.isBusy || waitedMs >= WAIT_LIMIT_MS) throw error;
      const retryMs = Math.min(Math.max(error.retryAfterMs ?? 0, DEFAULT_RETRY_MS), WAIT_LIMIT_MS);
      await delay(retryMs, undefined, { signal: options.signal });
      waitedMs += retryMs;
    }
  }
}

/** Waits for the connection, up to a time limit. */
async function waitForConnection({ gateway, signal }: RetryOptions): Promise<Hello> {
  const limit = AbortSignal.timeout(WAIT_LIMIT_MS);
  try {
    return await gateway.waitForConnection(AbortSignal.any([signal, limit]));
  } catch (error) {
    throw limit.aborted && gateway.failure !== null ? gateway.failure : error;
  }
}
