import { once } from "node:events";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect as connectSocket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createClientMemory } from "../../../src/access/client-memory.ts";
import { createSharing, type SharedEvents } from "../../../src/http/streams/shared-events.ts";
import { createStreamWriter } from "../../../src/http/streams/stream-writer.ts";
import type { StoredEvent } from "../../../src/store/events/interface.ts";
import { outlasts } from "../../support/outlasts.ts";

const MIB = 1024 * 1024;

/** Creates a writer and a client that reads nothing until `resume`, over a real connection. */
async function connect(heartbeatMs = 60_000, clientMemory = createClientMemory()) {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const request = get({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", agent: false });
  const [, raw] = (await once(server, "request")) as [unknown, ServerResponse];
  raw.writeHead(200);
  raw.write("begin\n");
  const [client] = (await once(request, "response")) as [IncomingMessage];
  client.on("error", () => {});
  onTestFinished(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  return {
    raw,
    writer: createStreamWriter(raw, {
      heartbeatMs,
      reservation: clientMemory.open("default"),
      isFull: () => clientMemory.isFull("default"),
    }),
    client,
  };
}

type Connection = Awaited<ReturnType<typeof connect>>;

/** More than the buffers of both sockets, so that the connection stays full. It does not count as waiting. */
const FULL = 32 * MIB;
function stall({ raw, writer }: Connection): void {
  expect(writer.write(Buffer.alloc(FULL, "-"))).toBe(false);
  expect(raw.writableNeedDrain).toBe(true);
}

/** Events of one commit whose frames each take this number of bytes. */
function frames(count: number, bytes: number, clientMemory = createClientMemory()): SharedEvents {
  const task = { seq: 1, tenant: "default", taskId: "task", parentTaskId: null, agentId: "agent", provider: "memory" };
  const event: StoredEvent = { number: 1, task, type: "execution.progress", at: 0, data: "{}" };
  const share = createSharing({ encode: () => Buffer.alloc(count * bytes, "."), clientMemory });
  return share(Array.from({ length: count }, () => event));
}

test("at most 1,000 live events wait for a stalled client", async () => {
  const connection = await connect();
  stall(connection);
  const { writer } = connection;
  expect(writer.writeLive(frames(1, 10))).toBe(true);
  expect(writer.writeLive(frames(999, 10))).toBe(true);
  expect(writer.writeLive(frames(1, 10))).toBe(false);
});

test("at most a megabyte of live events waits for a stalled client", async () => {
  const connection = await connect();
  stall(connection);
  const { raw, writer } = connection;
  const before = raw.writableLength;
  expect(writer.writeLive(frames(1, 10))).toBe(true);
  expect(writer.writeLive(frames(1, MIB - 10))).toBe(true);
  expect(writer.writeLive(frames(1, 1))).toBe(false);
  expect(raw.writableLength - before).toBeLessThan(MIB + 1000);
});

test("a commit of any size is accepted if nothing waits, and events that were sent no longer count", async () => {
  const connection = await connect();
  const { writer, client } = connection;
  let received = 0;
  client.on("data", (piece: Buffer) => {
    received += piece.length;
  });
  for (let round = 1; round <= 3; round += 1) {
    expect(writer.writeLive(frames(5000, 1000))).toBe(true);
    while (received < 6 + round * 5_000_000) await once(client, "data");
  }
  expect(received).toBe(6 + 15_000_000);
});

test("waitForDrain resolves when the client can receive more, and when it disconnects", async () => {
  const first = await connect();
  stall(first);
  expect(await first.writer.waitForDrain(10)).toBe(false);
  const room = first.writer.waitForDrain(20_000);
  first.client.resume();
  expect(await room).toBe(true);
  expect(first.raw.writableNeedDrain).toBe(false);

  const second = await connect();
  stall(second);
  const gone = second.writer.waitForDrain(20_000);
  second.client.destroy();
  expect(await gone).toBe(true);
  expect(second.writer.write("more")).toBe(false);
});

test("no heartbeat is sent to a client that reads nothing", async () => {
  const connection = await connect(10);
  stall(connection);
  const { raw, writer, client } = connection;
  const waiting = raw.writableLength;
  // Counts ten intervals with timers of the same length, which fire in the order of their creation.
  for (let interval = 0; interval < 10; interval += 1) await delay(10);
  expect(raw.writableLength).toBe(waiting);
  let [fill, rest] = [0, ""];
  client.on("data", (piece: Buffer) => {
    const end = piece.lastIndexOf("-") + 1;
    fill += end;
    rest += piece.subarray(end);
  });
  // After the client has read, heartbeats continue.
  while (!rest.includes(": heartbeat\n\n")) await once(client, "data");
  expect(fill + rest.indexOf(": heartbeat")).toBe("begin\n".length + FULL);
  writer.end("end");
  await once(client, "end");
  expect(rest.endsWith("\n\nend")).toBe(true);
});

test("a stream whose end is not read is closed after the grace period", async () => {
  const connection = await connect();
  stall(connection);
  connection.writer.end("end");
  connection.writer.end("end again");
  expect(await outlasts(() => connection.writer.waitForFinish(100), 50)).toBe(true);
  expect(connection.raw.destroyed).toBe(true);
  await connection.writer.waitForFinish(100);
});

test("while the tenant is over its memory limit, only a client that is behind is disconnected", async () => {
  const clientMemory = createClientMemory({ perTenantBytes: 10 * MIB });
  const behind = await connect(60_000, clientMemory);
  const upToDate = await connect(60_000, clientMemory);
  upToDate.client.resume();
  stall(behind);
  // Data that waits for one client counts towards the tenant's limit until it is read.
  expect(clientMemory.isFull("default")).toBe(true);
  expect(behind.writer.writeLive(frames(1, 10))).toBe(true);
  expect(behind.writer.writeLive(frames(1, 10))).toBe(false);
  expect(upToDate.writer.writeLive(frames(1, 10))).toBe(true);
  behind.raw.destroy();
  await expect.poll(() => clientMemory.isFull("default")).toBe(false);
});

test("live events that wait for a client count towards the tenant's limit until the client disconnects", async () => {
  const clientMemory = createClientMemory({ perTenantBytes: 10 * MIB });
  const client = await connect(60_000, clientMemory);
  expect(client.writer.writeLive(frames(1, FULL, clientMemory))).toBe(true);
  expect(clientMemory.isFull("default")).toBe(true);
  client.raw.destroy();
  await expect.poll(() => clientMemory.isFull("default")).toBe(false);
});

test("events of a stream that waits for an earlier response on its connection no longer count when the client disconnects", async () => {
  const clientMemory = createClientMemory({ perTenantBytes: 10 * MIB });
  const server = createServer();
  const responses: ServerResponse[] = [];
  const arrived = new Promise<void>((resolve) => {
    server.on("request", (_request, response) => responses.push(response) === 2 && resolve());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connectSocket((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(2));
  await arrived;
  const raw = responses[1] as ServerResponse;
  raw.writeHead(200);
  const reservation = clientMemory.open("default");
  const writer = createStreamWriter(raw, { heartbeatMs: 60_000, reservation, isFull: () => clientMemory.isFull("default") });
  expect(writer.writeLive(frames(1, FULL, clientMemory))).toBe(true);
  expect(clientMemory.isFull("default")).toBe(true);
  client.destroy();
  await expect.poll(() => clientMemory.isFull("default")).toBe(false);
});
