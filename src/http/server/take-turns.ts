import type { FastifyInstance } from "fastify";
import type { RequestTurns } from "../wire/request-turns.ts";
import { tenantOf } from "./tenant-of.ts";

const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route answers a probe of an operator, which must not wait for the reads of clients. */
    isProbe?: boolean;
  }
}

/** Lets reads wait for their turn, so that many reads at the same moment delay neither other tenants nor dispatches. */
export function takeTurns(app: FastifyInstance, requestTurns: Pick<RequestTurns, "take">): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const { isProbe = false } = request.routeOptions.config;
    const turn = READS.has(request.method) && !isProbe ? requestTurns.take(tenantOf(request)) : null;
    if (turn === null) done();
    else void turn.then(() => done());
  });
}
