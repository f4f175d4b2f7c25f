import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { FastifyInstance, FastifyReply } from "fastify";

/**
 * Delays the close of the server until all started requests have a response, at most `limitMs`. Streams and sockets are
 * closed separately.
 */
export function drainResponsesOnClose(app: FastifyInstance, limitMs: number): void {
  const openReplies = new Set<FastifyReply>();
  app.addHook("onRequest", (_request, reply, done) => {
    openReplies.add(reply);
    reply.raw.once("close", () => openReplies.delete(reply));
    done();
  });
  app.addHook("preClose", async () => {
    const pending = [...openReplies].filter((reply) => !reply.raw.headersSent && !reply.sent);
    const stop = new AbortController();
    const limit = delay(limitMs, undefined, { signal: stop.signal }).catch(() => {});
    await Promise.race([Promise.all(pending.map((reply) => once(reply.raw, "close"))), limit]);
    stop.abort();
  });
}
