import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";

/** A request that a scripted server received. */
export interface ReceivedFrame {
  requestId: string;
  op: string;
  payload: Record<string, unknown>;
}

/** Processes the requests of one connection. */
export type Script = (frame: ReceivedFrame, socket: WebSocket) => void;

/**
 * Starts a server that creates tickets and runs the next script for each WebSocket, and the last one for all further ones. `tickets` counts
 * the tickets; more than `maxTickets` are rejected. Stops at the end of the test.
 */
export async function startScriptedSocketServer(scripts: Script[], maxTickets = Number.POSITIVE_INFINITY) {
  let tickets = 0;
  const frames: ReceivedFrame[] = [];
  const server = createServer((_request, response) => {
    tickets += 1;
    const problem = { code: "unauthenticated", detail: "Bridge does not know this token.", requestId: "r-1" };
    const [status, body] = tickets <= maxTickets ? [201, { ticket: `ticket-${tickets}` }] : [401, problem];
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  const sockets = new WebSocketServer({ server });
  let opened = 0;
  sockets.on("connection", (socket) => {
    const script = scripts[Math.min(opened, scripts.length - 1)];
    opened += 1;
    socket.on("error", () => {});
    socket.on("message", (data) => {
      const frame = JSON.parse(String(data)) as ReceivedFrame;
      frames.push(frame);
      script?.(frame, socket);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Requests in their order of arrival. */
    frames,
    tickets: () => tickets,
    /** Opened WebSockets. */
    connections: () => opened,
  };
}

/** Answers a request. */
export const answer = (socket: WebSocket, { requestId }: ReceivedFrame, payload: object, status = 200): void =>
  socket.send(JSON.stringify({ requestId, status, payload }));

/** Pushes an event of a run. */
export const push = (socket: WebSocket, runId: string, number: number, type = "execution.progress"): void =>
  socket.send(JSON.stringify({ op: "agent.event", payload: { runId, event: { id: `e-${number}`, type, taskId: runId, data: {} } } }));
