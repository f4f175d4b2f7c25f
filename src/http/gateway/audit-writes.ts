import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Principal } from "../../access/principal.ts";

/** Returns whether the request changes the runtime. */
export const isWrite = ({ method }: Pick<FastifyRequest, "method">): boolean => method !== "GET" && method !== "HEAD";

/** Returns the fields of the audit log: the caller and the resource, without the content. */
export function describeWrite(request: FastifyRequest) {
  // Built from the route, because different URLs can be equivalent.
  const params = request.params as Readonly<Record<string, string>>;
  const path = request.routeOptions.url?.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const [, , , , provider, ...resource] = path?.split("/") ?? [];
  return {
    requestId: request.id,
    principal: request.principal.name,
    tenant: request.principal.tenant,
    method: request.method,
    provider,
    resource: resource.join("/"),
  };
}

/**
 * Logs one line for every write to the routes of this plugin, also if it is rejected or its client disconnects.
 * Unauthenticated requests are not logged, because anyone could fill the log.
 */
export function auditWrites(app: FastifyInstance, logger: Logger): void {
  const pending = new Set<FastifyRequest>();
  const logged = new WeakSet<FastifyRequest>();
  const log = (request: FastifyRequest, outcome: string): void => {
    pending.delete(request);
    if (!logged.has(request)) logger.info({ ...describeWrite(request), outcome }, "gateway write");
    logged.add(request);
  };
  app.addHook("preHandler", async (request) => {
    if (isWrite(request)) pending.add(request);
  });
  app.addHook("onSend", async (request, reply, payload) => {
    // The node that answers the request logs it.
    if (!isWrite(request) || isUnauthenticated(request) || request.isForwarded === true) return;
    log(request, reply.statusCode < 400 ? "done" : parseErrorCode(payload));
  });
  // The server closes the connections of writes that did not finish within the shutdown time limit.
  app.addHook("onClose", async () => {
    for (const request of pending) log(request, "unknown");
  });
}

const isUnauthenticated = (request: FastifyRequest): boolean => (request.principal as Principal | null) === null;

/** Returns the code of an error response. */
const parseErrorCode = (payload: unknown): string => (JSON.parse(String(payload)) as { code: string }).code;
