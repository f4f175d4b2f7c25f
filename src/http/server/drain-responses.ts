import type {} from "@fastify/sse";
import { withTimeout } from "@hak2i/async-kit";
import type { FastifyInstance, FastifyReply } from "fastify";

/**
 * Delays the close of the server until every request that has arrived has its whole response, at most `limitMs`. New
 * connections are refused meanwhile. Streams and sockets are closed separately.
 */
export function drainResponsesOnClose(app: FastifyInstance, limitMs: number): void {
  const openReplies = new Set<FastifyReply>();
  app.addHook("onRequest", (_request, reply, done) => {
    openReplies.add(reply);
    reply.raw.once("close", () => openReplies.delete(reply));
    done();
  });

  /** Requests on open connections can arrive meanwhile. */
  async function waitForAnswers(): Promise<void> {
    const next = [...openReplies].find(isAnswer);
    if (next === undefined) return;
    await new Promise<void>((resolve) => void next.raw.once("close", resolve));
    await waitForAnswers();
  }

  app.addHook("preClose", async () => {
    // Fastify closes the port only after this hook, and destroys all connections at that moment.
    app.server.close();
    await withTimeout(waitForAnswers(), limitMs, () => {});
  });
}

/** Whether the response ends by itself. Event streams and the sockets of WebSockets do not. */
const isAnswer = (reply: FastifyReply): boolean =>
  (reply.sse as FastifyReply["sse"] | undefined) === undefined && (!reply.sent || reply.raw.writableEnded);
