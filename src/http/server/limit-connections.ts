import { readdirSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { BridgeError } from "../../errors.ts";

/** The share of the free file descriptors that connections may take. The rest is for tasks, callbacks and files. */
const CONNECTION_SHARE = 1 / 2;
/**
 * Connections between the two shares are accepted, but only public routes, such as health checks, work on them; other requests get 503.
 * Connections above this share are closed.
 */
const ACCEPTED_SHARE = 5 / 8;

/** Maximum connections that the server serves, and that it accepts. */
export interface ConnectionLimits {
  served: number;
  accepted: number;
}

/**
 * Limits open connections. Without the limit, clients could use up the file descriptors of the process, so that Bridge
 * could not start tasks or deliver results.
 */
export function limitConnections(app: FastifyInstance, limits: ConnectionLimits | null = findConnectionLimits()): void {
  if (limits === null) return;
  const { server } = app;
  const excessConnections = new WeakSet<Socket>();
  let open = 0;
  server.maxConnections = limits.accepted;
  server.on("connection", (socket: Socket) => {
    open += 1;
    if (open > limits.served) excessConnections.add(socket);
    socket.once("close", () => {
      open -= 1;
    });
  });
  app.addHook("onRequest", (request, reply, done) => {
    if (excessConnections.has(request.raw.socket)) {
      reply.header("connection", "close");
      if (request.routeOptions.config.public !== true)
        throw new BridgeError("overloaded", `Bridge has the maximum of ${limits.served} open connections. Try again later.`);
    }
    done();
  });
}

/** Derives the limits from the number of files that this process may still open; null if the system does not report it (no /proc). */
export function findConnectionLimits(): ConnectionLimits | null {
  let free: number;
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    free = Number(limit) - readdirSync("/proc/self/fd").length;
  } catch {
    return null;
  }
  // "unlimited" is not a number.
  if (Number.isNaN(free)) return null;
  return { served: Math.max(1, Math.floor(free * CONNECTION_SHARE)), accepted: Math.max(2, Math.floor(free * ACCEPTED_SHARE)) };
}
