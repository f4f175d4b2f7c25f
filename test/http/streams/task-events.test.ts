import { expect, test } from "vitest";
import type { Task } from "../../../src/task.ts";
import { newFinish, newTask } from "../../conformance/store/fixtures.ts";
import { startTask } from "../../events/log-fixture.ts";
import { numbersOf, openReader, range } from "./stream-reader.ts";
import { type StreamServer, startStreamServer } from "./stream-server.ts";

interface Page {
  data: { id: string; type: string }[];
  meta: { nextCursor: string | null };
}

async function list(server: StreamServer, taskId: string, query = "", token = "default"): Promise<{ status: number; body: Page }> {
  const answer = await fetch(`${server.url}/api/v2/tasks/${taskId}/events${query}`, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.headers.get("content-type")).toMatch(answer.ok ? /^application\/json/ : /^application\/problem\+json/);
  return { status: answer.status, body: (await answer.json()) as Page };
}

const stream = (server: StreamServer, taskId: string, lastEventId?: string, query = "", token = "default") =>
  openReader(`${server.url}/api/v2/tasks/${taskId}/events${query}`, { token, ...(lastEventId !== undefined && { lastEventId }) });

async function deliver(server: StreamServer, task: Task): Promise<void> {
  await server.store.settleCallbackIfPending(
    { task, attempts: 0 },
    {
      state: "delivered",
      nextInMs: null,
      lastStatus: 200,
      lastError: null,
      event: (attempts) => ({ type: "callback.delivered", data: JSON.stringify({ attempts, status: 200 }) }),
    },
  );
}

test("the list has all events of the task, oldest first and paginated, without the callback", async () => {
  const server = await startStreamServer();
  const { epoch } = server.store;
  const task = await startTask(server.store);
  const other = await startTask(server.store);
  await Promise.all(Array.from({ length: 60 }, () => [server.progress(task, 1), server.progress(other, 1)]).flat());
  await server.store.finishTaskIfRunning(task, newFinish({}, "https://example.com/"));
  await deliver(server, task);

  const first = await list(server, task.taskId);
  expect(first.status).toBe(200);
  expect(first.body.data).toHaveLength(50);
  expect(first.body.meta.nextCursor).toBe(first.body.data.at(-1)?.id);
  const second = await list(server, task.taskId, `?cursor=${first.body.meta.nextCursor}`);
  expect(second.body.meta.nextCursor).toBeNull();
  const events = [...first.body.data, ...second.body.data];
  expect(events).toHaveLength(62);
  expect([events[0]?.type, events.at(-1)?.type]).toEqual(["execution.started", "execution.completed"]);
  expect(events[0]).toEqual({
    id: `${epoch}-1`,
    type: "execution.started",
    taskId: task.taskId,
    agentId: "agent",
    provider: "command",
    timestamp: expect.any(String),
    data: { agentId: "agent" },
  });
  const ids = events.map(({ id }) => id);
  for (const query of [`?after=${ids[9]}&limit=3`, `?cursor=${ids[9]}&limit=3`, `?after=${ids[0]}&cursor=${ids[9]}&limit=3`]) {
    expect((await list(server, task.taskId, query)).body.data.map(({ id }) => id)).toEqual(ids.slice(10, 13));
  }
  expect((await list(server, task.taskId, `?after=${epoch}-0&limit=200`)).body).toEqual({ data: events, meta: { nextCursor: null } });
  expect((await list(server, task.taskId, `?after=${ids.at(-1)}`)).body).toEqual({ data: [], meta: { nextCursor: null } });
});

test.each([
  ["?limit=0", "limit"],
  ["?limit=201", "limit"],
  ["?limit=many", "limit"],
  ["?limit=", "limit"],
  ["?limit=0x10", "limit"],
  ["?limit=1e1", "limit"],
  ["?limit=5&limit=6", "limit"],
  ["?after=nonsense", "after"],
  ["?after=elsewhere-1", "after"],
  ["?cursor=elsewhere-1", "cursor"],
  ["?order=desc", "order"],
])("the list rejects %s with the name of the field", async (query, path) => {
  const server = await startStreamServer();
  const task = await startTask(server.store);
  const { status, body } = await list(server, task.taskId, query);
  expect(status).toBe(400);
  expect(body).toMatchObject({ code: "invalid_request", errors: [{ path }] });
});

test("the stream replays all events, continues live, and ends after the terminal event", async () => {
  const server = await startStreamServer();
  const task = await startTask(server.store);
  const other = await startTask(server.store);
  await server.progress(task, 5);
  const reader = await stream(server, task.taskId);
  await reader.received(6);
  await server.progress(other, 5);
  await server.progress(task, 5);
  await server.store.finishTaskIfRunning(task, newFinish({}, "https://example.com/"));
  await deliver(server, task);
  expect(await reader.ended).toBe(true);
  const envelopes = reader.envelopes();
  expect(envelopes).toEqual((await list(server, task.taskId)).body.data);
  expect(envelopes).toHaveLength(12);
  expect(envelopes.at(-1)?.type).toBe("execution.completed");
  expect(reader.messages).toHaveLength(12);
});

test("the stream of an ended task sends the remaining events and ends; without remaining events the response is 204", async () => {
  const server = await startStreamServer();
  const { epoch } = server.store;
  const task = await startTask(server.store);
  await server.progress(task, 5);
  await server.store.finishTaskIfRunning(task, newFinish({}, "https://example.com/"));
  await deliver(server, task);

  for (const [lastEventId, query, first] of [
    [undefined, "", 1],
    [`${epoch}-0`, "", 1],
    [`${epoch}-4`, "", 5],
    [undefined, `?after=${epoch}-4`, 5],
    [undefined, `?lastEventId=${epoch}-6&after=${epoch}-1`, 7],
    [`${epoch}-6`, `?lastEventId=${epoch}-1`, 7],
  ] as const) {
    const reader = await stream(server, task.taskId, lastEventId, query);
    expect(await reader.ended).toBe(true);
    expect([lastEventId, query, numbersOf(reader.envelopes())]).toEqual([lastEventId, query, range(first, 7)]);
  }
  for (const lastEventId of [`${epoch}-7`, `${epoch}-8`]) {
    const over = await stream(server, task.taskId, lastEventId);
    expect(await over.ended).toBe(true);
    expect([over.status, over.text]).toEqual([204, ""]);
  }
  const lost = await stream(server, task.taskId, "elsewhere-7");
  expect(await lost.ended).toBe(true);
  expect(lost.messages[0]).toMatchObject({ event: "stream.gap", data: `{"oldestId":"${epoch}-1"}` });
  expect(numbersOf(lost.envelopes())).toEqual(range(1, 7));
});

test("the stream of a queued task waits for its first event and reports that the task was canceled", async () => {
  const server = await startStreamServer();
  const { task } = await server.store.insertTaskIfAbsent(newTask({ taskId: "queued" }));
  const reader = await stream(server, "queued");
  await reader.until(({ comments }) => comments.length === 1);
  await server.store.finishTaskIfQueued(
    task,
    newFinish({
      state: "cancelled",
      result: { status: "error", errorCode: "cancelled", durationMs: 0, connection: "in-process" },
      event: { type: "execution.failed", data: '{"errorCode":"cancelled"}' },
    }),
  );
  expect(await reader.ended).toBe(true);
  expect(reader.envelopes().map(({ type }) => type)).toEqual(["execution.started", "execution.failed"]);
});

test("a task of another tenant and an unknown task result in 404", async () => {
  const server = await startStreamServer();
  const task = await startTask(server.store, { taskId: "theirs" });
  await server.progress(task, 1);
  for (const [taskId, token] of [
    ["theirs", "other"],
    ["nobodys", "default"],
  ] as const) {
    const refused = await stream(server, taskId, undefined, "", token);
    await refused.ended;
    expect(refused.status).toBe(404);
    expect(JSON.parse(refused.text)).toMatchObject({ code: "not_found" });
    expect(await list(server, taskId, "", token)).toMatchObject({ status: 404, body: { code: "not_found" } });
  }
});

test("two tenants' tasks of the same id have separate events", async () => {
  const server = await startStreamServer();
  const mine = await startTask(server.store, { taskId: "same" });
  const theirs = await startTask(server.store, { taskId: "same", tenant: "other" });
  const reader = await stream(server, "same", undefined, "", "other");
  await server.progress(mine, 2);
  await server.progress(theirs, 1);
  await server.finish(mine);
  await server.finish(theirs);
  expect(await reader.ended).toBe(true);
  expect(numbersOf(reader.envelopes())).toEqual([2, 5, 7]);
});

test("a page of large events is cut short, and the cursor continues to all of them", async () => {
  const server = await startStreamServer();
  const task = await startTask(server.store);
  await server.progress(task, 20, { filler: "x".repeat(240_000) });
  const pages: string[][] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { data, meta }: Page = (await list(server, task.taskId, `?limit=200${cursor}`)).body;
    pages.push(data.map(({ id }) => id));
    cursor = meta.nextCursor === null ? null : `&cursor=${meta.nextCursor}`;
  }
  expect(pages.flat()).toEqual(range(1, 21).map((number) => `${server.store.epoch}-${number}`));
  expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(6);
});
