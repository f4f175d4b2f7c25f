import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { FastifyInstance } from "fastify";

/** Lets the answers that are being made go out before closing cuts the connections; streams see to themselves. */
export function finishAnswersOnClose(app: FastifyInstance, limitMs: number): void {
  const open = new Set<ServerResponse>();
  app.addHook("onRequest", (_request, reply, done) => {
    open.add(reply.raw);
    reply.raw.once("close", () => open.delete(reply.raw));
    done();
  });
  app.addHook("preClose", async () => {
    const unanswered = [...open].filter((response) => !response.headersSent);
    const cut = new AbortController();
    const limit = delay(limitMs, undefined, { signal: cut.signal }).catch(() => {});
    await Promise.race([Promise.all(unanswered.map((response) => once(response, "close"))), limit]);
    cut.abort();
  });
}
