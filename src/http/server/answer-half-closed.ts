import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { checkHalfClosed } from "../wire/half-closed.ts";
import { isWebSocketUpgrade } from "../wire/websocket-upgrade.ts";

/**
 * Answers the complete requests of clients that close their sending side after them, then closes the connection. While
 * such a client waits, Bridge sends it `102 Processing`, so that requests of clients that have gone are noticed.
 */
export function answerHalfClosed(app: FastifyInstance): void {
  const { server } = app;
  // Node's types do not include this property.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on("connection", (socket: Socket) => {
    socket.once(
      "close",
      checkHalfClosed(socket, () => writeProcessing(socket)),
    );
  });
}

/** Writes an interim response, unless the response has begun or the client does not know interim responses. */
function writeProcessing(socket: Socket): void {
  // Node sets it to null after a response, so an idle connection has none.
  const { _httpMessage: response } = socket as Socket & { _httpMessage?: ServerResponse | null };
  if (response == null || response.headersSent || !socket.writable) return;
  const { req: request } = response;
  if (request.httpVersion === "1.1" && !isWebSocketUpgrade(request)) response.writeProcessing();
}
