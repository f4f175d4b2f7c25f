import { setImmediate as nextTurn } from "node:timers/promises";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from "fastify";
import { validatorCompiler } from "fastify-zod-openapi";
import type { Logger } from "pino";
import { stringifyWellFormed } from "#contract";
import type { ClientMemory } from "../../access/client-memory.ts";
import type { Principal } from "../../access/principal.ts";
import type { Config } from "../../config/config.ts";
import { BridgeError } from "../../errors.ts";
import { checkJson } from "../../requests/check-json.ts";
import { registerApiDocs } from "../openapi/api-docs.ts";
import { handleClientError } from "../wire/client-errors.ts";
import { sendProblem } from "../wire/problem.ts";
import { chooseRequestId } from "../wire/request-id.ts";
import { RATE_WINDOW_MS, type RequestRates } from "../wire/request-rates.ts";
import type { RequestTurns } from "../wire/request-turns.ts";
import { isWebSocketUpgrade } from "../wire/websocket-upgrade.ts";
import { collectAllowedMethods } from "./allowed-methods.ts";
import { answerHalfClosed } from "./answer-half-closed.ts";
import { type Credentials, createAuthentication } from "./authenticate.ts";
import { allowOrigins } from "./cors.ts";
import { drainResponsesOnClose } from "./drain-responses.ts";
import { handleError } from "./error-handler.ts";
import { type ConnectionLimits, limitConnections } from "./limit-connections.ts";
import { limitMemory, STALLED_READER_MS } from "./limit-memory.ts";
import { limitPipelining } from "./limit-pipelining.ts";
import { logRequests } from "./log-requests.ts";
import type { OverloadMonitor } from "./overload-monitor.ts";
import { createSecurityHeaders } from "./security-headers.ts";
import { takeTurns } from "./take-turns.ts";
import { tenantOf } from "./tenant-of.ts";

/**
 * Time limits of clients, and of pending responses when Bridge stops. A slow body is rejected at the first check after
 * its limit, within 15 s.
 */
export const serverTimeouts = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 14_000,
  checkIntervalMs: 1_000,
  keepAliveTimeoutMs: 72_000,
  drainMs: 5_000,
  stalledReaderMs: STALLED_READER_MS,
} as const;

/** Options of the server; `timeouts` and `connectionLimits` are for tests. */
export interface ServerOptions extends Credentials {
  config: Pick<Config, "bodyLimitBytes" | "corsOrigins">;
  logger: Logger;
  /** Where each request is logged; null if none is. `logger` can have a higher level. */
  requestLog?: Logger | null;
  version: string;
  overload: Pick<OverloadMonitor, "isOverloaded">;
  clientMemory: ClientMemory;
  requestTurns: RequestTurns;
  /** Counts the requests of each token; null if they have no limit. */
  requestRates?: RequestRates | null;
  timeouts?: { [Name in keyof typeof serverTimeouts]?: number };
  connectionLimits?: ConnectionLimits | null;
}

/** Creates the HTTP server with everything that applies to all routes. The caller registers the routes afterwards. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { config, logger, tokens, tickets, sessions } = options;
  const timeouts = { ...serverTimeouts, ...options.timeouts };
  const app: FastifyInstance = Fastify({
    http: {
      headersTimeout: timeouts.headersTimeoutMs,
      connectionsCheckingInterval: timeouts.checkIntervalMs,
      // Node would respond itself, without a body.
      requireHostHeader: false,
      // Many clients offer an upgrade to HTTP/2. If Node treated such a request as an upgrade, the request would lose its body.
      shouldUpgradeCallback: (request) => isWebSocketUpgrade(request) && app.server.listenerCount("upgrade") > 0,
    },
    requestTimeout: timeouts.requestTimeoutMs,
    keepAliveTimeout: timeouts.keepAliveTimeoutMs,
    bodyLimit: config.bodyLimitBytes,
    forceCloseConnections: true,
    // Fastify would respond without a problem document. The dispatcher rejects new tasks while Bridge stops.
    return503OnClosing: false,
    // The validation of bodies rejects and reports these keys.
    onProtoPoisoning: "ignore",
    onConstructorPoisoning: "ignore",
    routerOptions: { caseSensitive: true, maxParamLength: 200 },
    genReqId: chooseRequestId,
    clientErrorHandler: handleClientError,
    frameworkErrors: (error, request, reply) => void handleError(error, request, reply),
    // Bridge logs its own messages, such as the listening address, so Fastify logs only warnings and errors.
    loggerInstance: logger.child({}, { level: logger.isLevelEnabled("warn") ? "warn" : logger.level }) as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
  });
  // Node would reject an unknown `Expect` header without a body. The HTTP standard allows servers to ignore it.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  answerHalfClosed(app);

  app.setErrorHandler(handleError);
  // `validateRequestLine` rejects unknown routes; this handles missing files of plugins, such as those of `/docs`.
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, new BridgeError("not_found", "Not found.")));
  app.setValidatorCompiler(compileValidator);
  // Responses are not validated at run time; the tests check that they match their schemas.
  app.setSerializerCompiler(() => stringifyWellFormed);
  acceptOnlyJson(app, options.requestTurns);

  // Before all others, so that rejected requests are logged, too.
  if (options.requestLog) logRequests(app, options.requestLog);
  // First, so that pages can read error responses, and preflight requests need no token.
  if (config.corsOrigins.length > 0) await allowOrigins(app, config.corsOrigins);
  validateRequestLine(app);
  limitConnections(app, options.connectionLimits);
  limitPipelining(app);
  drainResponsesOnClose(app, timeouts.drainMs);
  app.decorateRequest("principal", null as unknown as Principal);
  app.addHook("onRequest", createAuthentication({ tokens, tickets, sessions }));
  shedLoad(app, options.overload);
  takeTurns(app, options.requestTurns);
  limitMemory(app, { ...config, clientMemory: options.clientMemory, stalledReaderMs: timeouts.stalledReaderMs });
  if (options.requestRates) await limitRate(app, options.requestRates);
  await registerApiDocs(app, options);
  return app;
}

/** Fastify represents a missing body as null, but schemas expect undefined. */
const compileValidator: typeof validatorCompiler = (route) => {
  const validate = validatorCompiler(route);
  return route.httpPart === "body" ? (body) => validate(body ?? undefined) : validate;
};

/** Sets the headers of every response, and rejects requests with an invalid `Host` or without a route, before authentication. */
function validateRequestLine(app: FastifyInstance): void {
  const allowedMethods = collectAllowedMethods(app);
  const fixedHeaders = { ...createSecurityHeaders(), "cache-control": "no-store" };
  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(fixedHeaders).header("x-request-id", request.id);
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1") {
      throw new BridgeError("invalid_request", "The request has no Host header.");
    }
    // RFC 9112 requires this, because a proxy may have used the other header.
    if (countHosts(request.raw.rawHeaders) > 1) throw new BridgeError("invalid_request", "The request has more than one Host header.");
    // No route supports OPTIONS, and the CORS plugin has handled preflight requests.
    if (request.is404 || request.method === "OPTIONS")
      throw toRouteError(request.method, allowedMethods(request.url.split("?", 1)[0] ?? ""), reply);
    done();
  });
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

function toRouteError(method: string, allowed: string[], reply: { header(name: string, value: string): unknown }): BridgeError {
  if (allowed.length === 0) return new BridgeError("not_found", "No route matches this path. See /docs for all routes.");
  reply.header("allow", allowed.join(", "));
  return new BridgeError("method_not_allowed", `This path does not support ${method}. Allowed: ${allowed.join(", ")}.`);
}

/** Smaller bodies take less than a millisecond, and wait for no turn. */
const COSTLY_BODY_BYTES = 4 * 1024;
/** A body of this size can take tens of milliseconds to parse. */
const LARGE_BODY_BYTES = 1024 * 1024;
/** The memory of smaller bodies is left to the garbage collector. */
const MIN_FREED_BYTES = 64 * 1024;

function acceptOnlyJson(app: FastifyInstance, requestTurns: Pick<RequestTurns, "take">): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, async (request: FastifyRequest, bytes: Buffer<ArrayBuffer>) => {
    const { "content-encoding": encoding = "identity" } = request.headers;
    if (encoding.toLowerCase() !== "identity")
      throw new BridgeError("unsupported_media_type", "Content-Encoding is not supported. Send the body without it.");
    const charset = findCharset(request.headers["content-type"] ?? "");
    if (charset !== null && !/^utf-?8$/i.test(charset))
      throw new BridgeError("unsupported_media_type", `The charset ${JSON.stringify(charset)} is not supported. Send the body as UTF-8.`);
    const { length } = bytes;
    if (length === 0) return undefined;
    // Many bodies that arrive at the same moment would otherwise block the event loop for the sum of their times.
    const takeTurn = async (): Promise<void> => {
      if (length > COSTLY_BODY_BYTES) await requestTurns.take(tenantOf(request));
    };
    await takeTurn();
    const checked = checkJson(bytes);
    await request.reserveValues(checked.memoryBytes);
    // Requests that waited for memory continue at the same moment, when it becomes free.
    await takeTurn();
    const body = checked.parse();
    freeBytes(bytes);
    // Lets the event loop process other requests between parsing and validating a large body.
    if (length > LARGE_BODY_BYTES) await nextTurn();
    return body;
  });
}

/** Returns the charset that a media type declares; null if it declares none. */
const findCharset = (contentType: string): string | null =>
  /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;]*))/i
    .exec(contentType)
    ?.slice(1)
    .find((value) => value !== undefined) ?? null;

/** Frees the memory at once, because the garbage collector can take longer than Bridge takes to store what the body contains. */
function freeBytes({ buffer, byteLength }: Buffer<ArrayBuffer>): void {
  // Small buffers can share an ArrayBuffer.
  if (byteLength > MIN_FREED_BYTES && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** Rejects new dispatches while Bridge is overloaded. All other routes continue to work. */
function shedLoad(app: FastifyInstance, overload: Pick<OverloadMonitor, "isOverloaded">): void {
  app.addHook("onRequest", (request, _reply, done) => {
    if (overload.isOverloaded && request.routeOptions.config.shedsLoad === true)
      throw new BridgeError("overloaded", "Bridge is overloaded. Try again later.");
    done();
  });
}

/**
 * Limits the requests per token, over all POST routes and the routes with `isRateLimited`. Requests are counted after authentication, so
 * public routes have no limit.
 */
async function limitRate(app: FastifyInstance, requestRates: RequestRates): Promise<void> {
  // Loaded when it is needed, because most Bridges have no limit.
  await app.register(import("@fastify/rate-limit"), {
    global: false,
    max: requestRates.perMinute,
    timeWindow: RATE_WINDOW_MS,
    store: createRateLimitStore(requestRates),
    keyGenerator: (request) => request.principal.name,
    errorResponseBuilder: (_request, { ttl }) => requestRates.createError(ttl),
  });
  const limit = app.rateLimit();
  app.addHook("onRoute", (route) => {
    const { isRateLimited = [route.method].flat().includes("POST"), public: isPublic = false } = route.config ?? {};
    if (isRateLimited && !isPublic) route.onRequest = [route.onRequest ?? [], limit].flat();
  });
}

/** Creates the store class for @fastify/rate-limit. All routes share its counts. */
const createRateLimitStore = ({ count }: RequestRates) =>
  class RateLimitStore {
    incr(token: string, callback: (error: Error | null, window: { current: number; ttl: number }) => void): void {
      callback(null, count(token));
    }

    child(): this {
      return this;
    }
  };

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route is rejected while Bridge is overloaded. */
    shedsLoad?: boolean;
    /** Requests count towards the rate limit, although the method is not POST. */
    isRateLimited?: boolean;
  }
}
