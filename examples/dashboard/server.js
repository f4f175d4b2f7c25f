// The backend of a dashboard: BRIDGE_TOKEN=… node server.js. It keeps the token, and passes on what the page may read.
import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const { BRIDGE_URL = "http://127.0.0.1:8787", BRIDGE_TOKEN, PORT = "9100" } = process.env;
const page = new URL("index.html", import.meta.url);

const server = createServer((request, response) => {
  // Check the session of your user here.
  const [path] = request.url.split("?");
  if (path === "/") createReadStream(page).pipe(response.setHeader("content-type", "text/html; charset=utf-8"));
  else if (path === "/events") void pass("/api/events?format=message", request, response);
  else if (path === "/tasks") void pass("/api/v2/tasks?limit=50", request, response);
  else if (/^\/tasks\/[\w%.~-]+$/.test(path)) void pass(`/api/v2${path}`, request, response);
  else response.writeHead(404).end();
});
server.listen(PORT, "127.0.0.1", () => console.log(`dashboard on http://127.0.0.1:${server.address().port}`));

async function pass(target, request, response) {
  const left = new AbortController();
  response.on("close", () => left.abort());
  const { accept = "*/*", "last-event-id": lastEventId } = request.headers;
  const headers = { accept, authorization: `Bearer ${BRIDGE_TOKEN}`, ...(lastEventId && { "last-event-id": lastEventId }) };
  try {
    const answer = await fetch(BRIDGE_URL + target, { headers, signal: left.signal });
    // EventSource reconnects after a lost connection, but not after an error status.
    if (!answer.ok && target.startsWith("/api/events")) throw new Error(`Bridge responded ${answer.status}.`);
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type"), "cache-control": "no-store" });
    await pipeline(Readable.fromWeb(answer.body), response);
  } catch {
    response.destroy();
  }
}
