import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createClientMemory } from "../../src/access/client-memory.ts";
import { scaled } from "../harness/machine.ts";
import { eventually } from "./eventually.ts";
import { startSocketServer } from "./start-socket-server.ts";

const MIB = 1024 ** 2;
const limits = { frameLimitBytes: 8 * MIB };
const piece = (bytes: number): string => "x".repeat(bytes);

const cutOffs = async (server: Awaited<ReturnType<typeof startSocketServer>>) =>
  (await server.metrics.websocketCutOffs.get()).values[0]?.value ?? 0;

test("incomplete messages are limited for a tenant: the oldest ends with 1013, and the others continue", async () => {
  const clientMemory = createClientMemory({ perTenantBytes: 5 * MIB });
  const server = await startSocketServer(undefined, { ...limits, clientMemory });
  const [oldest, newer, foreign] = await Promise.all([server.connect(), server.connect(), server.connect("beta")]);
  const body = (client: typeof oldest) => client.socket.send(`{"op":"test.echo","payload":{"text":"${piece(3 * MIB)}`, { fin: false });
  body(foreign);
  body(oldest);
  // Incomplete messages count as soon as they arrive.
  await eventually(() => held(clientMemory, "alpha", 2 * MIB)).toBe(true);
  body(newer);
  expect(await oldest.closed).toEqual({ code: 1013, reason: "too-much-held" });
  newer.socket.send('"}}', { fin: true });
  foreign.socket.send('"}}', { fin: true });
  for (const client of [newer, foreign]) expect((await client.received(1))[0]?.payload.text).toHaveLength(3 * MIB);
  expect(await cutOffs(server)).toBe(1);
  // All memory is released.
  await eventually(() => held(clientMemory, "alpha", 1)).toBe(false);
});

/** Returns whether the tenant occupies more than this number of bytes. */
function held(clientMemory: ReturnType<typeof createClientMemory>, tenant: string, bytes: number): boolean {
  const probe = clientMemory.open(tenant);
  probe.set(5 * MIB - bytes);
  const isOver = clientMemory.isFull(tenant);
  probe.release();
  return isOver;
}

test("a client whose message is incomplete at the second ping is disconnected, even if it keeps sending", async () => {
  const server = await startSocketServer(undefined, { ...limits, heartbeatMs: 100 });
  const client = await server.connect();
  client.socket.send(`{"op":"test.echo","payload":{"text":"${piece(100_000)}`, { fin: false });
  const trickle = setInterval(() => client.socket.send("x", { fin: false }), 10);
  onTestFinished(() => clearInterval(trickle));
  expect((await client.closed).code).toBe(1006);
  expect(await cutOffs(server)).toBe(1);
});

test("a client that sends only control frames is kept and occupies no memory", async () => {
  const clientMemory = createClientMemory({ perTenantBytes: 5 * MIB });
  const server = await startSocketServer(undefined, { ...limits, clientMemory, heartbeatMs: scaled(50) });
  const client = await server.connect();
  let pings = 0;
  client.socket.on("ping", () => {
    pings += 1;
  });
  for (let index = 0; index < 500; index += 1) {
    client.socket.ping("p".repeat(100));
    await once(client.socket, "pong");
  }
  await eventually(() => pings).toBeGreaterThan(4);
  expect([held(clientMemory, "alpha", 1), (await client.ask("test.echo", { a: 1 })).payload]).toEqual([false, { a: 1 }]);
});

test("unread responses are limited for a tenant, even with only one per client", async () => {
  const clientMemory = createClientMemory({ perTenantBytes: 16 * MIB });
  let handled = 0;
  const echo = ({ payload }: { payload: object }) => {
    handled += 1;
    return { status: 200, payload: payload as Record<string, unknown> };
  };
  const server = await startSocketServer(echo, { ...limits, clientMemory });
  const frame = JSON.stringify({ op: "test.echo", payload: { text: piece(7 * MIB) } });
  const clients = await Promise.all(Array.from({ length: 20 }, () => server.connect()));
  for (const client of clients) {
    client.socket.pause();
    client.socket.send(frame);
  }
  // Each socket is either closed because of the limit or has its response, part of which is in the buffers of the connection.
  await eventually(async () => (await cutOffs(server)) + handled).toBe(20);
  expect(handled).toBeLessThan(8);
  for (const client of clients) client.socket.terminate();
  await eventually(() => clientMemory.isFull("alpha")).toBe(false);
});

test("an upgrade is rejected with 503 while its tenant occupies too much memory", async () => {
  const clientMemory = createClientMemory({ perTenantBytes: MIB, maxWaitMs: 10 });
  const server = await startSocketServer(undefined, { ...limits, clientMemory });
  clientMemory.open("alpha").set(MIB);
  const { host, hostname, port, pathname } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer alpha\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  const [chunk] = await once(socket, "data");
  expect(String(chunk)).toMatch(/^HTTP\/1\.1 503 /);
  socket.destroy();
});
