import type { FastifyInstance, FastifyRequest } from "fastify";
import type { RequestTurns } from "../wire/request-turns.ts";
import { tenantOf } from "./tenant-of.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route answers a probe of an operator, which must not wait for the reads of clients. */
    isProbe?: boolean;
  }
}

/**
 * Lets requests wait for their turn, so that many at the same moment delay neither other tenants nor dispatches. Dispatches wait only if
 * their body is long. A read whose client has disconnected meanwhile does not start.
 */
export function takeTurns(app: FastifyInstance, requestTurns: Pick<RequestTurns, "take">): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const { isProbe = false, shedsLoad = false } = request.routeOptions.config;
    const turn = isProbe || shedsLoad ? null : requestTurns.take(tenantOf(request));
    if (turn === null) done();
    else
      void turn.then(() => {
        if (!isAbandonedRead(request)) done();
      });
  });
}

/** A write has been received and takes effect without its client, which cannot know whether it did. */
const isAbandonedRead = ({ method, raw }: FastifyRequest): boolean => (method === "GET" || method === "HEAD") && raw.socket.destroyed;
