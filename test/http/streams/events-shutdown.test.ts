import { expect, test } from "vitest";
import { startTask } from "../../events/log-fixture.ts";
import { openReader } from "./stream-reader.ts";
import { startStreamServer } from "./stream-server.ts";

const FLOOD = { filler: "x".repeat(60_000) };

test("a server with 100 open streams, one of them stalled, closes and sends the reason to each client", async () => {
  const server = await startStreamServer({ closeGraceMs: 300 });
  const quiet = await startTask(server.store, { taskId: "quiet" });
  const loud = await startTask(server.store, { taskId: "loud" });
  const stalled = await openReader(`${server.url}/api/events?taskId=loud`);
  const readers = await Promise.all(Array.from({ length: 99 }, () => openReader(`${server.url}/api/events?taskId=quiet`)));
  await Promise.all([stalled, ...readers].map((reader) => reader.until(({ comments }) => comments.length === 1)));
  stalled.pause();
  // One commit that exceeds the buffers of both sockets, so that the client is stalled but not disconnected.
  await server.progress(loud, 160, FLOOD);
  await server.progress(quiet, 1);
  await Promise.all(readers.map((reader) => reader.until(() => reader.envelopes().length === 1)));

  await server.stop();
  for (const reader of readers) {
    expect(await reader.ended).toBe(true);
    expect(reader.envelopes()).toHaveLength(1);
    expect(reader.messages.at(-1)).toEqual({ id: undefined, event: "stream.closing", data: '{"reason":"shutdown"}' });
  }
  stalled.resume();
  expect(await stalled.ended).toBe(false);
  expect((await server.metrics.sseClients.get()).values[0]?.value).toBe(0);
});

test("a slow client that reads the rest within the grace period receives all events and a clean end", async () => {
  const server = await startStreamServer();
  const task = await startTask(server.store);
  const reader = await openReader(`${server.url}/api/events`);
  await reader.until(({ comments }) => comments.length === 1);
  reader.pause();
  await server.progress(task, 160, FLOOD);
  const stopped = server.stop();
  reader.resume();
  await stopped;
  expect(await reader.ended).toBe(true);
  expect(reader.envelopes()).toHaveLength(160);
  expect(reader.messages.at(-1)?.event).toBe("stream.closing");
});

test("no stream can be opened while the server closes", async () => {
  const server = await startStreamServer();
  await server.eventStreams.closeAll("shutdown");
  const refused = await openReader(`${server.url}/api/events`);
  await refused.ended;
  expect(refused.status).toBe(503);
  expect(refused.headers["retry-after"]).toBeDefined();
  expect(JSON.parse(refused.text)).toMatchObject({ code: "draining" });
});
