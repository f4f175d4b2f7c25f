import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Principal } from "../../access/principal.ts";

/** Does the request change something? */
export const isWrite = ({ method }: Pick<FastifyRequest, "method">): boolean => method !== "GET" && method !== "HEAD";

/** Who asked for what, without a word of its content. */
export function describeWrite(request: FastifyRequest) {
  // By the route that it has come to: one place can be written in many ways.
  const params = request.params as Readonly<Record<string, string>>;
  const filled = request.routeOptions.url?.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const [, , , , provider, ...resource] = filled?.split("/") ?? [];
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
 * Logs one line for every write to the routes of this scope, also for one that is refused or whose client has gone. Only strangers, who could
 * fill the log, leave no trace.
 */
export function auditWrites(app: FastifyInstance, logger: Pick<Logger, "info">): void {
  const underWay = new Set<FastifyRequest>();
  const told = new WeakSet<FastifyRequest>();
  const tell = (request: FastifyRequest, outcome: string): void => {
    underWay.delete(request);
    if (!told.has(request)) logger.info({ ...describeWrite(request), outcome }, "gateway write");
    told.add(request);
  };
  app.addHook("preHandler", async (request) => {
    if (isWrite(request)) underWay.add(request);
  });
  app.addHook("onSend", async (request, reply, payload) => {
    if (!isWrite(request) || isStranger(request)) return;
    tell(request, reply.statusCode < 400 ? "done" : codeOf(payload));
  });
  // What is still under way when the last answers have been waited for is cut off.
  app.addHook("onClose", async () => {
    for (const request of underWay) tell(request, "unknown");
  });
}

/** Nobody has told yet who asks. */
const isStranger = (request: FastifyRequest): boolean => (request.principal as Principal | null) === null;

/** The code of a refusal: it is a problem document by now. */
const codeOf = (payload: unknown): string => (JSON.parse(String(payload)) as { code: string }).code;
