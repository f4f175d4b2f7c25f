import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { BridgeError } from "../../errors.ts";

/** Maximum pending requests of one connection; more than common clients pipeline. */
export const MAX_PIPELINED = 16;

/**
 * Limits the pending requests of one connection, because small requests can have large responses that a client never
 * reads. Node pauses such a connection only after it has handled all requests of a 64 KiB chunk.
 */
export function limitPipelining(app: FastifyInstance): void {
  const pending = new WeakMap<Socket, number>();
  const add = (socket: Socket, difference: 1 | -1): number => {
    const count = (pending.get(socket) ?? 0) + difference;
    pending.set(socket, count);
    return count;
  };
  app.addHook("onRequest", (request, reply, done) => {
    const { socket } = request.raw;
    reply.raw.once("close", () => add(socket, -1));
    if (add(socket, 1) > MAX_PIPELINED) {
      reply.header("connection", "close");
      throw new BridgeError(
        "too_many_requests",
        `This connection has more than ${MAX_PIPELINED} pending requests. Read the responses first.`,
        {
          retryAfterSeconds: 1,
        },
      );
    }
    done();
  });
}
