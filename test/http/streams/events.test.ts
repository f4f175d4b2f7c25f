import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { proveToken } from "../../../src/access/token-proof.ts";
import { sha256Hex } from "../../../src/requests/sha256-hex.ts";
import { startTask } from "../../events/log-fixture.ts";
import { numbersOf, openReader, range } from "./stream-reader.ts";
import { type StreamServer, startStreamServer } from "./stream-server.ts";

async function post(
  url: string,
  token: string | null,
): Promise<{ status: number; body: Record<string, string>; cacheControl: string | null }> {
  const answer = await fetch(url, { method: "POST", headers: token === null ? {} : { authorization: `Bearer ${token}` } });
  return {
    status: answer.status,
    body: (await answer.json()) as Record<string, string>,
    cacheControl: answer.headers.get("cache-control"),
  };
}

test("the first bytes of a stream are sent immediately, even if the log is empty", async () => {
  const { url, store } = await startStreamServer();
  const reader = await openReader(`${url}/api/events`);
  await reader.until(({ comments }) => comments.length === 1);
  expect(reader.text).toBe(`retry: 3000\n: connected\nid: ${store.epoch}-0\n\n`);
  expect(reader.status).toBe(200);
  expect(reader.headers).toMatchObject({
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
});

test("a stream without an id starts with the next event, and each event is one line of JSON", async () => {
  const server = await startStreamServer();
  const { store, eventLog } = server;
  const task = await startTask(store, { agentId: "agent-1", provider: "memory" });
  await server.progress(task, 3);
  const reader = await openReader(`${server.url}/api/events`);
  await reader.until(({ comments }) => comments.length === 1);
  eventLog.append(task, { type: "tool.completed", data: { toolCallId: "c", toolName: "t\n\ndata: x", output: "\r\n", isError: false } });
  const [envelope] = await reader.received(1);
  expect(envelope).toEqual({
    id: `${store.epoch}-5`,
    type: "tool.completed",
    taskId: task.taskId,
    agentId: "agent-1",
    provider: "memory",
    timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    data: { toolCallId: "c", toolName: "t\n\ndata: x", output: "\r\n", isError: false },
  });
  expect(reader.messages).toHaveLength(1);
  expect(reader.messages[0]).toMatchObject({ id: `${store.epoch}-5`, event: "tool.completed" });
});

test("with format=message, events have no name, so that onmessage of an EventSource receives them", async () => {
  const server = await startStreamServer();
  const task = await startTask(server.store, { agentId: "agent-1", provider: "memory" });
  const [messages, named] = [await openReader(`${server.url}/api/events?format=message`), await openReader(`${server.url}/api/events`)];
  for (const reader of [messages, named]) await reader.until(({ comments }) => comments.length === 1);
  server.eventLog.append(task, { type: "tool.completed", data: { toolCallId: "a", toolName: "t", output: "", isError: false } });
  for (const reader of [messages, named]) expect(await reader.received(1)).toMatchObject([{ type: "tool.completed" }]);
  expect(named.text).toContain("event: tool.completed\n");
  expect(messages.text).not.toContain("event:");
  expect(messages.text).toContain(`id: ${server.store.epoch}-2\ndata: {"id"`);
});

test("the events of a child task contain the id of its parent", async () => {
  const server = await startStreamServer();
  const { epoch } = server.store;
  const parent = await startTask(server.store, { provider: "parent" });
  await startTask(server.store, { parent, provider: "child" });
  const reader = await openReader(`${server.url}/api/events`, { lastEventId: `${epoch}-0` });
  expect((await reader.received(2)).map(({ parentTaskId }) => parentTaskId)).toEqual([undefined, parent.taskId]);
});

test("a stream with `since` starts with the first event at this time, unless the request has an id", async () => {
  let now = Date.parse("2026-11-24T10:00:00Z");
  const server = await startStreamServer({ storeClock: () => now });
  const task = await startTask(server.store, { agentId: "agent-1", provider: "memory" });
  now += 60_000;
  await server.progress(task, 1);
  now += 60_000;
  await server.progress(task, 1);
  const numbersFrom = async (query: string, options = {}): Promise<number[]> => {
    const reader = await openReader(`${server.url}/api/events?${query}`, options);
    await reader.until(({ messages }) => messages.at(-1)?.id === `${server.store.epoch}-3`);
    return numbersOf(reader.messages.map(({ data }) => JSON.parse(data)));
  };
  expect(await numbersFrom("since=2026-11-24T10:01:00Z")).toEqual([2, 3]);
  expect(await numbersFrom("since=2026-11-24T11:01:30%2B01:00")).toEqual([3]);
  expect(await numbersFrom("since=2026-11-24T00:00:00Z")).toEqual([1, 2, 3]);
  expect(await numbersFrom("since=2026-11-24T00:00:00Z", { lastEventId: `${server.store.epoch}-2` })).toEqual([3]);
});

test("a stream with `since` before events that retention has deleted begins with a gap", async () => {
  let now = Date.parse("2026-11-01T10:00:00Z");
  const server = await startStreamServer({ storeClock: () => now });
  const task = await startTask(server.store, { agentId: "agent-1", provider: "memory" });
  await server.finish(task);
  now = Date.parse("2026-11-24T10:00:00Z");
  while ((await server.store.prune(86_400_000, 100)) > 0);
  await startTask(server.store, { agentId: "agent-1", provider: "memory" });
  const reader = await openReader(`${server.url}/api/events?since=2026-11-01T00:00:00Z`);
  await reader.until(({ messages }) => messages.length === 2);
  expect(reader.messages.map(({ event }) => event)).toEqual(["stream.gap", "execution.started"]);
});

test("a `since` that is not a time is rejected, and the error names the parameter", async () => {
  const { url } = await startStreamServer();
  const answer = await fetch(`${url}/api/events?since=yesterday`, {
    headers: { authorization: "Bearer default", accept: "text/event-stream" },
  });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ errors: [{ path: "since", message: expect.stringContaining("ISO 8601") }] });
});

test("a stream resumes after the id in the header or the query, and the header takes precedence", async () => {
  const server = await startStreamServer();
  const task = await startTask(server.store);
  const { epoch } = server.store;
  await server.progress(task, 2500);
  const readers = await Promise.all([
    openReader(`${server.url}/api/events`, { lastEventId: `${epoch}-0` }),
    openReader(`${server.url}/api/events?lastEventId=${epoch}-1000`),
    openReader(`${server.url}/api/events?lastEventId=${epoch}-3`, { lastEventId: `${epoch}-2400` }),
  ]);
  await server.progress(task, 10);
  for (const [index, from] of [0, 1000, 2400].entries()) {
    expect(numbersOf((await readers[index]?.received(2511 - from)) ?? [])).toEqual(range(from + 1, 2511));
  }
});

test("an unknown id is reported as a gap without moving the cursor", async () => {
  const server = await startStreamServer();
  const { epoch } = server.store;
  await startTask(server.store);
  for (const lastEventId of ["elsewhere-1", `${epoch}-2`, `${epoch}-999999`]) {
    const reader = await openReader(`${server.url}/api/events`, { lastEventId });
    expect(numbersOf(await reader.received(1))).toEqual([1]);
    expect(reader.messages[0]).toEqual({ id: undefined, event: "stream.gap", data: JSON.stringify({ oldestId: `${epoch}-1` }) });
    expect(reader.text).toContain('\n\nevent: stream.gap\ndata: {"oldestId"');
  }
});

test("after a prune, an older id is reported as a gap and the stream continues with the oldest event", async () => {
  let now = 1_000_000;
  const server = await startStreamServer({ storeClock: () => now });
  const old = await startTask(server.store);
  await server.progress(old, 8);
  await server.finish(old);
  now += 100_000;
  await startTask(server.store);
  expect(await server.store.prune(50_000, 6)).toBeGreaterThan(0);
  const { epoch } = server.store;
  for (const [from, gaps] of [
    [0, 1],
    [5, 1],
    [6, 0],
  ] as const) {
    const reader = await openReader(`${server.url}/api/events`, { lastEventId: `${epoch}-${from}` });
    expect(numbersOf(await reader.received(5))).toEqual(range(7, 11));
    expect(reader.messages.filter(({ event }) => event === "stream.gap").map(({ data }) => JSON.parse(data))).toEqual(
      gaps === 0 ? [] : [{ oldestId: `${epoch}-7` }],
    );
  }
});

test("filters apply to replayed and live events", async () => {
  const server = await startStreamServer();
  const one = await startTask(server.store, { taskId: "one", agentId: "a", provider: "p" });
  const two = await startTask(server.store, { taskId: "two", agentId: "b", provider: "q" });
  const { epoch } = server.store;
  const cases = [
    ["taskId=one", [1, 3, 5]],
    ["agentId=b", [2, 4, 6]],
    ["provider=q&taskId=two", [2, 4, 6]],
    ["types=execution.started", [1, 2]],
    ["types=execution.progress,execution.completed&agentId=a", [3, 5]],
  ] as const;
  await server.progress(one, 1);
  const readers = await Promise.all(cases.map(([query]) => openReader(`${server.url}/api/events?${query}&lastEventId=${epoch}-0`)));
  await Promise.all(readers.map((reader) => reader.until(({ comments }) => comments.length === 1)));
  await server.progress(two, 1);
  await server.progress(one, 1);
  await server.progress(two, 1);
  for (const [index, [query, numbers]] of cases.entries()) {
    expect([query, numbersOf((await readers[index]?.received(numbers.length)) ?? [])]).toEqual([query, numbers]);
  }
});

test("events of another tenant are not sent: live, in a replay, by filter or by a foreign id", async () => {
  const server = await startStreamServer();
  const { epoch } = server.store;
  const secret = await startTask(server.store, { tenant: "default", taskId: "shared" });
  const own = await startTask(server.store, { tenant: "other", taskId: "shared" });
  const queries = ["", "?taskId=shared", "?agentId=agent", "?provider=command"];
  const ids = [undefined, `${epoch}-0`, `${epoch}-1`, "foreign-1"];
  const readers = await Promise.all(
    queries.flatMap((query) =>
      ids.map((id) => openReader(`${server.url}/api/events${query}`, { token: "other", ...(id && { lastEventId: id }) })),
    ),
  );
  await Promise.all(readers.map((reader) => reader.until(({ comments }) => comments.length === 1)));
  for (let round = 0; round < 3; round += 1) {
    await server.progress(secret, 5, { secret: "for default only" });
    await server.progress(own, 1, { last: round === 2 });
  }
  for (const reader of readers) {
    await reader.until(({ text }) => text.includes('"last":true'));
    expect(reader.text).not.toContain("for default only");
    expect(numbersOf(reader.envelopes()).filter((number) => ![2, 8, 14, 20].includes(number))).toEqual([]);
  }
});

test.each([
  ["lastEventId=nonsense", undefined, "lastEventId"],
  ["", "nonsense", "Last-Event-ID"],
  ["lastEventId=e-1", "e-01", "Last-Event-ID"],
  ["types=execution.begun", undefined, "types"],
  ["types=", undefined, "types"],
  ["types=execution.started,", undefined, "types"],
  ["taskid=one", undefined, "taskid"],
  ["taskId=", undefined, "taskId"],
  ["taskId=a&taskId=b", undefined, "taskId"],
])("?%s with Last-Event-ID %s is rejected with the name of the field", async (query, lastEventId, path) => {
  const { url } = await startStreamServer();
  const reader = await openReader(`${url}/api/events?${query}`, lastEventId === undefined ? {} : { lastEventId });
  await reader.ended;
  expect(reader.status).toBe(400);
  expect(reader.headers["content-type"]).toMatch(/^application\/problem\+json/);
  expect(JSON.parse(reader.text)).toMatchObject({ code: "invalid_request", errors: [{ path }] });
});

test("a request that does not accept a stream or has no token gets a problem", async () => {
  const { url } = await startStreamServer();
  for (const [options, status, code] of [
    [{ accept: "application/json" }, 406, "not_acceptable"],
    [{ token: null }, 401, "unauthenticated"],
    [{ token: "stranger" }, 401, "unauthenticated"],
  ] as const) {
    const reader = await openReader(`${url}/api/events`, options);
    await reader.ended;
    expect(reader.status).toBe(status);
    expect(JSON.parse(reader.text)).toMatchObject({ code });
  }
  const curl = await openReader(`${url}/api/events`, { accept: "*/*" });
  expect(curl.status).toBe(200);
});

/** Starts fake timers, so that only the test advances the time. */
function stopTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  onTestFinished(() => void vi.useRealTimers());
}

/**
 * Resolves when this number of streams waits for new events. Before that, a stream reads the store, and PostgreSQL's client gives up a read
 * as soon as the time advances past its limit.
 */
function watchLive(server: StreamServer): (count: number) => Promise<void> {
  const follow = vi.spyOn(server.eventLog, "follow");
  return async (count) => {
    while (follow.mock.calls.length < count) await nextTurn();
  };
}

/** Advances the time and waits until the sent data has arrived, because both ends share the event loop. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
}

test("a comment keeps a stream alive after 15 s without data", async () => {
  const server = await startStreamServer();
  const task = await startTask(server.store);
  const live = watchLive(server);
  stopTime();
  const reader = await openReader(`${server.url}/api/events`);
  await reader.until(({ comments }) => comments.length === 1);
  await live(1);
  await pass(14_999);
  expect(reader.comments).toEqual(["connected"]);
  await pass(1);
  expect(reader.comments).toEqual(["connected", "heartbeat"]);
  expect(reader.text.endsWith(": heartbeat\n\n")).toBe(true);

  await pass(10_000);
  const appended = server.progress(task, 1);
  await pass(100);
  await appended;
  await reader.received(1);
  await pass(14_899);
  expect(reader.comments).toEqual(["connected", "heartbeat"]);
  await pass(101);
  expect(reader.comments).toEqual(["connected", "heartbeat", "heartbeat"]);
});

test("data that a client sends during its stream closes the connection without a response in the stream", async () => {
  const server = await startStreamServer();
  const socket = connect(server.port, "127.0.0.1");
  socket.write("GET /api/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer default\r\n\r\n");
  let answer = "";
  for await (const piece of socket) {
    answer += piece;
    if (answer.includes(": connected")) socket.write("nonsense\r\n\r\n");
  }
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
});

test("a ticket opens one stream for the principal that created it", async () => {
  let now = Date.now();
  const server = await startStreamServer({ storeClock: () => now });
  const task = await startTask(server.store, { tenant: "other" });
  const asked = await post(`${server.url}/api/v2/events/ticket`, "other");
  expect(asked).toMatchObject({ status: 201, cacheControl: "no-store" });
  expect(asked.body).toEqual({ ticket: expect.stringMatching(/^tkt_/), expiresAt: new Date(now + 60_000).toISOString() });

  const { ticket } = asked.body as { ticket: string };
  const reader = await openReader(`${server.url}/api/events?ticket=${ticket}`, { token: null });
  expect(reader.status).toBe(200);
  await reader.until(({ comments }) => comments.length === 1);
  await server.progress(task, 1);
  expect(await reader.received(1)).toMatchObject([{ taskId: task.taskId }]);

  const again = await openReader(`${server.url}/api/events?ticket=${ticket}`, { token: null });
  expect(again.status).toBe(401);
  const late = await post(`${server.url}/api/v2/events/ticket`, "other");
  now += 60_000;
  expect((await openReader(`${server.url}/api/events?ticket=${late.body["ticket"]}`, { token: null })).status).toBe(401);
  expect((await post(`${server.url}/api/v2/events/ticket`, null)).status).toBe(401);
  expect(server.log.join("")).not.toContain("tkt_");
});

test("a stream ends when its token expires, whether it was opened by token or by ticket", async () => {
  stopTime();
  const expiresAt = Date.now() + 30_000;
  const server = await startStreamServer({ principals: { brief: { expiresAt }, lasting: { expiresAt: Date.now() + 40 * 86_400_000 } } });
  const live = watchLive(server);
  const { body } = await post(`${server.url}/api/v2/events/ticket`, "brief");
  const readers = [
    await openReader(`${server.url}/api/events`, { token: "brief" }),
    await openReader(`${server.url}/api/events?ticket=${body["ticket"]}`, { token: null }),
  ];
  const lasting = await openReader(`${server.url}/api/events`, { token: "lasting" });
  await Promise.all([...readers, lasting].map((reader) => reader.until(({ comments }) => comments.length === 1)));
  await live(3);
  await pass(29_999);
  for (const reader of readers) expect(reader.messages).toEqual([]);
  await pass(1);
  for (const reader of readers) {
    expect(await reader.ended).toBe(true);
    expect(reader.messages).toEqual([{ id: undefined, event: "stream.closing", data: '{"reason":"token_expired"}' }]);
  }
  // 40 days exceed the maximum delay of a timer, which must not fire immediately.
  expect(lasting.messages).toEqual([]);
  expect((await server.metrics.sseClients.get()).values[0]?.value).toBe(1);
});

test("a stream that was opened with a session ends with the token, also if the token got its expiry after the session", async () => {
  stopTime();
  const server = await startStreamServer({ principals: { brief: { expiresAt: Date.now() + 30_000 } } });
  const live = watchLive(server);
  const session = `ses_${"a".repeat(43)}`;
  const tokenProof = proveToken(session, { digest: Buffer.from("brief") });
  await server.store.insertSession(
    { hash: sha256Hex(session), principal: "brief", tenant: "brief", scopes: ["read"], tokenProof, tokenExpiresAt: null },
    9,
  );
  const reader = await openReader(`${server.url}/api/events`, { token: session });
  await reader.until(({ comments }) => comments.length === 1);
  await live(1);
  await pass(29_999);
  expect(reader.messages).toEqual([]);
  await pass(1);
  expect(await reader.ended).toBe(true);
  expect(reader.messages).toEqual([{ id: undefined, event: "stream.closing", data: '{"reason":"token_expired"}' }]);
});

test("a stream whose client disconnected leaves no timer behind", async () => {
  stopTime();
  const server = await startStreamServer({ principals: { brief: { expiresAt: Date.now() + 30_000 } } });
  const before = vi.getTimerCount();
  const reader = await openReader(`${server.url}/api/events`, { token: "brief" });
  await reader.until(({ comments }) => comments.length === 1);
  expect(vi.getTimerCount()).toBe(before + 2);
  reader.leave();
  while ((await server.metrics.sseClients.get()).values[0]?.value !== 0) await nextTurn();
  expect(vi.getTimerCount()).toBe(before);
});

test("the gauge of open streams returns to zero, however the clients disconnect", async () => {
  const server = await startStreamServer();
  const task = await startTask(server.store);
  const gauge = async () => (await server.metrics.sseClients.get()).values[0]?.value;
  const readers = await Promise.all(Array.from({ length: 40 }, () => openReader(`${server.url}/api/events`)));
  await Promise.all(readers.map((reader) => reader.until(({ comments }) => comments.length === 1)));
  expect(await gauge()).toBe(40);
  const left = new Promise<void>((resolve) => {
    const ask = async (): Promise<void> => ((await gauge()) === 0 ? resolve() : void setImmediate(ask));
    void ask();
  });
  for (const [index, reader] of readers.entries()) {
    reader.leave(index % 2 === 0 ? "fin" : "reset");
    if (index % 10 === 0) await server.progress(task, 1);
  }
  await left;
  // A client that disconnects before it has a response.
  const hasty = request(`${server.url}/api/events`, { headers: { authorization: "Bearer default" } });
  hasty.on("error", () => {});
  hasty.end();
  await once(hasty, "finish");
  hasty.destroy();
  await openReader(`${server.url}/api/events`).then((reader) => reader.leave());
  await new Promise<void>((resolve) => {
    const ask = async (): Promise<void> => ((await gauge()) === 0 ? resolve() : void setImmediate(ask));
    void ask();
  });
});

test("HEAD does not open a stream", async () => {
  const { url } = await startStreamServer();
  const answer = await fetch(`${url}/api/events`, { method: "HEAD", headers: { authorization: "Bearer default" } });
  expect(answer.status).toBeGreaterThanOrEqual(400);
});
