import type { FastifyReply } from "fastify";
import { BridgeError } from "../../errors.ts";

/** Creates the reason why work for a client that has disconnected stops. No client receives it. */
export const createDisconnectedError = (): BridgeError => new BridgeError("overloaded", "The client disconnected before the response.");

/** Returns a signal that aborts when the client disconnects before the response. Its reason is a BridgeError. */
export function createClosedSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => controller.abort(createDisconnectedError());
  if (raw.destroyed) abort();
  else raw.once("close", abort);
  return controller.signal;
}
