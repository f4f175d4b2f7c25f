import { type BridgeEvent, createBridgeClient, type EventFilter, type EventOptions } from "bridge-client";
import { expect, test } from "vitest";
import { type Answer, frame, hangUp, problem, startScriptedServer, stream } from "./scripted-server.ts";

const last = frame(9, "execution.completed");

/** Follows a scripted server until the stream ends or throws. */
async function follow(answers: Answer[], { source = "t", ...options }: { source?: string | EventFilter } & EventOptions = {}) {
  const { url, requests } = await startScriptedServer(...answers);
  const client = createBridgeClient({ url, token: "secret", retryDelayMs: 5, silenceMs: 600, patienceMs: 5000 });
  const seen: string[] = [];
  const error = await read(client.events(source, options), seen).catch((reason: unknown) => reason);
  return { seen, error, resumed: requests.map(({ headers }) => headers["last-event-id"]), requests };
}

async function read(events: AsyncIterable<BridgeEvent>, seen: string[]): Promise<undefined> {
  for await (const { id } of events) seen.push(id);
}

test("the stream of a task ends after its terminal event, although the connection stays open", async () => {
  const { seen, error, requests } = await follow([stream(frame(1) + last, "silence")]);
  expect(seen).toEqual(["e-1", "e-9"]);
  expect(error).toBeUndefined();
  expect(requests[0]?.target).toBe("/api/v2/tasks/t/events");
  expect(requests[0]?.headers).toMatchObject({ authorization: "Bearer secret", accept: "text/event-stream" });
});

test("a stream reconnects with the last id after every kind of end, and ignores an incomplete event", async () => {
  const { seen, error, resumed } = await follow([
    stream(frame(1), "end"),
    stream(`${frame(2)}event: stream.closing\ndata: {"reason":"shutdown"}\n\n`, "end"),
    hangUp,
    problem(503, "draining", { "retry-after": "0" }),
    stream(frame(3) + frame(4).slice(0, -1), "break"),
    stream(frame(4) + last, "end"),
  ]);
  expect(error).toBeUndefined();
  expect(seen).toEqual(["e-1", "e-2", "e-3", "e-4", "e-9"]);
  expect(resumed).toEqual([undefined, "e-1", "e-2", "e-2", "e-2", "e-3"]);
});

test("a silent connection is closed; one with heartbeats stays open", async () => {
  const slowly: Answer = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const beats = setInterval(() => response.write(": heartbeat\n\n"), 50);
    setTimeout(() => response.end(frame(2) + last), 900);
    response.once("close", () => clearInterval(beats));
  };
  const { seen, resumed } = await follow([stream(frame(1), "silence"), slowly]);
  expect(seen).toEqual(["e-1", "e-2", "e-9"]);
  expect(resumed).toEqual([undefined, "e-1"]);
});

test("a connection to a server that does not respond is closed", async () => {
  const { seen, resumed } = await follow([() => {}, stream(last, "end")]);
  expect(seen).toEqual(["e-9"]);
  expect(resumed).toHaveLength(2);
});

test("a stream reconnects after an id without an event", async () => {
  const { resumed } = await follow([stream(": connected\nid: e-7\n\n", "break"), stream(last, "end")]);
  expect(resumed).toEqual([undefined, "e-7"]);
});

test("a stream starts after the given event, and ends at once if that was the terminal one", async () => {
  const { seen, error, resumed } = await follow([(response) => response.writeHead(204).end()], { after: "e-9" });
  expect({ seen, error, resumed }).toEqual({ seen: [], error: undefined, resumed: ["e-9"] });
});

test("a filter is sent as the query, and its stream does not end with a task", async () => {
  const stop = new AbortController();
  const { url, requests } = await startScriptedServer(stream(last + frame(10), "silence"));
  const client = createBridgeClient({ url, token: "secret" });
  const seen: string[] = [];
  const filter: EventFilter = { agentId: "a&b", types: ["execution.completed", "execution.progress"] };
  const reading = (async () => {
    for await (const { id } of client.events(filter, { signal: stop.signal })) {
      seen.push(id);
      if (id === "e-10") stop.abort(new Error("enough"));
    }
  })();
  await expect(reading).rejects.toThrow("enough");
  expect(seen).toEqual(["e-9", "e-10"]);
  expect(requests[0]?.target).toBe("/api/events?agentId=a%26b&types=execution.completed%2Cexecution.progress");
});

const gap = 'event: stream.gap\ndata: {"oldestId":"e-5"}\n\n';

test("a gap is thrown unless onGap is set", async () => {
  const withoutHandler = await follow([stream(gap + frame(5) + last, "end")], { after: "e-1" });
  expect(withoutHandler.error).toMatchObject({ name: "BridgeClientError", code: "stream_gap" });
  expect(withoutHandler.seen).toEqual([]);

  const gaps: unknown[] = [];
  const withHandler = await follow([stream(gap + frame(5) + last, "end")], { after: "e-1", onGap: (gap) => gaps.push(gap) });
  expect(withHandler.error).toBeUndefined();
  expect(withHandler.seen).toEqual(["e-5", "e-9"]);
  expect(gaps).toEqual([{ oldestId: "e-5" }]);
});

test.each([
  [401, "unauthenticated"],
  [404, "not_found"],
  [400, "invalid_request"],
])("an error response is thrown and not retried: %i", async (status, code) => {
  const { error, requests } = await follow([problem(status, code)]);
  expect(error).toMatchObject({ code, status, requestId: "request-1", message: `It is ${code}.` });
  expect(requests).toHaveLength(1);
});

test("retries end after patienceMs without success, and start again after a success", async () => {
  const { url } = await startScriptedServer(hangUp);
  const client = createBridgeClient({ url, token: "secret", retryDelayMs: 5, patienceMs: 100 });
  await expect(read(client.events("t"), [])).rejects.toMatchObject({ code: "unreachable", status: null });

  const flaky = Array.from({ length: 8 }, (_, index) => stream(frame(index), "break"));
  const server = await startScriptedServer(...flaky, stream(last, "end"));
  const patient = createBridgeClient({ url: server.url, token: "secret", retryDelayMs: 20, patienceMs: 50 });
  const seen: string[] = [];
  await read(patient.events("t"), seen);
  expect(seen).toHaveLength(9);
});

test("an abort ends a pause, and leaving the loop closes the connection", async () => {
  const { url } = await startScriptedServer(hangUp);
  const stop = new AbortController();
  const reading = read(createBridgeClient({ url, token: "secret", retryDelayMs: 60_000 }).events("t", { signal: stop.signal }), []);
  setTimeout(() => stop.abort(new Error("stopped")), 50);
  await expect(reading).rejects.toThrow("stopped");

  const closed = Promise.withResolvers<void>();
  const server = await startScriptedServer((response) => {
    response.once("close", closed.resolve);
    stream(frame(1), "silence")(response);
  });
  for await (const _ of createBridgeClient({ url: server.url, token: "secret" }).events("t")) break;
  await closed.promise;
});

test("a response that is not an event stream ends the stream", async () => {
  const page: Answer = (response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>Log in</html>");
  const { error, requests } = await follow([stream(frame(1), "end"), page]);
  expect(error).toMatchObject({ code: "unexpected_answer", status: 200, message: "HTTP 200: expected an event stream, got text/html." });
  expect(requests).toHaveLength(2);
});
