import { setTimeout as delay } from "node:timers/promises";
import type { Gateway } from "./gateway.ts";
import { GatewayError } from "./gateway-error.ts";
import type { Hello } from "./gateway-socket.ts";

/** How long a gateway may be away before its tasks are given up. */
const AWAY_LIMIT_MS = 120_000;
/** Where it asks to come again, and does not say when. */
const DEFAULT_RETRY_MS = 500;

/** Who waits for which gateway; aborted when that is over. */
interface Waiting {
  gateway: Gateway;
  signal: AbortSignal;
}

/**
 * Does with the gateway what may be done twice, once more after each break of the connection, and where it has no time for it: while it is about
 * to stop, or when its configuration was changed too often. Rejects with a GatewayError, or because nobody waits any longer.
 */
export async function retryAfterReconnect<T>(waiting: Waiting, act: (hello: Hello) => Promise<T>): Promise<T> {
  let waitedMs = 0;
  for (;;) {
    const hello = await reconnect(waiting);
    try {
      return await act(hello);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      if (error.code === "DISCONNECTED") continue;
      if (!error.isBusy || waitedMs >= AWAY_LIMIT_MS) throw error;
      const againMs = Math.min(Math.max(error.retryAfterMs ?? 0, DEFAULT_RETRY_MS), AWAY_LIMIT_MS);
      await delay(againMs, undefined, { signal: waiting.signal });
      waitedMs += againMs;
    }
  }
}

/** Waits for the connection, but not for ever. */
async function reconnect({ gateway, signal }: Waiting): Promise<Hello> {
  const limit = AbortSignal.timeout(AWAY_LIMIT_MS);
  try {
    return await gateway.connected(AbortSignal.any([signal, limit]));
  } catch (error) {
    throw limit.aborted && gateway.failure !== null ? gateway.failure : error;
  }
}
