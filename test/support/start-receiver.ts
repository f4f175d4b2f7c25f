import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { createAsyncServer } from "./create-async-server.ts";

/** One received POST. */
export interface ReceivedPost {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Responds to one POST, or leaves it without a response. */
export type Answer = (response: ServerResponse, request: IncomingMessage, number: number) => void;

/** Starts a callback receiver on a free port of 127.0.0.1 that records all POSTs. */
export async function startReceiver(answer: Answer = (response) => response.end()) {
  const posts: ReceivedPost[] = [];
  let underWay = 0;
  let mostAtOnce = 0;
  const server = createAsyncServer(async (request, response) => {
    underWay += 1;
    mostAtOnce = Math.max(mostAtOnce, underWay);
    response.once("close", () => {
      underWay -= 1;
    });
    const body = await buffer(request);
    posts.push({ path: request.url ?? "", headers: request.headers, body });
    answer(response, request, posts.length);
  });
  const { port, connections, close } = await listen(server);
  return {
    posts,
    port,
    origin: `http://127.0.0.1:${port}`,
    connections,
    underWay: () => underWay,
    mostAtOnce: () => mostAtOnce,
    taskIds: () => posts.map((post) => (JSON.parse(post.body.toString()) as { taskId: string }).taskId),
    close,
  };
}

/** Starts a bare TCP server on a free port of 127.0.0.1. */
export async function startTcpServer(onSocket: (socket: Socket) => void) {
  return await listen(
    createTcpServer((socket) => {
      // Connection errors are caused by the test and must not fail the server.
      socket.on("error", () => {});
      onSocket(socket);
    }),
  );
}

async function listen(server: Server) {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    async close(): Promise<void> {
      server.close();
      for (const socket of sockets) socket.destroy();
      if (server.listening) await once(server, "close");
    },
  };
}
