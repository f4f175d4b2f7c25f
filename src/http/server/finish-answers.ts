import { once } from "node:events";
import { withTimeout } from "@hak2i/async-kit";
import type { FastifyInstance, FastifyReply } from "fastify";

/** Lets the answers that are being made go out before closing cuts the connections; streams and sockets see to themselves. */
export function finishAnswersOnClose(app: FastifyInstance, limitMs: number): void {
  const open = new Set<FastifyReply>();
  app.addHook("onRequest", (_request, reply, done) => {
    open.add(reply);
    reply.raw.once("close", () => open.delete(reply));
    done();
  });
  app.addHook("preClose", async () => {
    const unanswered = [...open].filter((reply) => !reply.raw.headersSent && !reply.sent);
    await withTimeout(Promise.all(unanswered.map((reply) => once(reply.raw, "close"))), limitMs, () => {});
  });
}
