import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { BridgeError } from "../../errors.ts";

/** How many requests of one connection may be unanswered: more than clients send ahead. */
export const MAX_PIPELINED = 16;

/**
 * Bounds what one connection can make Bridge hold: a few bytes ask for much, and the answers wait for a client that may read none
 * of them. Node pauses such a connection too late: only after it has handled every request of a piece of 64 KiB.
 */
export function limitPipelining(app: FastifyInstance): void {
  const unanswered = new WeakMap<Socket, number>();
  const add = (socket: Socket, difference: 1 | -1): number => {
    const count = (unanswered.get(socket) ?? 0) + difference;
    unanswered.set(socket, count);
    return count;
  };
  app.addHook("onRequest", (request, reply, done) => {
    const { socket } = request.raw;
    reply.raw.once("close", () => add(socket, -1));
    if (add(socket, 1) > MAX_PIPELINED) {
      reply.header("connection", "close");
      throw new BridgeError("too_many_requests", `More than ${MAX_PIPELINED} requests of this connection are unanswered.`, {
        retryAfterSeconds: 1,
      });
    }
    done();
  });
}
