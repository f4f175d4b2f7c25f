import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listedTaskSchema, taskSchema } from "../../../src/http/routes/describe-task.ts";
import { pageSchema } from "../../../src/http/wire/pagination.ts";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";
import { startReceiver } from "../../support/start-receiver.ts";
import { askUntil } from "../../support/until.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

const get = (target: string) => bridge.call("GET", target);
const waited = { headers: { prefer: "wait=20" } };
const listSchema = pageSchema(listedTaskSchema);

describe("one task", () => {
  test("a task is returned with its result and its unchanged metadata", async () => {
    const metadata = { b: 1, a: { deep: ["é", null] } };
    await bridge.dispatch({ taskId: "one", metadata }, waited);
    const { status, headers, body } = await get("/api/v2/tasks/one");
    expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(taskSchema.parse(body)).toMatchObject({
      parentTaskId: null,
      provider: "memory",
      agentId: "writer",
      state: "completed",
      waitingOn: null,
      callback: null,
    });
    expect(JSON.stringify(body.metadata)).toBe(JSON.stringify(metadata));
    const times = [body.createdAt, body.startedAt, body.lastProgressAt, body.finishedAt] as string[];
    expect(times.toSorted()).toEqual(times);
  });

  test("a task with a long result is returned by every route", async () => {
    const message = "für 10 €\n".repeat(40_000);
    const waitedFor = await bridge.dispatch({ taskId: "long-result", message, metadata: { a: 1 } }, waited);
    const { status, headers, body, text } = await get("/api/v2/tasks/long-result");
    expect([status, headers.get("content-type")]).toEqual([200, waitedFor.headers.get("content-type")]);
    expect(headers.get("content-type")).toBe((await get("/api/v2/tasks/one")).headers.get("content-type"));
    expect(text).toBe(JSON.stringify(body));
    expect(taskSchema.parse(body)).toMatchObject({ state: "completed", metadata: { a: 1 }, result: { status: "ok", output: message } });
    expect(waitedFor.body).toEqual({ ...body, lastProgressAt: waitedFor.body.lastProgressAt });
    expect((await bridge.call("HEAD", "/api/v2/tasks/long-result")).status).toBe(200);
    expect((await get("/api/v2/tasks/long-result/events")).body.data.at(-1).type).toBe("execution.completed");
  });

  test("a failure is returned as a result", async () => {
    const { body } = await bridge.dispatch({ taskId: "failing", message: "fail" }, waited);
    expect(taskSchema.parse(body)).toMatchObject({
      state: "failed",
      result: { status: "error", errorCode: "model_error", error: "It failed." },
    });
  });

  test.each(["unknown", "%00", "a%2Fb", "x".repeat(300), "..%2f..", "%F0%9F%A7%B5"])(
    "a task that does not exist results in 404: %s",
    async (taskId) => {
      expectProblem(await get(`/api/v2/tasks/${taskId}`), "not_found");
    },
  );

  test("a task without a free slot waits on the queue", async () => {
    await bridge.dispatch({ provider: "narrow", taskId: "holder", message: "wait" });
    await askUntil(
      () => get("/api/v2/tasks/holder"),
      ({ body }) => body.state === "running",
    );
    await bridge.dispatch({ provider: "narrow", taskId: "waiting" });
    const { body } = await get("/api/v2/tasks/waiting");
    expect(taskSchema.parse(body)).toMatchObject({ state: "queued", waitingOn: "queue", startedAt: null, result: null });
    for (const taskId of ["waiting", "holder"]) await bridge.call("POST", `/api/v2/tasks/${taskId}/cancel`);
    const reported = (await get("/api/v2/tasks/waiting/events")).body.data.map(({ type, data }: { type: string; data: object }) => ({
      type,
      data,
    }));
    expect(reported).toEqual([
      { type: "execution.started", data: { agentId: "writer" } },
      { type: "execution.failed", data: { error: expect.any(String), errorCode: "cancelled", durationMs: 0, connection: "in-process" } },
    ]);
  });
});

test("a task with an id of the maximum length can be followed and canceled", async () => {
  const taskId = "t".repeat(128);
  expect((await bridge.dispatch({ taskId }, waited)).status).toBe(200);
  expect((await get(`/api/v2/tasks/${taskId}`)).body.taskId).toBe(taskId);
  expect((await get(`/api/v2/tasks/${taskId}/events`)).body.data).toHaveLength(3);
  expect((await bridge.call("POST", `/api/v2/tasks/${taskId}/cancel`)).status).toBe(200);
});

test("an event of more than 256 KiB contains the beginning of its text; the task contains all of it", async () => {
  const message = "é".repeat(200_000);
  const { body } = await bridge.dispatch({ taskId: "long", message }, waited);
  expect(body.result.output).toBe(message);
  const { type, data } = (await get("/api/v2/tasks/long/events")).body.data.at(-1);
  expect([type, data.truncated]).toEqual(["execution.completed", true]);
  expect(message.startsWith(data.output)).toBe(true);
  const bytes = Buffer.byteLength(JSON.stringify(data));
  expect(bytes).toBeLessThanOrEqual(256 * 1024);
  expect(bytes).toBeGreaterThan(256 * 1024 - 8);
});

test("everything that a task reports is in its events, its result and its callback, with the field names of the contract", async () => {
  const receiver = await startReceiver();
  const { body: task } = await bridge.dispatch(
    { taskId: "looking", message: "look", callbackUrl: receiver.origin, metadata: { order: 7 } },
    waited,
  );
  const { status, output, outputs, usage, costUsd, model, durationMs, ...others } = task.result;
  expect([status, output, outputs, costUsd, model]).toEqual(["ok", "One file.", { count: 1 }, 0.25, "small"]);
  expect(usage).toEqual({ inputTokens: 5, outputTokens: 3, thinkingTokens: 1, cacheReadTokens: 2, cacheWriteTokens: 0 });
  expect(others).toEqual({
    costSource: "runtime",
    resumeToken: "session-1",
    connection: "in-process",
    conversationMessages: [
      { role: "user", content: "look" },
      { role: "assistant", content: "", toolCalls: [{ toolCallId: "call-1", toolName: "list", input: { path: "." } }] },
      { role: "tool", content: '["a.md"]', toolCallId: "call-1" },
      { role: "assistant", content: "One file." },
    ],
  });

  const { data: events } = (await get("/api/v2/tasks/looking/events")).body;
  const envelope = { id: expect.any(String), taskId: "looking", agentId: "writer", provider: "memory", timestamp: expect.any(String) };
  expect(events).toEqual([
    { ...envelope, type: "execution.started", data: { agentId: "writer" } },
    { ...envelope, type: "execution.progress", data: { step: "looking" } },
    { ...envelope, type: "tool.invoked", data: { toolCallId: "call-1", toolName: "list", input: { path: "." } } },
    { ...envelope, type: "tool.completed", data: { toolCallId: "call-1", toolName: "list", output: ["a.md"], isError: false } },
    { ...envelope, type: "assistant.text", data: { content: "One file." } },
    {
      ...envelope,
      type: "execution.completed",
      data: { output, outputs, usage, costUsd, costSource: others.costSource, model, durationMs, connection: others.connection },
    },
  ]);

  await askUntil(
    async () => receiver.posts.length,
    (count) => count === 1,
  );
  expect(task.callback.url).toBe(receiver.origin);
  expect(JSON.parse(String(receiver.posts[0]?.body))).toEqual({
    taskId: "looking",
    agentId: "writer",
    provider: "memory",
    ...task.result,
    metadata: { order: 7 },
    finishedAt: task.finishedAt,
  });
  await receiver.close();
});

describe("Prefer: wait of GET", () => {
  test("a waiting request returns the task as soon as it ends", async () => {
    await bridge.dispatch({ taskId: "awaited", message: "wait" });
    const waiting = bridge.call("GET", "/api/v2/tasks/awaited", { headers: { prefer: "wait=20" } });
    expect((await get("/api/v2/tasks/awaited")).body.result).toBeNull();
    await bridge.call("POST", "/api/v2/tasks/awaited/cancel");
    const { status, headers, body } = await waiting;
    expect([status, headers.get("preference-applied"), body.state]).toEqual([200, "wait=20", "cancelled"]);
    expect(taskSchema.parse(body).result?.errorCode).toBe("cancelled");
  });

  test("an ended task is returned immediately, and a longer wait is reported as the limit", async () => {
    const { status, headers, body } = await bridge.call("GET", "/api/v2/tasks/awaited", { headers: { prefer: "wait=3600" } });
    expect([status, headers.get("preference-applied"), body.state]).toEqual([200, "wait=60", "cancelled"]);
  });

  test("a waiting request returns the running task when the time is over", async () => {
    await bridge.dispatch({ taskId: "running-on", message: "wait" });
    const { status, headers, body } = await bridge.call("GET", "/api/v2/tasks/running-on", { headers: { prefer: "wait=1" } });
    expect([status, headers.get("preference-applied"), body.state, body.result]).toEqual([200, "wait=1", "running", null]);
    await bridge.call("POST", "/api/v2/tasks/running-on/cancel");
  });

  test.each(["wait=soon", "wait=0", "respond-async"])("the preference %s is ignored", async (prefer) => {
    const { status, headers } = await bridge.call("GET", "/api/v2/tasks/awaited", { headers: { prefer } });
    expect([status, headers.has("preference-applied")]).toEqual([200, false]);
  });

  test("waiting for a missing task or a task of another tenant results in 404 immediately", async () => {
    const headers = { prefer: "wait=60" };
    expectProblem(await bridge.call("GET", "/api/v2/tasks/never", { headers }), "not_found");
    expectProblem(await bridge.call("GET", "/api/v2/tasks/awaited", { headers, token: "beta" }), "not_found");
  });
});

describe("cancel", () => {
  test("a cancel request ends a running task once", async () => {
    await bridge.dispatch({ taskId: "stopped", message: "wait" });
    await askUntil(
      () => get("/api/v2/tasks/stopped"),
      ({ body }) => body.state === "running",
    );
    const first = await bridge.call("POST", "/api/v2/tasks/stopped/cancel");
    expect([first.status, first.body.taskId]).toEqual([202, "stopped"]);
    const { body } = await askUntil(
      () => get("/api/v2/tasks/stopped"),
      (answer) => answer.body.state === "cancelled",
    );
    expect(body.result).toMatchObject({ status: "error", errorCode: "cancelled" });
    const second = await bridge.call("POST", "/api/v2/tasks/stopped/cancel", { body: {} });
    expect([second.status, second.body]).toEqual([200, { taskId: "stopped", state: "cancelled" }]);
    expect((await get("/api/v2/tasks/stopped")).body).toEqual(body);
  });

  test("a cancel request does not change an ended task", async () => {
    await bridge.dispatch({ taskId: "done" }, waited);
    const { status, body } = await bridge.call("POST", "/api/v2/tasks/done/cancel");
    expect([status, body]).toEqual([200, { taskId: "done", state: "completed" }]);
  });

  test("a cancel request with unknown fields or for a missing task is rejected", async () => {
    const refused = await bridge.call("POST", "/api/v2/tasks/done/cancel", { body: { force: true } });
    expectProblem(refused, "invalid_request");
    expect(refused.body.errors.map(({ path }: { path: string }) => path)).toEqual(["force"]);
    expectProblem(await bridge.call("POST", "/api/v2/tasks/unknown/cancel"), "not_found");
  });
});

describe("the list", () => {
  const agents = { agentId: "lister" };
  beforeAll(async () => {
    for (let number = 1; number <= 7; number += 1) {
      await bridge.dispatch({ ...agents, taskId: `l${number}`, message: number === 4 ? "fail" : "Hi." }, waited);
    }
  });

  const ids = (body: unknown) => listSchema.parse(body).data.map(({ taskId }) => taskId);

  test("the list has the newest tasks first, without results", async () => {
    const { body } = await get("/api/v2/tasks?agentId=lister");
    expect(ids(body)).toEqual(["l7", "l6", "l5", "l4", "l3", "l2", "l1"]);
    expect(body.meta).toEqual({ nextCursor: null });
    expect(body.data.every((entry: object) => !("result" in entry))).toBe(true);
  });

  test.each([1, 3, 7, 200])("the list has pages of %i without gaps or duplicates", async (limit) => {
    const found: string[] = [];
    let target = `/api/v2/tasks?agentId=lister&limit=${limit}`;
    for (;;) {
      const { body } = await get(target);
      found.push(...ids(body));
      if (body.meta.nextCursor === null) break;
      expect(body.data).toHaveLength(limit);
      target = `/api/v2/tasks?agentId=lister&limit=${limit}&cursor=${body.meta.nextCursor}`;
    }
    expect(found).toEqual(["l7", "l6", "l5", "l4", "l3", "l2", "l1"]);
  });

  test.each([
    ["agentId=lister&state=failed", ["l4"]],
    ["agentId=lister&state=canceled", []],
    ["agentId=lister&errorCode=canceled", []],
    ["agentId=lister&provider=memory&state=completed&limit=2", ["l7", "l6"]],
    ["agentId=lister&provider=narrow", []],
    ["agentId=nobody", []],
    ["parentTaskId=unknown", []],
  ])("the list is filtered by %s", async (query, expected) => {
    expect(ids((await get(`/api/v2/tasks?${query}`)).body)).toEqual(expected);
  });

  test.each([
    ["limit=0", "limit"],
    ["limit=201", "limit"],
    ["limit=ten", "limit"],
    ["limit=", "limit"],
    ["limit=1.5", "limit"],
    ["limit=1&limit=2", "limit"],
    ["state=done", "state"],
    ["stat=queued", "stat"],
    ["state=queued&state=failed", "state"],
    ["cursor=", "cursor"],
    ["cursor=nonsense", "cursor"],
    ["cursor=LTE", "cursor"],
    ["offset=5", "offset"],
    ["State=failed", "State"],
  ])("the list rejects %s", async (query, path) => {
    const refused = await get(`/api/v2/tasks?${query}`);
    expectProblem(refused, "invalid_request");
    expect(refused.body.errors.map((fault: { path: string }) => fault.path)).toEqual([path]);
  });
});

test("HEAD returns the headers of GET without a body", async () => {
  const { status, text, headers } = await bridge.call("HEAD", "/api/v2/tasks");
  expect([status, text, headers.get("content-type")]).toEqual([200, "", "application/json; charset=utf-8"]);
  expect((await bridge.call("HEAD", "/api/v2/tasks/unknown")).status).toBe(404);
});

test("a page of tasks with large metadata is cut short, and the cursor continues to all of them", async () => {
  const metadata = { filler: "x".repeat(300_000) };
  for (let count = 0; count < 8; count += 1)
    await bridge.dispatch({ taskId: `large-${count}`, agentId: "hoarder", metadata }, { token: "beta" });
  const pages: string[][] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { text, body } = await bridge.call("GET", `/api/v2/tasks?agentId=hoarder&limit=200${cursor}`, { token: "beta" });
    expect(text.length).toBeLessThan(1_500_000);
    pages.push(body.data.map(({ taskId }: { taskId: string }) => taskId));
    cursor = body.meta.nextCursor === null ? null : `&cursor=${body.meta.nextCursor}`;
  }
  expect(pages.flat()).toEqual([7, 6, 5, 4, 3, 2, 1, 0].map((count) => `large-${count}`));
  expect(pages.map(({ length }) => length)).toEqual([4, 4]);
});
