import type { WebSocket } from "@fastify/websocket";
import type { FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZodOpenApi } from "fastify-zod-openapi";
import type { Logger } from "pino";
import type { ClientMemory } from "../access/client-memory.ts";
import { derivesFrom, type Principal } from "../access/principal.ts";
import { BridgeError } from "../errors.ts";
import type { RequestTurns } from "../http/wire/request-turns.ts";
import { WEBSOCKET_PATH } from "../http/wire/websocket-upgrade.ts";
import type { Metrics } from "../metrics.ts";
import { startWallClockTimer } from "../timers/wall-clock-timer.ts";
import { openConnection, type SocketConnection } from "./connection/socket-connection.ts";
import { createFrameHandler } from "./handle-frame.ts";
import { closeCodes, type OpHandler, type SocketServer } from "./op-protocol.ts";
import { createSocketRoute } from "./socket-route.ts";

/** Maximum open sockets of one tenant, so that a client that leaks sockets does not exhaust the server. */
export const MAX_SOCKETS_PER_TENANT = 1000;

/** The WebSocket transport of the bridge protocol. */
export interface WebSocketServer extends SocketServer {
  /** The Fastify plugin with the route. It closes all sockets before the server closes. */
  routes: FastifyPluginAsyncZodOpenApi;
  /** Closes the sockets of a principal whose token was revoked. */
  disconnect(principal: Principal): void;
}

/** Options of the server; the times are for tests. */
export interface SocketServerOptions {
  handler: OpHandler;
  /** Names of all ops, for metrics. */
  knownOps: Iterable<string>;
  /** Whether new sockets are rejected while open ones continue. */
  isDraining?: () => boolean;
  frameLimitBytes: number;
  clientMemory: ClientMemory;
  requestTurns: RequestTurns;
  metrics: Metrics;
  logger: Logger;
  clock?: () => number;
  heartbeatMs?: number;
  drainMs?: number;
  closeGraceMs?: number;
}

/** Creates the server. It rejects all sockets before `start`. */
export function createSocketServer(options: SocketServerOptions): WebSocketServer {
  const {
    handler,
    knownOps,
    isDraining = () => false,
    frameLimitBytes,
    clientMemory,
    requestTurns,
    metrics,
    logger,
    clock = Date.now,
    heartbeatMs = 30_000,
    drainMs = 2000,
    closeGraceMs = 1000,
  } = options;
  const handleFrame = createFrameHandler({ handler, knownOps: new Set(knownOps), metrics, logger, clock });
  const connections = new Map<SocketConnection, Principal>();
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
      openReservation: () => clientMemory.open(tenant),
      takeTurn: () => requestTurns.take(tenant),
      handleFrame: (frame, channel, reserve) =>
        handleFrame(frame, { principal, channel, reserve, values: clientMemory.values.open(tenant) }),
      heartbeatMs,
      onIncomplete: () => freeMemory(tenant),
      onDisconnect() {
        metrics.websocketCutOffs.inc();
        logger.warn({ tenant, principal: name }, "WebSocket client disconnected because it did not keep up or respond");
      },
    });
    connections.set(connection, principal);
    metrics.websocketClients.inc();
    const expiry =
      expiresAt === null
        ? undefined
        : startWallClockTimer(expiresAt, clock, () => connection.close(closeCodes.tokenInvalid, "token-expired"));
    socket.once("close", () => {
      connections.delete(connection);
      metrics.websocketClients.dec();
      expiry?.cancel();
    });
  }

  /** Closes the connection with the oldest incomplete message if the tenant is over its memory limit. */
  function freeMemory(tenant: string): void {
    if (!clientMemory.isFull(tenant)) return;
    let oldest: SocketConnection | null = null;
    for (const [connection, principal] of connections) {
      if (principal.tenant !== tenant || connection.incompleteSince === null) continue;
      if (oldest?.incompleteSince == null || connection.incompleteSince < oldest.incompleteSince) oldest = connection;
    }
    if (oldest === null) return;
    metrics.websocketCutOffs.inc();
    logger.warn({ tenant }, "WebSocket client disconnected because the clients of its tenant occupy too much memory");
    oldest.closeUnread(closeCodes.tooMuchMemory, "too-much-held");
  }

  function checkCanOpen({ tenant }: Principal): void {
    let count = 0;
    for (const principal of connections.values()) if (principal.tenant === tenant) count += 1;
    if (count >= MAX_SOCKETS_PER_TENANT)
      throw new BridgeError(
        "overloaded",
        `This tenant has the maximum of ${MAX_SOCKETS_PER_TENANT} open WebSockets. Close one, then try again.`,
      );
  }

  async function stop(): Promise<void> {
    running = false;
    await Promise.all([...connections.keys()].map((connection) => connection.drain(closeCodes.goingAway, "bridge-stopped", drainMs)));
  }

  return {
    endpoint: WEBSOCKET_PATH,
    get running() {
      return running;
    },
    async start() {
      running = true;
    },
    stop,
    routes: createSocketRoute({ frameLimitBytes, closeGraceMs, checkCanOpen, accept, stop }),
    disconnect(principal) {
      for (const [connection, owner] of connections)
        if (derivesFrom(owner, principal)) connection.close(closeCodes.tokenInvalid, "token-withdrawn");
    },
  };
}
