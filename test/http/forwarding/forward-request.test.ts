import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import Fastify from "fastify";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { createForwarder } from "../../../src/http/forwarding/forward-request.ts";
import { handleError } from "../../../src/http/server/error-handler.ts";
import type { ClusterNode } from "../../../src/store/nodes/interface.ts";
import { findFreePort } from "../../support/find-free-port.ts";

const describeNode = (fields: Partial<ClusterNode>): ClusterNode => ({
  ...{ id: "n2", incarnation: "1", name: "two", url: null, version: "1", tags: [], files: "local", settingsDigest: "", state: "live" },
  ...{ leaseUntil: 0, isAlive: true, overdueMs: -1, startedAt: 0, skewMs: 0, adapters: [], agents: 0 },
  ...fields,
});

/** A node whose requests belong to the node with the id `n2`, except those to `/own`. */
async function startNode(node: Partial<ClusterNode>, { firstByteMs }: { firstByteMs?: number } = {}) {
  const server = Fastify({ exposeHeadRoutes: false, genReqId: () => "request-1", bodyLimit: 1_000_000 });
  server.setErrorHandler(handleError);
  const forwarder = createForwarder({
    view: { self: { id: "n1", files: "local" }, nodes: () => [describeNode(node)] },
    logger: pino({ level: "silent" }),
    ...(firstByteMs !== undefined && { firstByteMs }),
  });
  server.addHook(
    "onRequest",
    forwarder.createHook(({ url }) => (url === "/own" ? "n1" : url === "/nowhere" ? null : "n2")),
  );
  server.route({ method: ["GET", "HEAD", "PUT", "DELETE"], url: "*", handler: async () => "own" });
  onTestFinished(async () => {
    await forwarder.close();
    await server.close();
  });
  return await server.listen({ host: "127.0.0.1", port: 0 });
}

/** The other node. */
async function startOther(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe("a request that belongs to another node", () => {
  test("a request that belongs to another node gets the answer of this node to the headers of the caller, unchanged", async () => {
    const other = await startOther((_, response) => {
      response.writeHead(206, { etag: '"a"', "content-range": "bytes 0-3/9", "content-length": 4, "keep-alive": "timeout=1" }).end("data");
    });
    const url = await startNode({ url: `${other.url}/prefix/` });
    const headers = { authorization: "Bearer secret", range: "bytes=0-3", connection: "x-own", "x-own": "1" };
    const response = await fetch(`${url}/tasks/a%2Fb/files?limit=3`, { headers });
    expect([response.status, response.headers.get("etag"), response.headers.get("content-range"), await response.text()]).toEqual([
      ...[206, '"a"', "bytes 0-3/9", "data"],
    ]);
    const [request] = other.requests;
    expect(request?.url).toBe("/prefix/tasks/a%2Fb/files?limit=3");
    expect(request?.headers).toMatchObject({
      ...{ authorization: "Bearer secret", range: "bytes=0-3", "bridge-hop": "1", "x-request-id": "request-1" },
      host: new URL(other.url).host,
    });
  });

  test("a request that belongs to another node is answered with the errors and redirects of this node", async () => {
    const other = await startOther((request, response) => {
      if (request.url === "/moved") response.writeHead(302, { location: "/elsewhere" }).end();
      else response.writeHead(409, { "content-type": "application/problem+json" }).end('{"code":"stale_write"}');
    });
    const url = await startNode({ url: other.url });
    const moved = await fetch(`${url}/moved`, { redirect: "manual" });
    expect([moved.status, moved.headers.get("location"), other.requests.length]).toEqual([302, "/elsewhere", 1]);
    const refused = await fetch(`${url}/file`, { method: "DELETE" });
    expect([refused.status, await refused.json()]).toEqual([409, { code: "stale_write" }]);
  });

  test("a request that belongs to another node is rejected with 413 if its body turns out to be too large while it is passed on", async () => {
    const other = await startOther((request, response) => {
      request.on("data", () => {});
      request.on("end", () => response.end("received"));
    });
    const url = await startNode({ url: other.url });
    const chunk = Buffer.alloc(64 * 1024);
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
    const response = await fetch(`${url}/file`, { method: "PUT", body, duplex: "half" } as RequestInit);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([413, "too_large"]);
  });

  test("streams its body in both directions", async () => {
    // The other node answers with each part as soon as it arrives.
    const other = await startOther((request, response) => void request.pipe(response));
    const url = await startNode({ url: other.url });
    const parts = ["first", "second", "third"];
    const request = sendRequest(`${url}/file`, { method: "PUT", headers: { "content-type": "text/plain" } });
    request.write(parts[0]);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const received: string[] = [];
    for await (const part of response) {
      received.push(String(part));
      const next = parts[received.length];
      if (next === undefined) request.end();
      else request.write(next);
    }
    expect(received).toEqual(parts);
  });

  test("a request that belongs to another node keeps a body of known length, and answers without a body", async () => {
    const bodies: Buffer[] = [];
    const other = await startOther(async (request, response) => {
      bodies.push(await buffer(request));
      response.writeHead(request.method === "HEAD" ? 200 : 204, request.method === "HEAD" ? { "content-length": 12 } : {}).end();
    });
    const url = await startNode({ url: other.url });
    const content = Buffer.alloc(300_000, "x");
    expect((await fetch(`${url}/file`, { method: "PUT", body: content })).status).toBe(204);
    expect(bodies[0]?.equals(content)).toBe(true);
    expect(other.requests[0]?.headers).toMatchObject({ "content-length": "300000" });
    const head = await fetch(`${url}/file`, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, "12"]);
  });

  test("a request that belongs to another node is answered here if it belongs to this node, or to none", async () => {
    const url = await startNode({ isAlive: false });
    for (const path of ["/own", "/nowhere"]) expect(await (await fetch(url + path, { headers: { "bridge-hop": "1" } })).text()).toBe("own");
  });

  test("a request that belongs to another node is not passed on a second time", async () => {
    const other = await startOther((_, response) => void response.end());
    const url = await startNode({ url: other.url });
    const response = await fetch(`${url}/file`, { headers: { "bridge-hop": "1" } });
    expect([response.status, await response.json()]).toEqual([508, expect.objectContaining({ code: "loop_detected" })]);
    expect(other.requests).toEqual([]);
  });

  test("a request that belongs to another node ends at the other node when its client disconnects", async () => {
    const closed = Promise.withResolvers<void>();
    const other = await startOther((_, response) => {
      response.once("close", closed.resolve);
      response.write("begin");
    });
    const url = await startNode({ url: other.url });
    const controller = new AbortController();
    const response = await fetch(`${url}/file`, { signal: controller.signal });
    await (response.body as ReadableStream).getReader().read();
    controller.abort();
    await closed.promise;
  });

  test.each([
    [{ isAlive: false, url: "http://127.0.0.1:1" }, /the node two, which is not running\. Start it/],
    [{ url: null }, /the node two, whose address is unknown\. Set BRIDGE_NODE_URL on two/],
    [{ id: "n3" }, /a node that no longer exists \(n2\)/],
  ])("a request that belongs to another node is rejected with the reason if the node is %j", async (node, reason) => {
    const response = await fetch(`${await startNode(node)}/file`);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "15"]);
    expect(await response.json()).toMatchObject({ code: "node_unavailable", detail: expect.stringMatching(reason) });
  });

  test("a request that belongs to another node is rejected with the reason if the node cannot be reached, or does not answer", async () => {
    const unreachable = await startNode({ url: `http://127.0.0.1:${await findFreePort()}` });
    expect(await (await fetch(`${unreachable}/file`)).json()).toMatchObject({
      code: "node_unavailable",
      detail: expect.stringMatching(/^The node two cannot be reached\. Check that BRIDGE_NODE_URL of two/),
    });
    const silent = await startNode({ url: (await startOther(() => {})).url }, { firstByteMs: 100 });
    const write = await fetch(`${silent}/file`, { method: "DELETE" });
    expect(await write.json()).toMatchObject({
      code: "node_unavailable",
      detail: expect.stringMatching(/^The node two did not answer within 0\.1 s\. The outcome of the request is unknown/),
    });
  });
});
