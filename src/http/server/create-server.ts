import rateLimit from "@fastify/rate-limit";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import { validatorCompiler } from "fastify-zod-openapi";
import type { Logger } from "pino";
import type { Principal } from "../../access/principal.ts";
import type { Tokens } from "../../access/tokens.ts";
import type { Config } from "../../config/config.ts";
import { BridgeError } from "../../errors.ts";
import { registerApiDocs } from "../openapi/api-docs.ts";
import { answerClientError } from "../wire/client-errors.ts";
import type { HeldBytes } from "../wire/held-bytes.ts";
import { parseJson } from "../wire/parse-json.ts";
import { sendProblem } from "../wire/problem.ts";
import { chooseRequestId } from "../wire/request-id.ts";
import { isBridgeUpgrade } from "../wire/upgrade.ts";
import { collectAllowedMethods } from "./allowed-methods.ts";
import { createAuthentication, type TicketDesk } from "./authenticate.ts";
import { allowOrigins } from "./cors.ts";
import { handleError } from "./error-handler.ts";
import { finishAnswersOnClose } from "./finish-answers.ts";
import { holdRequests, STALLED_READER_MS } from "./hold-requests.ts";
import { type ConnectionLimits, limitConnections } from "./limit-connections.ts";
import { limitPipelining } from "./limit-pipelining.ts";
import type { Overload } from "./overload.ts";
import { createRateWindows } from "./rate-windows.ts";
import { createSecurityHeaders } from "./security-headers.ts";

/** How long a client may take, and Bridge with its last answers. A body is cut at the first check after its time: within 15 s. */
export const serverTimeouts = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 14_000,
  checkIntervalMs: 1_000,
  keepAliveTimeoutMs: 72_000,
  lastAnswersMs: 5_000,
  stalledReaderMs: STALLED_READER_MS,
} as const;

/** What the server is made of; times and limits are there for tests. */
export interface ServerOptions {
  config: Pick<Config, "bodyLimitBytes" | "rateLimitPerMinute" | "corsOrigins">;
  logger: Logger;
  version: string;
  tokens: Pick<Tokens, "find">;
  tickets: TicketDesk;
  overload: Pick<Overload, "isOverloaded">;
  heldBytes: HeldBytes;
  timeouts?: { [Name in keyof typeof serverTimeouts]?: number };
  connectionLimits?: ConnectionLimits | null;
}

/** The HTTP server with everything that holds for all routes; the routes are registered on it afterwards. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { config, logger, tokens, tickets } = options;
  const timeouts = { ...serverTimeouts, ...options.timeouts };
  const app: FastifyInstance = Fastify({
    http: {
      headersTimeout: timeouts.headersTimeoutMs,
      connectionsCheckingInterval: timeouts.checkIntervalMs,
      // Node would answer that one itself, without a body.
      requireHostHeader: false,
      // Clients offer upgrades that nobody wants (to HTTP/2, most often); a request that was taken for one would lose its body.
      shouldUpgradeCallback: (request) => isBridgeUpgrade(request) && app.server.listenerCount("upgrade") > 0,
    },
    requestTimeout: timeouts.requestTimeoutMs,
    keepAliveTimeout: timeouts.keepAliveTimeoutMs,
    bodyLimit: config.bodyLimitBytes,
    forceCloseConnections: true,
    // Its answer would not be a problem; what must not happen while Bridge stops is refused by the dispatcher.
    return503OnClosing: false,
    // Names that poison prototypes are found, and named, where bodies are checked.
    onProtoPoisoning: "ignore",
    onConstructorPoisoning: "ignore",
    routerOptions: { caseSensitive: true, maxParamLength: 200 },
    genReqId: chooseRequestId,
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => void handleError(error, request, reply),
    // What Fastify says beyond faults (that it listens, for one) is told elsewhere, in Bridge's own words.
    loggerInstance: logger.child({}, { level: logger.isLevelEnabled("warn") ? "warn" : logger.level }) as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
  });
  // Node would refuse an unknown expectation with an empty answer; the standard allows to ignore it.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));

  app.setErrorHandler(handleError);
  // Unknown routes are told in `receive`; this is for plugins that find nothing behind a route of theirs.
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, new BridgeError("not_found", "There is nothing here.")));
  app.setValidatorCompiler(compileValidator);
  // Answers are what the code says; that they fit their schemas is for the tests to prove, not for every request.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  acceptOnlyJson(app);

  // Before anything refuses: a page must be able to read a refusal, and a browser asks without a token whether it may call.
  if (config.corsOrigins.length > 0) await allowOrigins(app, config.corsOrigins);
  receive(app);
  limitConnections(app, options.connectionLimits);
  limitPipelining(app);
  finishAnswersOnClose(app, timeouts.lastAnswersMs);
  app.decorateRequest("principal", null as unknown as Principal);
  app.addHook("onRequest", createAuthentication({ tokens, tickets }));
  shedLoad(app, options.overload);
  holdRequests(app, { ...config, heldBytes: options.heldBytes, stalledReaderMs: timeouts.stalledReaderMs });
  if (config.rateLimitPerMinute !== null) await limitRate(app, config.rateLimitPerMinute);
  await registerApiDocs(app, options.version);
  return app;
}

/** Fastify shows an absent body as null; to a schema it is absent. */
const compileValidator: typeof validatorCompiler = (route) => {
  const validate = validatorCompiler(route);
  return route.httpPart === "body" ? (body) => validate(body ?? undefined) : validate;
};

/** What is settled before anybody asks who it is: the request's id, a sane request line, and whether there is such a route. */
function receive(app: FastifyInstance): void {
  const allowedMethods = collectAllowedMethods(app);
  const fixedHeaders = { ...createSecurityHeaders(), "cache-control": "no-store" };
  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(fixedHeaders).header("x-request-id", request.id);
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1") {
      throw new BridgeError("invalid_request", "The request has no Host header.");
    }
    // Required by RFC 9112, because a proxy in front may have used the other one.
    if (countHosts(request.raw.rawHeaders) > 1) throw new BridgeError("invalid_request", "The request has more than one Host header.");
    // No route of ours takes OPTIONS; what browsers ask with it has been answered.
    if (request.is404 || request.method === "OPTIONS")
      throw describeMissingRoute(request.method, allowedMethods(request.url.split("?", 1)[0] ?? ""), reply);
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

function describeMissingRoute(method: string, allowed: string[], reply: { header(name: string, value: string): unknown }): BridgeError {
  if (allowed.length === 0) return new BridgeError("not_found", "There is nothing here. The routes are listed at /docs.");
  reply.header("allow", allowed.join(", "));
  return new BridgeError("method_not_allowed", `${method} is not allowed here. Allowed: ${allowed.join(", ")}.`);
}

/** A body of this size can take tens of milliseconds to parse. */
const LARGE_BODY_BYTES = 1024 * 1024;
/** Freeing less is not worth the call. */
const LEAST_FREED_BYTES = 64 * 1024;

function acceptOnlyJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, bytes, done) => {
    try {
      const { "content-encoding": encoding = "identity" } = request.headers;
      if (encoding.toLowerCase() !== "identity") throw new BridgeError("unsupported_media_type", "Send the body without Content-Encoding.");
      const { length } = bytes;
      const body = length === 0 ? undefined : parseJson(bytes as Buffer);
      freeBytes(bytes as Buffer<ArrayBuffer>);
      // Other requests get their turn between the parsing of a large body and the checks of its route.
      if (length > LARGE_BODY_BYTES) setImmediate(done, null, body);
      else done(null, body);
    } catch (error) {
      done(error as Error);
    }
  });
}

/** Frees the memory at once, because the garbage collector can take longer than Bridge takes to store what the body contains. */
function freeBytes({ buffer, byteLength }: Buffer<ArrayBuffer>): void {
  // A small buffer can share its memory with others.
  if (byteLength > LEAST_FREED_BYTES && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** Under overload new dispatches are refused; what is accepted stays visible: events, health and metrics go on. */
function shedLoad(app: FastifyInstance, overload: Pick<Overload, "isOverloaded">): void {
  app.addHook("onRequest", (request, _reply, done) => {
    if (request.routeOptions.config.shedsLoad === true && overload.isOverloaded)
      throw new BridgeError("overloaded", "Bridge is overloaded; try again later.");
    done();
  });
}

/** One allowance per token over all POST routes and the routes that ask for it, together; counted after the token is known. */
async function limitRate(app: FastifyInstance, perMinute: number): Promise<void> {
  await app.register(rateLimit, {
    global: false,
    max: perMinute,
    timeWindow: 60_000,
    store: createRateWindows(),
    keyGenerator: (request) => request.principal.name,
    errorResponseBuilder: (_request, { ttl }) =>
      new BridgeError("too_many_requests", `More than ${perMinute} requests in a minute.`, {
        retryAfterSeconds: Math.max(1, Math.ceil(ttl / 1000)),
      }),
  });
  const limit = app.rateLimit();
  app.addHook("onRoute", (route) => {
    if ([route.method].flat().includes("POST") || route.config?.isRateLimited === true)
      route.onRequest = [route.onRequest ?? [], limit].flat();
  });
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Refused under overload. */
    shedsLoad?: boolean;
    /** Counts against the limit of requests, although it is no POST. */
    isRateLimited?: boolean;
  }
}
