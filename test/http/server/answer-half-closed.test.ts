import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { createBareServer } from "../bare-server.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

/** Opens a connection that only its caller closes, in both directions. */
function open(port: number): Socket {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Sends the text, closes the sending side, and reads until the server closes the connection. */
async function sendAndEnd(text: string, port = bridge.port): Promise<string> {
  const socket = open(port);
  let answer = "";
  socket.on("data", (bytes) => {
    answer += bytes;
  });
  socket.end(text);
  await once(socket, "end");
  return answer;
}

const get = (target: string, version = "1.1"): string =>
  `GET ${target} HTTP/${version}\r\nHost: localhost\r\nAuthorization: Bearer secret-alpha\r\n\r\n`;

function post(body: object, headers = ""): string {
  const text = JSON.stringify({ provider: "memory", agentId: "half", ...body });
  return [
    "POST /api/v2/dispatch HTTP/1.1",
    "Host: localhost",
    "Authorization: Bearer secret-alpha",
    "Content-Type: application/json",
    `Content-Length: ${text.length}${headers}`,
    "",
    text,
  ].join("\r\n");
}

const chunked = post({ agentId: "cut", message: "Hello." }).replace(/Content-Length: (\d+)\r\n\r\n/, (_, length) => {
  return `Transfer-Encoding: chunked\r\n\r\n${Number(length).toString(16)}\r\n`;
});

const bodyOf = (answer: string) => JSON.parse(answer.slice(answer.lastIndexOf("\r\n\r\n") + 4));
const countTasks = async (agentId: string) => (await bridge.call("GET", `/api/v2/tasks?agentId=${agentId}`)).body.data.length;

test("a client that closes its sending side after a dispatch receives the whole answer, then the end of the connection", async () => {
  const answer = await sendAndEnd(post({ message: "Hello." }));
  expect(answer).toMatch(/^HTTP\/1\.1 202 Accepted\r\n/);
  expect(bodyOf(answer)).toMatchObject({ provider: "memory", agentId: "half" });
});

test.each(["1.0", "1.1"])("a client of HTTP/%s that closes its sending side after a GET receives the whole answer", async (version) => {
  const answer = await sendAndEnd(get("/api/v2/domains", version));
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(bodyOf(answer).data.length).toBeGreaterThan(20);
});

test("a client that closes its sending side after several requests receives all of the answers", async () => {
  const answer = await sendAndEnd(get("/api/v2/me") + get("/api/v2/tasks") + get("/api/v2/me"));
  expect(answer.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(3);
});

test("a client that closes its sending side while it waits for a task receives the result", async () => {
  const sent = sendAndEnd(post({ taskId: "waited", message: "wait" }, "\r\nPrefer: wait=60"));
  await vi.waitFor(async () => expect((await bridge.call("GET", "/api/v2/tasks/waited")).body.state).toBe("running"));
  await bridge.call("POST", "/api/v2/tasks/waited/cancel");
  const answer = await sent;
  expect(answer).toMatch(/HTTP\/1\.1 200 OK\r\n/);
  expect(bodyOf(answer)).toMatchObject({ taskId: "waited", state: "cancelled" });
});

test("a client that closes its sending side receives the events of a task up to its end", async () => {
  await bridge.dispatch({ taskId: "followed", message: "wait" });
  const sent = sendAndEnd(get("/api/v2/tasks/followed/events").replace("\r\n\r\n", "\r\nAccept: text/event-stream\r\n\r\n"));
  await vi.waitFor(async () => expect((await bridge.call("GET", "/metrics")).text).toMatch(/^bridge_sse_clients 1$/m));
  await bridge.call("POST", "/api/v2/tasks/followed/cancel");
  expect(await sent).toContain("event: execution.failed");
});

test.each([
  ["a body with half of its length", post({ agentId: "cut", message: "Hello." }).slice(0, -10)],
  ["a body with an unfinished chunk", chunked.slice(0, -10)],
  ["unfinished headers", post({ agentId: "cut", message: "x" }).slice(0, 60)],
])("a client that closes its sending side after %s receives 400, and nothing is dispatched", async (_, text) => {
  const answer = await sendAndEnd(text);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(bodyOf(answer)).toMatchObject({ code: "invalid_request" });
  expect(await countTasks("cut")).toBe(0);
});

test("an idle connection whose client closes its sending side is closed", async () => {
  const socket = open(bridge.port);
  socket.write(get("/api/v2/me"));
  await once(socket, "data");
  socket.end();
  socket.resume();
  await once(socket, "end");
});

test("a stream whose client has gone without a reset is closed", async () => {
  const clients = async () => /^bridge_sse_clients (\d+)$/m.exec((await bridge.call("GET", "/metrics")).text)?.[1];
  const socket = open(bridge.port);
  socket.write(get("/api/events").replace("\r\n\r\n", "\r\nAccept: text/event-stream\r\n\r\n"));
  await vi.waitFor(async () => expect(await clients()).toBe("1"));
  // All of its data is read, so the system sends no reset.
  socket.resume();
  await once(socket, "data");
  socket.destroy();
  await vi.waitFor(async () => expect(await clients()).toBe("0"));
});

test("a WebSocket whose client closes its sending side is closed, and receives no interim response", async () => {
  const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
  const answer = await sendAndEnd(get("/ws/bridge").replace("\r\n\r\n", `\r\n${upgrade}\r\n\r\n`));
  expect(answer).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
  expect(answer).not.toContain("102");
  await vi.waitFor(async () => expect((await bridge.call("GET", "/metrics")).text).toMatch(/^bridge_websocket_clients 0$/m));
});

test("a waiting request whose client has gone without a reset is noticed, even if it closed only its sending side before", async () => {
  const app = await createBareServer();
  onTestFinished(() => app.close());
  const closed = Promise.withResolvers<boolean>();
  app.get("/wait", { config: { public: true } }, async (_request, reply) => {
    reply.raw.once("close", () => closed.resolve(reply.raw.writableFinished));
    await closed.promise;
  });
  const port = Number(new URL(await app.listen({ host: "127.0.0.1", port: 0, listenTextResolver: () => "" })).port);
  const socket = open(port);
  socket.end("GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const [interim] = await once(socket, "data");
  expect(String(interim)).toBe("HTTP/1.1 102 Processing\r\n\r\n");
  socket.destroy();
  expect(await closed.promise).toBe(false);
});

test("a shutdown closes the stream of a client that has closed its sending side", async () => {
  const other = await startBridge();
  const answer = sendAndEnd(get("/api/events").replace("\r\n\r\n", "\r\nAccept: text/event-stream\r\n\r\n"), other.port);
  await vi.waitFor(async () => expect((await other.call("GET", "/metrics")).text).toMatch(/^bridge_sse_clients 1$/m));
  await other.close();
  expect(await answer).toContain("event: stream.closing");
});

test("a check in the moment in which an idle connection ends does nothing", async () => {
  const app = await createBareServer();
  onTestFinished(() => app.close());
  app.get("/now", { config: { public: true } }, async () => "now");
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const checked = Promise.withResolvers<unknown>();
  // A busy event loop runs the check before it closes the connection.
  const check = async (): Promise<void> => void vi.advanceTimersByTime(1_000);
  app.server.on("connection", (socket: Socket) => socket.once("end", () => checked.resolve(check())));
  const port = Number(new URL(await app.listen({ host: "127.0.0.1", port: 0, listenTextResolver: () => "" })).port);
  const socket = open(port);
  socket.write("GET /now HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await once(socket, "data");
  socket.end();
  await checked.promise;
});
