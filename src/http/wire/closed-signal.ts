import type { FastifyReply } from "fastify";
import { BridgeError } from "../../errors.ts";

/** Returns a signal that aborts when the client disconnects before the response. Its reason is a BridgeError. */
export function createClosedSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => controller.abort(new BridgeError("overloaded", "The client disconnected before the response."));
  if (raw.destroyed) abort();
  else raw.once("close", abort);
  return controller.signal;
}
