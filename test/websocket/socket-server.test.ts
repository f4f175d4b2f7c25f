import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { text as readAll } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { Principal } from "../../src/access/principal.ts";
import { MAX_IN_FLIGHT } from "../../src/websocket/connection/frame-queue.ts";
import type { OpRequest, OpResponse } from "../../src/websocket/op-protocol.ts";
import { MAX_SOCKETS_PER_TENANT } from "../../src/websocket/socket-server.ts";
import { scaled } from "../harness/machine.ts";
import { blockEventLoop } from "../support/block-event-loop.ts";
import { expectProblem } from "../support/start-bridge.ts";
import { eventually } from "./eventually.ts";
import { openRefused, openSocket } from "./socket-client.ts";
import { startSocketServer } from "./start-socket-server.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A handler whose responses the test controls. */
function createHeldHandler() {
  const held: { request: OpRequest; answer(response?: OpResponse): void }[] = [];
  const handle = (request: OpRequest) =>
    new Promise<OpResponse>((resolve) => {
      held.push({ request, answer: (response = { status: 200, payload: request.payload }) => resolve(response) });
    });
  return { held, handle };
}

describe("a frame", () => {
  test("a frame is answered with its requestId", async () => {
    const client = await (await startSocketServer()).connect();
    expect(await client.frame('{"requestId":"req-1","op":"test.echo","payload":{"a":1}}')).toEqual({
      requestId: "req-1",
      status: 200,
      payload: { a: 1 },
    });
  });

  test.each(['{"op":"test.echo"}', '{"op":"test.echo","payload":null,"requestId":""}'])(
    "a frame without a requestId gets one: %s",
    async (frame) => {
      const client = await (await startSocketServer()).connect();
      const answers = [await client.frame(frame), await client.frame(frame)];
      for (const { requestId, status, payload } of answers) {
        expect(requestId).toMatch(UUID);
        expect({ status, payload }).toEqual({ status: 200, payload: {} });
      }
      expect(answers[0]?.requestId).not.toBe(answers[1]?.requestId);
    },
  );

  test("the handler receives the principal, the time, and all attributes as text", async () => {
    const { held, handle } = createHeldHandler();
    const server = await startSocketServer(handle, { clock: () => 1234 });
    const client = await server.connect();
    const meta = { sessionId: "s-1", count: 3, none: null, nested: { deep: ["x"] } };
    const answered = client.ask("test.echo", { a: 1 }, { meta, version: 7 });
    await eventually(() => held.length).toBe(1);
    expect(held[0]?.request).toMatchObject({
      op: "test.echo",
      payload: { a: 1 },
      meta: {
        tenant: "alpha",
        principal: { name: "alpha" },
        timestamp: 1234,
        attributes: { sessionId: "s-1", count: "3", none: "null", nested: '{"deep":["x"]}' },
      },
    });
    held[0]?.answer();
    expect((await answered).status).toBe(200);
  });

  test.each<[string, OpRequest["op"] | null, () => unknown]>([
    ["throws", "test.echo", () => Promise.reject(new Error("secret of the handler"))],
    ["throws a value that is not an error", "test.echo", () => Promise.reject("secret of the handler")],
    ["returns null", "test.echo", () => null],
    ["returns undefined", "test.echo", () => undefined],
    ["returns no payload", "test.echo", () => ({ status: 200 })],
    ["returns no status", "test.echo", () => ({ payload: {} })],
    ["returns a value that is not JSON", "test.echo", () => ({ status: 200, payload: { secret: 1n } })],
  ])("a frame whose handler %s is answered with 500 and without the reason", async (_, op, handle) => {
    const server = await startSocketServer(handle as () => OpResponse);
    const client = await server.connect();
    const answer = await client.ask(op ?? "");
    expect(answer).toEqual({ requestId: answer.requestId, status: 500, payload: { error: "handler-error" } });
    expect(server.log.filter(({ level, msg }) => level === 50 && msg === "op failed")).toHaveLength(1);
    expect((await client.frame("{}")).status).toBe(400);
  });

  test("a frame is logged at debug level with truncated values, and counted", async () => {
    const server = await startSocketServer();
    const client = await server.connect();
    const long = "x".repeat(5000);
    await client.frame(JSON.stringify({ requestId: "r-1", op: "test.echo", payload: {}, meta: { sessionId: "s-1" } }));
    await client.frame(JSON.stringify({ requestId: long, op: long, meta: { [long]: long } }));
    await client.frame("nonsense");
    const lines = server.log.filter(({ msg }) => msg === "bridge request");
    expect(lines[0]).toMatchObject({
      level: 20,
      requestId: "r-1",
      op: "test.echo",
      status: 200,
      tenant: "alpha",
      principal: "alpha",
      attributes: { sessionId: "s-1" },
    });
    expect(JSON.stringify(lines[1]).length).toBeLessThan(1500);
    const { values } = await server.metrics.websocketRequests.get();
    expect(values.map(({ labels, value }) => [labels.op, labels.status, value])).toEqual([
      ["test.echo", 200, 1],
      ["unknown", 200, 1],
      ["unknown", 400, 1],
    ]);
  });

  test("each of 2,000 frames is answered once", async () => {
    const client = await (await startSocketServer()).connect();
    for (let index = 0; index < 2_000; index += 1) {
      client.socket.send(index % 10 === 0 ? "[" : JSON.stringify({ requestId: `r-${index}`, op: "test.echo", payload: { index } }));
    }
    const answers = await client.received(2_000);
    expect(new Set(answers.map(({ requestId }) => requestId)).size).toBe(2_000);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(200);
    for (const { requestId, status, payload } of answers) if (status === 200) expect(requestId).toBe(`r-${payload.index}`);
  });

  test("responses are sent as they complete, and only a few frames are processed concurrently", async () => {
    const { held, handle } = createHeldHandler();
    const client = await (await startSocketServer(handle)).connect();
    const asked = Array.from({ length: 100 }, (_, index) => client.ask("test.echo", { index }));
    let most = 0;
    let answered = 0;
    while (answered < 100) {
      await eventually(() => held.length).toBeGreaterThan(0);
      most = Math.max(most, held.length);
      // The newest first, because nothing may depend on the order.
      held.pop()?.answer();
      answered += 1;
    }
    const answers = await Promise.all(asked);
    expect(answers.map(({ payload }) => payload.index)).toEqual(Array.from({ length: 100 }, (_, index) => index));
    expect(client.answers[0]?.payload.index).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(MAX_IN_FLIGHT);
  });

  test("a frame that waits does not delay others", async () => {
    const { held, handle } = createHeldHandler();
    const server = await startSocketServer((request) =>
      request.payload["slow"] === true ? handle(request) : { status: 200, payload: {} },
    );
    const [slow, quick] = await Promise.all([server.connect(), server.connect()]);
    const waiting = slow.ask("test.echo", { slow: true });
    expect((await slow.ask("test.echo")).status).toBe(200);
    expect((await quick.ask("test.echo")).status).toBe(200);
    held[0]?.answer();
    expect((await waiting).status).toBe(200);
  });

  test("a frame above the limit closes the socket with 1009; a smaller one does not, fragmented or whole", async () => {
    const server = await startSocketServer(undefined, { frameLimitBytes: 2000 });
    const client = await server.connect();
    const fitting = JSON.stringify({ requestId: "r", op: "test.echo", payload: { text: "x".repeat(1900) } });
    expect((await client.frame(fitting)).status).toBe(200);
    client.socket.send(fitting.slice(0, 100), { fin: false });
    expect((await client.frame(fitting.slice(100))).status).toBe(200);
    client.socket.send("x".repeat(2001));
    expect(await client.closed).toMatchObject({ code: 1009 });
    expect((await (await server.connect()).ask("test.echo")).status).toBe(200);
    expect(server.log.filter(({ level }) => (level as number) >= 40)).toEqual([]);
  });

  test("compression is not negotiated", async () => {
    const server = await startSocketServer();
    const client = await openSocket(server.url, { headers: { authorization: "Bearer alpha" }, perMessageDeflate: true });
    expect(client.socket.extensions).toBe("");
  });
});

describe("connecting", () => {
  test("a token of any scope can connect", async () => {
    const server = await startSocketServer();
    server.principals.set("scraper", { name: "scraper", tenant: "alpha", scopes: new Set(["metrics"]), expiresAt: null });
    expect((await (await server.connect("scraper")).ask("test.echo")).status).toBe(200);
  });

  test("a ticket can connect once, also from a page of another origin", async () => {
    const server = await startSocketServer();
    const { ticket } = await server.tickets.issue(server.principals.get("beta") as never);
    const client = await openSocket(`${server.url}?ticket=${ticket}`, { origin: "https://dashboard.example" });
    expect((await client.ask("test.echo")).status).toBe(200);
    const refused = await openRefused(`${server.url}?ticket=${ticket}`);
    expectProblem({ ...refused, body: JSON.parse(refused.text) }, "unauthenticated");
  });

  test.each([
    ["no token", "", {}, "unauthenticated"],
    ["an unknown token", "", { authorization: "Bearer nobody" }, "unauthenticated"],
    ["a token in the query", "?token=alpha", {}, "unauthenticated"],
    ["an unknown ticket", "?ticket=tkt_1", {}, "unauthenticated"],
    ["an unknown parameter", "?tenant=beta", { authorization: "Bearer alpha" }, "invalid_request"],
  ] as const)("an upgrade with %s is rejected", async (_, query, headers, code) => {
    const server = await startSocketServer();
    const refused = await openRefused(server.url + query, { headers });
    expectProblem({ ...refused, body: JSON.parse(refused.text) }, code);
  });

  test("an upgrade with two Host headers is rejected", async () => {
    const server = await startSocketServer();
    const { port, pathname } = new URL(server.url);
    const socket = connectTcp(Number(port), "127.0.0.1");
    socket.end(
      `GET ${pathname} HTTP/1.1\r\nHost: a\r\nHost: b\r\nAuthorization: Bearer alpha\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n`,
    );
    const answer = await readAll(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain("more than one Host header");
  });

  test("the response to the upgrade has the request id", async () => {
    const server = await startSocketServer();
    const socket = new WebSocket(server.url, { headers: { authorization: "Bearer alpha", "x-request-id": "mine" } });
    const [response] = await once(socket, "upgrade");
    expect(response.headers["x-request-id"]).toBe("mine");
    socket.terminate();
  });

  test("a tenant cannot exceed its maximum of open sockets, and other tenants are not affected", async () => {
    const server = await startSocketServer();
    const clients = [];
    for (let count = 0; count < MAX_SOCKETS_PER_TENANT; count += 50)
      clients.push(...(await Promise.all(Array.from({ length: 50 }, () => server.connect()))));
    expect((await server.metrics.websocketClients.get()).values[0]?.value).toBe(MAX_SOCKETS_PER_TENANT);
    const refused = await openRefused(server.url, { headers: { authorization: "Bearer alpha" } });
    expectProblem({ ...refused, body: JSON.parse(refused.text) }, "overloaded");
    expect((await (await server.connect("beta")).ask("test.echo")).status).toBe(200);
    await clients[0]?.close();
    await eventually(async () => (await server.metrics.websocketClients.get()).values[0]?.value).toBe(MAX_SOCKETS_PER_TENANT);
    expect((await (await server.connect()).ask("test.echo")).status).toBe(200);
  });

  test("a request without an upgrade results in 426", async () => {
    const server = await startSocketServer();
    const headers = { authorization: "Bearer alpha" };
    const plain = await fetch(server.url, { headers });
    expectProblem({ status: plain.status, headers: plain.headers, body: await plain.json() }, "upgrade_required");
    expect(plain.headers.get("upgrade")).toBe("websocket");
    const post = await fetch(server.url, { method: "POST", headers });
    expectProblem({ status: post.status, headers: post.headers, body: await post.json() }, "method_not_allowed");
  });

  test.each([
    ["an unknown version", "Sec-WebSocket-Version: 99\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="],
    ["no key", "Sec-WebSocket-Version: 13"],
    ["a malformed protocol", "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: a,,"],
  ])("a handshake with %s results in a problem", async (_, lines) => {
    const server = await startSocketServer();
    const { status, headers, body } = await sendRaw(server.url, ["Upgrade: websocket", "Connection: Upgrade", ...lines.split("\r\n")]);
    expect(status).toBe(400);
    expectProblem({ status, headers, body }, "invalid_request");
  });

  test("a request that offers an upgrade to HTTP/2 is processed normally", async () => {
    const server = await startSocketServer();
    const offer = ["Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"];
    expect((await sendRaw(server.url, offer)).status).toBe(426);
  });
});

describe("a token that is revoked or expires", () => {
  test("revoking a token also closes a socket that was opened by a ticket with fewer scopes", async () => {
    const server = await startSocketServer();
    const alpha = server.principals.get("alpha") as Principal;
    const client = await openSocket(`${server.url}?ticket=${(await server.tickets.issue(alpha, { scopes: ["read"] })).ticket}`);
    expect((await client.ask("test.echo")).status).toBe(200);
    server.bridgeServer.disconnect(alpha);
    expect(await client.closed).toMatchObject({ code: 4401 });
  });

  test("revoking a token closes its sockets with 4401, and their pending frames are dropped", async () => {
    const { held, handle } = createHeldHandler();
    const server = await startSocketServer(handle);
    const [alpha, beta] = await Promise.all([server.connect("alpha"), server.connect("beta")]);
    alpha.socket.send('{"op":"test.echo"}');
    await eventually(() => held.length).toBe(1);
    server.bridgeServer.disconnect(server.principals.get("alpha") as never);
    alpha.socket.send('{"op":"test.echo"}');
    expect(await alpha.closed).toEqual({ code: 4401, reason: "token-withdrawn" });
    const answered = beta.ask("test.echo");
    await eventually(() => held.length).toBe(2);
    expect(held.map(({ request }) => request.meta.tenant)).toEqual(["alpha", "beta"]);
    held[1]?.answer();
    expect((await answered).status).toBe(200);
  });

  test("a client whose socket is paused receives the close frame", async () => {
    const { held, handle } = createHeldHandler();
    const server = await startSocketServer(handle, { closeGraceMs: 60_000 });
    const client = await server.connect();
    for (let index = 0; index <= MAX_IN_FLIGHT; index += 1) client.socket.send('{"op":"test.echo"}');
    await eventually(() => held.length).toBe(MAX_IN_FLIGHT);
    server.bridgeServer.disconnect(server.principals.get("alpha") as never);
    expect(await client.closed).toMatchObject({ code: 4401 });
    for (const { answer } of held) answer();
    expect(held).toHaveLength(MAX_IN_FLIGHT);
  });

  test("an expired token closes its sockets with 4401", async () => {
    const server = await startSocketServer();
    server.principals.set("brief", { name: "brief", tenant: "brief", scopes: new Set(), expiresAt: Date.now() + 100 });
    expect(await (await server.connect("brief")).closed).toEqual({ code: 4401, reason: "token-expired" });
  });
});

describe("stop and start", () => {
  test("a stop answers pending frames and closes with 1001; new clients get 4503 until the next start", async () => {
    const { held, handle } = createHeldHandler();
    const server = await startSocketServer(handle);
    const client = await server.connect();
    const inFlight = client.ask("test.echo", { index: 1 });
    await eventually(() => held.length).toBe(1);
    const stopped = server.bridgeServer.stop();
    expect(server.bridgeServer.running).toBe(false);
    const late = await server.connect();
    expect(await late.closed).toEqual({ code: 4503, reason: "bridge-stopped" });
    // Sent while the other request is still in flight; it is answered too.
    const after = client.ask("test.echo", { index: 2 });
    await eventually(() => held.length).toBe(2);
    for (const { answer } of held) answer();
    expect((await inFlight).payload).toEqual({ index: 1 });
    expect((await after).payload).toEqual({ index: 2 });
    expect(await client.closed).toEqual({ code: 1001, reason: "bridge-stopped" });
    await stopped;

    await server.bridgeServer.start();
    const again = await server.connect();
    const answered = again.ask("test.echo");
    await eventually(() => held.length).toBe(3);
    held[2]?.answer();
    expect((await answered).status).toBe(200);
  });

  test("new sockets are rejected while Bridge drains, and open ones continue", async () => {
    let draining = false;
    const server = await startSocketServer(undefined, { isDraining: () => draining });
    const client = await server.connect();
    draining = true;
    expect(await (await server.connect()).closed).toEqual({ code: 4503, reason: "bridge-stopped" });
    expect((await client.ask("test.echo")).status).toBe(200);
  });

  test("the server closes despite an op that never ends and a client that does not close", async () => {
    const { held, handle } = createHeldHandler();
    const server = await startSocketServer(handle, { drainMs: 50, closeGraceMs: 50 });
    const [busy, stalled] = await Promise.all([server.connect(), server.connect()]);
    void busy.ask("test.echo").catch(() => {});
    await eventually(() => held.length).toBe(1);
    stalled.socket.pause();
    await server.close();
    expect(await busy.closed).toMatchObject({ code: 1001 });
    stalled.socket.resume();
    await stalled.closed;
    expect((await server.metrics.websocketClients.get()).values[0]?.value).toBe(0);
  });
});

describe("a client that does not keep up", () => {
  test("a client that reads nothing is disconnected, even if it sends data", async () => {
    const text = "x".repeat(3_000_000);
    const server = await startSocketServer(() => ({ status: 200, payload: { text } }), { heartbeatMs: 200 });
    const [stuck, other] = await Promise.all([server.connect(), server.connect("beta")]);
    // Too few to pause the socket, and more than the system's buffers.
    for (let index = 0; index < 10; index += 1) stuck.socket.send('{"op":"test.echo"}');
    stuck.socket.pause();
    const chatter = setInterval(() => stuck.socket.pong(), 20);
    await eventually(async () => (await server.metrics.websocketCutOffs.get()).values[0]?.value).toBe(1);
    clearInterval(chatter);
    stuck.socket.resume();
    expect((await stuck.closed).code).toBe(1006);
    expect((await other.ask("test.echo")).status).toBe(200);
  });

  test("a client that reads slowly while its socket is paused is kept", async () => {
    const text = "x".repeat(500_000);
    const server = await startSocketServer(() => ({ status: 200, payload: { text } }), { heartbeatMs: 500 });
    const client = await server.connect();
    // Enough to keep the socket paused.
    for (let index = 0; index < 5000; index += 1) client.socket.send('{"op":"test.echo"}');
    // Long enough for several pings without received data.
    const end = await Promise.race([client.closed, delay(1700, "still open")]);
    expect(end).toBe("still open");
    expect(client.answers.length).toBeLessThan(5000);
    client.socket.terminate();
  });

  test("Bridge keeps one long response for a client that does not read, however many it requests", async () => {
    const { held, handle } = createHeldHandler();
    const server = await startSocketServer(handle);
    const client = await server.connect();
    client.socket.pause();
    const answer = { status: 200, payload: { text: "x".repeat(30_000_000) } };
    client.socket.send('{"op":"test.echo"}');
    await eventually(() => held.length).toBe(1);
    held[0]?.answer(answer);
    const bystander = await server.connect("beta");
    for (let index = 0; index < 5; index += 1) client.socket.send('{"op":"test.echo"}');
    const asked = bystander.ask("test.echo");
    await eventually(() => held.length).toBe(2);
    expect(held[1]?.request.meta.tenant).toBe("beta");
    held[1]?.answer();
    await asked;
    client.socket.resume();
    // After it is read, memory is available again.
    await eventually(() => held.length).toBe(7);
    for (const { answer } of held) answer();
    expect(await client.received(6)).toHaveLength(6);
  });

  test("a client that reads is kept, however long the concurrent responses are", async () => {
    const text = "x".repeat(1_500_000);
    const client = await (await startSocketServer(() => ({ status: 200, payload: { text } }))).connect();
    const answers = await Promise.all(Array.from({ length: 40 }, () => client.ask("test.echo")));
    expect(answers.every(({ payload }) => payload.text.length === text.length)).toBe(true);
  });

  test("a client that sends without reading is paused until it is disconnected", async () => {
    let handled = 0;
    const answer = { status: 200, payload: { text: "x".repeat(50_000) } };
    const server = await startSocketServer(
      () => {
        handled += 1;
        return answer;
      },
      { heartbeatMs: 150 },
    );
    const stuck = await server.connect();
    stuck.socket.pause();
    for (let index = 0; index < 5000; index += 1) stuck.socket.send('{"op":"test.echo"}');
    await eventually(async () => (await server.metrics.websocketCutOffs.get()).values[0]?.value).toBe(1);
    expect(handled).toBeLessThan(1000);
    stuck.socket.terminate();
  });

  test("a client that does not respond to a ping is disconnected", async () => {
    const server = await startSocketServer(undefined, { heartbeatMs: scaled(200) });
    const silent = await openSocket(server.url, { headers: { authorization: "Bearer alpha" }, autoPong: false });
    const alive = await server.connect();
    let pings = 0;
    alive.socket.on("ping", () => {
      pings += 1;
    });
    expect((await silent.closed).code).toBe(1006);
    await eventually(() => pings).toBeGreaterThan(2);
    expect((await alive.ask("test.echo")).status).toBe(200);
    expect((await server.metrics.websocketCutOffs.get()).values[0]?.value).toBe(1);
  });

  test("a client is kept after the event loop was blocked, because its pong is still in the socket", async () => {
    const server = await startSocketServer(undefined, { heartbeatMs: 500 });
    const client = await server.connect();
    await once(client.socket, "ping");
    // The pong has been sent. When Bridge reads it, the next ping is overdue.
    blockEventLoop(2_000);
    await once(client.socket, "ping");
    expect((await client.ask("test.echo")).status).toBe(200);
    expect((await server.metrics.websocketCutOffs.get()).values[0]?.value).toBe(0);
  });

  test("a client whose socket is paused is kept, and its data waits on its side", async () => {
    const { held, handle } = createHeldHandler();
    const server = await startSocketServer(handle, { heartbeatMs: scaled(300) });
    const [client, other] = await Promise.all([server.connect(), server.connect("beta")]);
    const filler = "x".repeat(300_000);
    const asked = Array.from({ length: 80 }, (_, index) => client.ask("test.echo", { index, filler }));
    await eventually(() => held.length).toBe(MAX_IN_FLIGHT);
    let pings = 0;
    other.socket.on("ping", () => {
      pings += 1;
    });
    await eventually(() => pings).toBeGreaterThan(2);
    expect(held.length).toBe(MAX_IN_FLIGHT);
    expect(client.socket.bufferedAmount).toBeGreaterThan(5_000_000);
    const release = setInterval(() => held.shift()?.answer({ status: 200, payload: {} }), 1);
    expect((await Promise.all(asked)).every(({ status }) => status === 200)).toBe(true);
    clearInterval(release);
  });
});

async function sendRaw(url: string, lines: string[]): Promise<{ status: number; headers: Headers; body: unknown }> {
  const { host, hostname, port, pathname } = new URL(url);
  const socket = connectTcp(Number(port), hostname);
  socket.write([`GET ${pathname} HTTP/1.1`, `Host: ${host}`, "Authorization: Bearer alpha", ...lines, "", ""].join("\r\n"));
  const answer = await readAll(socket);
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  const [statusLine = "", ...fields] = head.split("\r\n");
  const headers = new Headers(fields.map((field) => field.split(": ", 2) as [string, string]));
  return { status: Number(statusLine.split(" ")[1]), headers, body: JSON.parse(body) };
}
