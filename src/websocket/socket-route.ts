import fastifyWebsocket, { type WebSocket } from "@fastify/websocket";
import type { FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import { z } from "zod";
import type { Principal } from "../access/principal.ts";
import { BridgeError } from "../errors.ts";
import { sendProblemOnSocket } from "../http/wire/client-errors.ts";
import { problemResponses } from "../http/wire/problem.ts";
import { isWebSocketUpgrade, WEBSOCKET_PATH } from "../http/wire/websocket-upgrade.ts";

/** Options of the route. */
interface SocketRouteOptions {
  frameLimitBytes: number;
  /** How long a client may take to respond to a close frame. */
  closeGraceMs: number;
  /** Throws if the principal may not open another socket. */
  checkCanOpen(principal: Principal): void;
  accept(socket: WebSocket, request: FastifyRequest): void;
  /** Closes all sockets. Called before the server closes. */
  stop(): Promise<void>;
}

/** Creates the Fastify plugin with the route that opens WebSockets. */
export function createSocketRoute({
  frameLimitBytes,
  closeGraceMs,
  checkCanOpen,
  accept,
  stop,
}: SocketRouteOptions): FastifyPluginAsyncZodOpenApi {
  return async (app) => {
    // The types of the plugin do not include this option.
    const closeOptions = { closeTimeout: closeGraceMs };
    await app.register(fastifyWebsocket, {
      options: { maxPayload: frameLimitBytes, perMessageDeflate: false, clientTracking: false, ...closeOptions },
      // The socket closes itself with the reason, such as a frame that is too long.
      errorHandler: (error, _socket, request) => request.log.debug({ err: error }, "WebSocket failed"),
      preClose: stop,
    });
    // A rejected upgrade cannot be followed by another request, and Fastify does not close its connection.
    app.addHook("onResponse", async ({ raw }) => {
      if (isWebSocketUpgrade(raw)) raw.socket.destroySoon();
    });
    const requestIds = new WeakMap<object, string>();
    app.websocketServer.on("headers", (headers, raw) => headers.push(`X-Request-Id: ${requestIds.get(raw) ?? ""}`));
    app.websocketServer.on("wsClientError", (error, socket, raw) =>
      sendProblemOnSocket(socket, new BridgeError("invalid_request", `The WebSocket handshake is not valid: ${error.message}.`), raw),
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
        description: "Requests and responses over one socket, as described in docs/websocket.md. Each op requires its own scope.",
        querystring: z.strictObject({
          ticket: z.string().optional().describe("A single-use ticket instead of a token, for browsers."),
        }),
        response: {
          101: { description: "The socket is open." },
          ...problemResponses("invalid_request", "unauthenticated", "upgrade_required", "overloaded", "storage_unavailable"),
        },
      },
      async preHandler(request) {
        checkCanOpen(request.principal);
        requestIds.set(request.raw, request.id);
      },
      handler(_request, reply) {
        reply.headers({ upgrade: "websocket", connection: "upgrade, close" });
        throw new BridgeError("upgrade_required", "This route requires a WebSocket. Connect with a WebSocket client.");
      },
      wsHandler: accept,
    });
  };
}
