import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Logger } from "pino";

/**
 * Logs one line for each request when its response has ended. The line contains the route and not the path, because paths and queries can
 * contain ids, file names and tickets.
 */
export function logRequests(app: FastifyInstance, logger: Logger): void {
  app.addHook("onRequest", (request, reply, done) => {
    // `onResponse` is not called if the client disconnects before the end, as readers of streams do.
    reply.raw.once("close", () =>
      logger.info(
        {
          ...describeRequest(request),
          status: reply.raw.statusCode,
          ms: Math.round(reply.elapsedTime * 10) / 10,
          isComplete: reply.raw.writableFinished,
        },
        "request",
      ),
    );
    done();
  });
}

/** The principal is null if the route needs no token, or if the request was rejected before it had one. */
function describeRequest({ method, routeOptions, principal, id }: FastifyRequest) {
  const owner = principal as FastifyRequest["principal"] | null;
  return { method, route: routeOptions.url ?? null, principal: owner?.name ?? null, tenant: owner?.tenant ?? null, requestId: id };
}
