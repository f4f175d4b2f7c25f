import { EventSource } from "eventsource";
import { expect, onTestFinished, test } from "vitest";
import type { EventEnvelope } from "#contract";
import { startTask } from "../../events/log-fixture.ts";
import { numbersOf, openReader, range } from "./stream-reader.ts";
import { startStreamServer } from "./stream-server.ts";

/** A standard EventSource that adds a token and reconnects faster. */
function openEventSource(url: string) {
  const seen: EventEnvelope[] = [];
  const closings: string[] = [];
  const watchers = new Set<() => void>();
  const source = new EventSource(url, {
    fetch: async (input, init) => {
      const answer = await fetch(input, { ...init, headers: { ...init.headers, authorization: "Bearer default" } });
      const hasten = new TransformStream<string, string>({
        transform: (text, sink) => sink.enqueue(text.replace("retry: 3000", "retry: 50")),
      });
      const body = answer.body?.pipeThrough(new TextDecoderStream()).pipeThrough(hasten).pipeThrough(new TextEncoderStream());
      return { body: body ?? null, url: answer.url, status: answer.status, redirected: answer.redirected, headers: answer.headers };
    },
  });
  onTestFinished(() => source.close());
  for (const type of ["execution.started", "execution.progress", "execution.completed"]) {
    source.addEventListener(type, ({ data }) => {
      seen.push(JSON.parse(data) as EventEnvelope);
      for (const watch of watchers) watch();
    });
  }
  source.addEventListener("stream.closing", ({ data }) => closings.push(data));
  return {
    source,
    seen,
    closings,
    received: (count: number) =>
      new Promise<void>((resolve) => {
        const watch = (): void => {
          if (seen.length < count) return;
          watchers.delete(watch);
          resolve();
        };
        watchers.add(watch);
        watch();
      }),
  };
}

test.each([0, 3])("an EventSource that disconnects before its first event resumes at its position (after %i)", async (count) => {
  const server = await startStreamServer();
  // An empty log also has a position: before the first event.
  if (count > 0) await server.progress(await startTask(server.store), count);
  const client = openEventSource(`${server.url}/api/events`);
  await new Promise((resolve) => client.source.addEventListener("open", resolve, { once: true }));
  await server.stop();
  await server.start();
  // The client has not reconnected yet.
  await startTask(server.store);
  await client.received(1);
  expect(numbersOf(client.seen)).toEqual([count === 0 ? 1 : count + 2]);
});

test("an EventSource continues over two restarts of Bridge without gaps or duplicates", async () => {
  const server = await startStreamServer();
  let written = 0;
  const work = async (count: number): Promise<void> => {
    const task = await startTask(server.store);
    await server.progress(task, count);
    await server.finish(task);
    written += count + 2;
  };
  const client = openEventSource(`${server.url}/api/events?lastEventId=${server.store.epoch}-0`);
  await work(300);
  await client.received(written);
  for (let restart = 0; restart < 2; restart += 1) {
    await server.stop();
    await server.start();
    // Written before the client reconnects, so it is replayed.
    await work(1500);
    await client.received(written);
    await work(10);
    await client.received(written);
  }
  expect(numbersOf(client.seen)).toEqual(range(1, written));
  expect(client.closings).toEqual(['{"reason":"shutdown"}', '{"reason":"shutdown"}']);
  expect(client.source.readyState).toBe(EventSource.OPEN);
});

test("an EventSource of an ended task does not reconnect", async () => {
  const server = await startStreamServer();
  const task = await startTask(server.store);
  const client = openEventSource(`${server.url}/api/v2/tasks/${task.taskId}/events`);
  const closed = new Promise<void>((resolve) => {
    client.source.addEventListener("error", () => client.source.readyState === EventSource.CLOSED && resolve());
  });
  await server.progress(task, 3);
  await server.finish(task);
  await closed;
  expect(numbersOf(client.seen)).toEqual(range(1, 5));
});

test("a client whose connection breaks repeatedly receives every event once", async () => {
  const server = await startStreamServer();
  const task = await startTask(server.store);
  const { epoch } = server.store;
  const seen: number[] = [];
  let lastEventId = `${epoch}-0`;
  const writing = (async () => {
    for (let round = 0; round < 60; round += 1) await server.progress(task, 50);
  })();
  while (seen.length < 3001) {
    const reader = await openReader(`${server.url}/api/events`, { lastEventId });
    await reader.received(Math.min(250, 3001 - seen.length));
    reader.leave("reset");
    await reader.ended;
    const envelopes = reader.envelopes();
    seen.push(...numbersOf(envelopes));
    lastEventId = envelopes.at(-1)?.id ?? lastEventId;
  }
  await writing;
  expect(seen).toEqual(range(1, 3001));
});
