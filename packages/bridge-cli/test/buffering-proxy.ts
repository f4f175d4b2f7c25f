import { once } from "node:events";
import { createServer, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** Starts a reverse proxy that passes a response on only when it is complete, unless its buffering is disabled. */
export async function startBufferingProxy(target: string) {
  let isBuffering = true;
  const server = createServer((request, response) => {
    const forwarded = sendRequest(new URL(request.url ?? "/", target), { method: request.method, headers: request.headers });
    forwarded.once("response", async (answer) => {
      if (isBuffering) {
        const body = await buffer(answer).catch(() => null);
        if (body !== null) response.writeHead(answer.statusCode ?? 502, answer.headers).end(body);
      } else answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers));
    });
    forwarded.once("error", () => response.destroy());
    response.once("close", () => forwarded.destroy());
    request.pipe(forwarded);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    disableBuffering(): void {
      isBuffering = false;
    },
  };
}
