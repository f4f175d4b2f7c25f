import fastifyWebsocket, { type WebSocket } from "@fastify/websocket";
import type { FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZodOpenApi, FastifyZodOpenApiSchema } from "fastify-zod-openapi";
import type { Logger } from "pino";
import { z } from "zod";
import { derivesFrom, type Principal } from "../access/principal.ts";
import { startWallClockTimer } from "../access/wall-clock-timer.ts";
import { BridgeError } from "../errors.ts";
import { sendProblemOnSocket } from "../http/wire/client-errors.ts";
import type { ClientMemory } from "../http/wire/client-memory.ts";
import { problemResponses } from "../http/wire/problem.ts";
import { isWebSocketUpgrade, WEBSOCKET_PATH } from "../http/wire/websocket-upgrade.ts";
import type { Metrics } from "../metrics.ts";
import { type BridgeConnection, openConnection } from "./bridge-connection.ts";
import { type BridgeRequestHandler, type BridgeServer, closeCodes } from "./bridge-protocol.ts";
import { createFrameHandler } from "./handle-frame.ts";

/** How many sockets one tenant may hold open: enough for its clients, and an end to a client that leaks them. */
export const MAX_SOCKETS_PER_TENANT = 1000;

/** The protocol over WebSockets, on a server that has its other routes already. */
export interface WebSocketBridgeServer extends BridgeServer {
  /** Its one route; the sockets are stopped before the server closes. */
  routes: FastifyPluginAsyncZodOpenApi;
  /** Closes the sockets of a principal whose token is taken back. */
  disconnect(principal: Principal): void;
}

/** What it is made of; the times are for tests. */
export interface WebSocketBridgeServerOptions {
  handler: BridgeRequestHandler;
  /** Names of its ops, for metrics. */
  knownOps: Iterable<string>;
  /** No socket is opened any more, although those that are open go on. */
  isDraining?: () => boolean;
  frameLimitBytes: number;
  clientMemory: ClientMemory;
  metrics: Metrics;
  logger: Logger;
  clock?: () => number;
  heartbeatMs?: number;
  drainMs?: number;
  closeGraceMs?: number;
}

/** Creates the server; nobody is let in before `start`. */
export function createWebSocketBridgeServer(options: WebSocketBridgeServerOptions): WebSocketBridgeServer {
  const {
    handler,
    knownOps,
    isDraining = () => false,
    frameLimitBytes,
    clientMemory,
    metrics,
    logger,
    clock = Date.now,
    heartbeatMs = 30_000,
    drainMs = 2000,
    closeGraceMs = 1000,
  } = options;
  const answer = createFrameHandler({ handler, knownOps: new Set(knownOps), metrics, logger, clock });
  const connections = new Map<BridgeConnection, Principal>();
  let running = false;

  function accept(socket: WebSocket, request: FastifyRequest): void {
    if (!running || isDraining()) {
      socket.close(closeCodes.stopped, "bridge-stopped");
      return;
    }
    const { principal } = request;
    const { tenant, name, expiresAt } = principal;
    const connection = openConnection(socket, {
      stream: request.raw.socket,
      reservation: clientMemory.open(tenant),
      answer: (frame, channel) => answer(frame, principal, channel),
      heartbeatMs,
      onUnfinished: () => relieve(tenant),
      onCutOff() {
        metrics.websocketCutOffs.inc();
        logger.warn({ tenant, principal: name }, "a WebSocket client did not keep up or was gone, and was disconnected");
      },
    });
    connections.set(connection, principal);
    metrics.websocketClients.inc();
    const expiry =
      expiresAt === null ? undefined : startWallClockTimer(expiresAt, clock, () => connection.close(closeCodes.tokenOver, "token-expired"));
    socket.once("close", () => {
      connections.delete(connection);
      metrics.websocketClients.dec();
      expiry?.cancel();
    });
  }

  /** Closes the connection with the oldest incomplete message if the tenant is over its memory limit. */
  function relieve(tenant: string): void {
    if (!clientMemory.isFull(tenant)) return;
    let oldest: BridgeConnection | null = null;
    for (const [connection, principal] of connections) {
      if (principal.tenant !== tenant || connection.unfinishedSince === null) continue;
      if (oldest?.unfinishedSince == null || connection.unfinishedSince < oldest.unfinishedSince) oldest = connection;
    }
    if (oldest === null) return;
    metrics.websocketCutOffs.inc();
    logger.warn({ tenant }, "WebSocket client disconnected: the clients of its tenant occupy too much memory");
    oldest.dismiss(closeCodes.tooMuchHeld, "too-much-held");
  }

  function checkRoom({ tenant }: Principal): void {
    let count = 0;
    for (const principal of connections.values()) if (principal.tenant === tenant) count += 1;
    if (count >= MAX_SOCKETS_PER_TENANT)
      throw new BridgeError("overloaded", `No more than ${MAX_SOCKETS_PER_TENANT} WebSockets can be open at once.`);
  }

  async function stop(): Promise<void> {
    running = false;
    await Promise.all([...connections.keys()].map((connection) => connection.end(closeCodes.goingAway, "bridge-stopped", drainMs)));
  }

  const routes: FastifyPluginAsyncZodOpenApi = async (app) => {
    // Its types do not know it yet.
    const closing = { closeTimeout: closeGraceMs };
    await app.register(fastifyWebsocket, {
      options: { maxPayload: frameLimitBytes, perMessageDeflate: false, clientTracking: false, ...closing },
      // The socket closes itself, and tells why: a frame that is too long, or no frame at all.
      errorHandler: (error, _socket, request) => request.log.debug({ err: error }, "a WebSocket failed"),
      preClose: stop,
    });
    // Refused before the plugin knew that it is an upgrade: nothing else can come over that connection, and nobody else closes it.
    app.addHook("onResponse", async ({ raw }) => {
      if (isWebSocketUpgrade(raw)) raw.socket.destroySoon();
    });
    const requestIds = new WeakMap<object, string>();
    app.websocketServer.on("headers", (headers, raw) => headers.push(`X-Request-Id: ${requestIds.get(raw) ?? ""}`));
    app.websocketServer.on("wsClientError", (error, socket, raw) =>
      sendProblemOnSocket(socket, new BridgeError("invalid_request", `The WebSocket cannot be opened: ${error.message}.`), raw),
    );

    app.route({
      method: "GET",
      url: WEBSOCKET_PATH,
      exposeHeadRoute: false,
      config: { scope: "any" },
      schema: {
        operationId: "openSocket",
        tags: ["websocket"],
        summary: "Open the WebSocket bridge protocol",
        description: "Requests and answers over one socket, as docs/websocket.md describes them. Each op requires its own scope.",
        querystring: z.strictObject({
          ticket: z.string().optional().describe("A single-use ticket in place of the token, for browsers."),
        }),
        response: {
          101: { description: "The socket is open." },
          ...problemResponses("invalid_request", "unauthenticated", "upgrade_required", "overloaded"),
        },
      } satisfies FastifyZodOpenApiSchema,
      async preHandler(request) {
        checkRoom(request.principal);
        requestIds.set(request.raw, request.id);
      },
      handler(_request, reply) {
        reply.headers({ upgrade: "websocket", connection: "upgrade, close" });
        throw new BridgeError("upgrade_required", "This is a WebSocket: connect with a WebSocket client.");
      },
      wsHandler: accept,
    });
  };

  return {
    endpoint: WEBSOCKET_PATH,
    get running() {
      return running;
    },
    async start() {
      running = true;
    },
    stop,
    routes,
    disconnect(principal) {
      for (const [connection, owner] of connections)
        if (derivesFrom(owner, principal)) connection.close(closeCodes.tokenOver, "token-withdrawn");
    },
  };
}
