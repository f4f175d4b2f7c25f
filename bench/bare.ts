import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** A server that only reads the body and responds with 202. */
const server = createServer(async (request, response) => {
  const { taskId } = (await json(request)) as { taskId: string };
  response.writeHead(202, { "content-type": "application/json" }).end(JSON.stringify({ taskId }));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
console.log(JSON.stringify({ address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
await once(process, "SIGTERM");
server.close();
server.closeAllConnections();
