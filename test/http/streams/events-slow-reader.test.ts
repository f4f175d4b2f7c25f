import { EventEmitter } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { MAX_STREAMS_PER_TENANT } from "../../../src/http/streams/event-streams.ts";
import { startTask } from "../../events/log-fixture.ts";
import { scaled } from "../../harness/machine.ts";
import { numbersOf, openReader, range, type StreamReader } from "./stream-reader.ts";
import { type StreamServer, startStreamServer } from "./stream-server.ts";

const MIB = 1024 * 1024;
const slowDisconnects = async (server: StreamServer) => (await server.metrics.sseSlowDisconnects.get()).values[0]?.value;

test("a stalled client is disconnected during a flood of 50 MB and delays neither the publisher nor 100 other clients", async () => {
  const server = await startStreamServer();
  const flood = await startTask(server.store, { taskId: "flood" });
  const pulse = await startTask(server.store, { taskId: "pulse" });
  const data = { filler: "x".repeat(32 * 1024) };
  const rounds = 50;

  /**
   * Sends a megabyte and a marker per round. Returns how many rounds reached the other clients before the disconnect, and the maximum of
   * waiting bytes.
   */
  async function publish(readers: readonly StreamReader[], count: number): Promise<{ completeRounds: number; mostWaiting: number }> {
    let completeRounds = 0;
    let mostWaiting = 0;
    const before = readers[0]?.envelopes().length ?? 0;
    for (let round = 1; round <= count; round += 1) {
      await Promise.all([server.progress(flood, 32, data), server.progress(pulse, 1)]);
      mostWaiting = Math.max(mostWaiting, server.bytesWaiting());
      await Promise.all(readers.map((reader) => reader.received(before + round)));
      if ((await slowDisconnects(server)) === 0) completeRounds += 1;
    }
    return { completeRounds, mostWaiting };
  }

  const readers = await Promise.all(Array.from({ length: 100 }, () => openReader(`${server.url}/api/events?taskId=pulse`)));
  await Promise.all(readers.map((reader) => reader.until(({ comments }) => comments.length === 1)));
  await publish(readers, 15);

  const stalled = await openReader(`${server.url}/api/events?taskId=flood`);
  await stalled.until(({ comments }) => comments.length === 1);
  stalled.pause();
  const disturbed = await publish(readers, rounds);

  expect(await slowDisconnects(server)).toBe(1);
  stalled.resume();
  expect(await stalled.ended).toBe(false);
  // The limit plus the commit that exceeded it.
  expect(disturbed.mostWaiting).toBeGreaterThan(0);
  expect(disturbed.mostWaiting).toBeLessThan(2.5 * MIB);
  // If the publisher or another client waited for the stalled client, the round would not end.
  expect(disturbed.completeRounds).toBeGreaterThan(1);
  for (const reader of readers) expect(reader.envelopes()).toHaveLength(15 + rounds);

  // The client can resume with its last id, so it misses nothing.
  const seen = numbersOf(stalled.envelopes());
  const { epoch } = server.store;
  const back = await openReader(`${server.url}/api/events?taskId=flood`, { lastEventId: `${epoch}-${seen.at(-1)}` });
  const all = [...seen, ...numbersOf(await back.received(rounds * 32 - seen.length))];
  expect(seen.length).toBeLessThan(rounds * 32);
  expect(all).toEqual([...new Set(all)].toSorted((a, b) => a - b));
  expect(all).toHaveLength(rounds * 32);
});

test("a client that keeps up with the flood receives all events in order", async () => {
  const server = await startStreamServer();
  const task = await startTask(server.store);
  const reader = await openReader(`${server.url}/api/events`);
  await reader.until(({ comments }) => comments.length === 1);
  for (let round = 0; round < 20; round += 1) await server.progress(task, 32, { filler: "x".repeat(32 * 1024) });
  expect(numbersOf(await reader.received(640))).toEqual(range(2, 641));
  expect(await slowDisconnects(server)).toBe(0);
});

test("a client that stalls during a replay occupies one page and receives everything when it continues", async () => {
  const server = await startStreamServer();
  const task = await startTask(server.store);
  for (let round = 0; round < 10; round += 1) await server.progress(task, 32, { filler: "x".repeat(32 * 1024) });
  const reader = await openReader(`${server.url}/api/events`, { lastEventId: `${server.store.epoch}-0` });
  reader.pause();
  for (let round = 0; round < 10; round += 1) await server.progress(task, 32, { filler: "x".repeat(32 * 1024) });
  expect(await slowDisconnects(server)).toBe(0);
  reader.resume();
  expect(numbersOf(await reader.received(641))).toEqual(range(1, 641));
});

test("a client that reads nothing of its replay for too long is disconnected, counted, and can resume by id", async () => {
  const server = await startStreamServer({ replayTimeoutMs: scaled(200) });
  const task = await startTask(server.store);
  for (let round = 0; round < 20; round += 1) await server.progress(task, 32, { filler: "x".repeat(32 * 1024) });
  const reader = await openReader(`${server.url}/api/events`, { lastEventId: `${server.store.epoch}-0` });
  reader.pause();
  await expect.poll(() => slowDisconnects(server)).toBe(1);
  reader.resume();
  await reader.ended;
  const seen = numbersOf(reader.envelopes());
  const again = await openReader(`${server.url}/api/events`, { lastEventId: `${server.store.epoch}-${seen.at(-1) ?? 0}` });
  const rest = numbersOf(await again.received(641 - seen.length));
  expect([...seen, ...rest]).toEqual(range(1, 641));
});

test("a stalled client of one task occupies at most one page, however large the events are", async () => {
  const server = await startStreamServer();
  const task = await startTask(server.store);
  for (let round = 0; round < 10; round += 1) await server.progress(task, 10, { filler: "x".repeat(240_000) });
  const reader = await openReader(`${server.url}/api/v2/tasks/${task.taskId}/events`);
  reader.pause();
  // More than the system's buffers, so that data waits in Bridge.
  while (server.bytesWaiting() === 0) await nextTurn();
  expect(server.bytesWaiting()).toBeLessThan(2 * MIB);
  reader.resume();
  expect(numbersOf(await reader.received(101))).toEqual(range(1, 101));
});

test("a client that disconnects during its replay leaves no state behind", async () => {
  const server = await startStreamServer();
  const task = await startTask(server.store);
  for (let round = 0; round < 10; round += 1) await server.progress(task, 32, { filler: "x".repeat(32 * 1024) });
  const reader = await openReader(`${server.url}/api/events`, { lastEventId: `${server.store.epoch}-0` });
  reader.pause();
  reader.leave("reset");
  await reader.ended;
  while ((await server.metrics.sseClients.get()).values[0]?.value !== 0) await nextTurn();
  expect(server.log.filter((line) => line.includes('"level":50'))).toEqual([]);
});

test("a tenant cannot exceed its maximum of open streams, and other tenants are not affected", async () => {
  const server = await startStreamServer();
  // The limit is tested in the registry, because opening two thousand sockets is slow.
  const listeners = new Set<() => void>();
  const raw = {
    destroyed: false,
    req: { socket: new EventEmitter().setMaxListeners(0) },
    writeHead() {},
    flushHeaders() {},
    write: () => true,
    once: (_name: string, listener: () => void) => listeners.add(listener),
  };
  const reply = { raw, getHeaders: () => ({}), sse: { keepAlive() {} } };
  const feed = {
    tenant: "default",
    taskId: undefined,
    key: "none",
    read: async (after: number) => ({ events: [], through: after }),
    matches: () => false,
    readRetained: async () => ({ oldest: null, completeFrom: 1 }),
  };
  const open = (tenant: string) =>
    server.eventStreams.open({ principal: { name: "n", tenant, scopes: new Set(), expiresAt: null } } as never, reply as never, {
      feed,
      from: { epoch: server.store.epoch, number: 0 },
    });
  for (let count = 0; count < MAX_STREAMS_PER_TENANT; count += 1) open("default");
  expect(() => open("default")).toThrow(expect.objectContaining({ code: "overloaded" }));
  open("other");
  const refused = await openReader(`${server.url}/api/events`);
  await refused.ended;
  expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "5"]);
  for (const listener of listeners) listener();
  expect((await openReader(`${server.url}/api/events`)).status).toBe(200);
});
