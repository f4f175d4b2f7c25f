import { once } from "node:events";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createStreamWriter } from "../../../src/http/streams/stream-writer.ts";
import { createClientMemory } from "../../../src/http/wire/client-memory.ts";
import { outlasts } from "../../support/outlasts.ts";

const MIB = 1024 * 1024;

/** A writer and, at the far end of a real connection, a client that takes nothing until it is told to. */
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

/** More than the buffers of both sockets ever take, so that the connection stays full; it does not count as waiting. */
const FULL = 32 * MIB;
function stall({ raw, writer }: Connection): void {
  expect(writer.write(Buffer.alloc(FULL, "-"))).toBe(false);
  expect(raw.writableNeedDrain).toBe(true);
}

const frames = (count: number, bytes: number): Buffer[] => Array.from({ length: count }, () => Buffer.alloc(bytes, "."));

test("a stalled reader may have 1,000 live events waiting, and not one more", async () => {
  const connection = await connect();
  stall(connection);
  const { writer } = connection;
  expect(writer.writeLive(frames(1, 10))).toBe(true);
  expect(writer.writeLive(frames(999, 10))).toBe(true);
  expect(writer.writeLive(frames(1, 10))).toBe(false);
});

test("or a megabyte, and not one byte more", async () => {
  const connection = await connect();
  stall(connection);
  const { raw, writer } = connection;
  const before = raw.writableLength;
  expect(writer.writeLive(frames(1, 10))).toBe(true);
  expect(writer.writeLive([Buffer.alloc(MIB - 10)])).toBe(true);
  expect(writer.writeLive(frames(1, 1))).toBe(false);
  expect(raw.writableLength - before).toBeLessThan(MIB + 1000);
});

test("one commit of any size is taken when nothing waits, and what has been taken waits no more", async () => {
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

test("waiting for room ends when there is room, and when the reader is gone", async () => {
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

test("no heartbeat is added for a reader that takes nothing", async () => {
  const connection = await connect(10);
  stall(connection);
  const { raw, writer, client } = connection;
  const waiting = raw.writableLength;
  // Ten intervals, counted by a timer of the same length: those of one length fire in the order in which they were set.
  for (let interval = 0; interval < 10; interval += 1) await delay(10);
  expect(raw.writableLength).toBe(waiting);
  let [fill, rest] = [0, ""];
  client.on("data", (piece: Buffer) => {
    const end = piece.lastIndexOf("-") + 1;
    fill += end;
    rest += piece.subarray(end);
  });
  // Once it takes what is there, it is looked after again.
  while (!rest.includes(": heartbeat\n\n")) await once(client, "data");
  expect(fill + rest.indexOf(": heartbeat")).toBe("begin\n".length + FULL);
  writer.end("end");
  await once(client, "end");
  expect(rest.endsWith("\n\nend")).toBe(true);
});

test("an end that is not taken is cut off after the grace", async () => {
  const connection = await connect();
  stall(connection);
  connection.writer.end("end");
  connection.writer.end("end again");
  expect(await outlasts(() => connection.writer.waitForFinish(100), 50)).toBe(true);
  expect(connection.raw.destroyed).toBe(true);
  await connection.writer.waitForFinish(100);
});

test("while the tenant is over its limit, only a reader that is behind is disconnected", async () => {
  const clientMemory = createClientMemory({ perTenantBytes: 10 * MIB });
  const behind = await connect(60_000, clientMemory);
  const upToDate = await connect(60_000, clientMemory);
  upToDate.client.resume();
  stall(behind);
  // What waits for one reader counts for the tenant, until it is taken.
  expect(clientMemory.isFull("default")).toBe(true);
  expect(behind.writer.writeLive(frames(1, 10))).toBe(true);
  expect(behind.writer.writeLive(frames(1, 10))).toBe(false);
  expect(upToDate.writer.writeLive(frames(1, 10))).toBe(true);
  behind.raw.destroy();
  await expect.poll(() => clientMemory.isFull("default")).toBe(false);
});
