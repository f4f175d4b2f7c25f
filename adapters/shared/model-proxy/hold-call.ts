import type { IncomingMessage, ServerResponse } from "node:http";
import { PassThrough, type Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";

/** Maximum size of the body of a held call that is read ahead. The largest request that Anthropic accepts. */
const MAX_HELD_BYTES = 32 * 1024 ** 2;

/**
 * Closes a call whose program gives it up while it waits for a decision, so that it never reaches the vendor. Returns the body of the
 * request for the time after the decision. A decision at once changes nothing.
 */
export async function holdCall(incoming: IncomingMessage, response: ServerResponse, decision: Promise<unknown>): Promise<Readable> {
  const isDecided = await Promise.race([decision.then(() => true), setImmediate(false)]);
  if (isDecided || response.destroyed) return incoming;
  const { socket } = incoming;
  // A closed connection looks like one whose program has closed only its sending side. No known program does this while it waits.
  const close = (): void => void response.destroy();
  socket.once("end", close);
  response.once("close", () => socket.off("end", close));
  // Node does not notice the end of a connection before the whole body has been read.
  return incoming.pipe(new PassThrough({ readableHighWaterMark: MAX_HELD_BYTES }));
}
