import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callbackDetailsSchema, callbackSchema } from "../../../src/http/routes/describe-callback.ts";
import { pageSchema } from "../../../src/http/wire/pagination.ts";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";
import { type Answer, startReceiver } from "../../support/start-receiver.ts";
import { askUntil } from "../../support/until.ts";

let bridge: Bridge;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let failing = true;
beforeAll(async () => {
  bridge = await startBridge();
  receiver = await startReceiver((response, request) => {
    if (request.url === "/hang") return;
    response.statusCode = request.url === "/flaky" && failing ? 500 : 204;
    response.end();
  });
});
afterAll(async () => {
  // Closed first, so that the hanging POST ends immediately.
  await receiver.close();
  await bridge.close();
});

const list = (query = "") => bridge.call("GET", `/api/v2/callbacks${query}`);
const redeliver = (taskId: string) => bridge.call("POST", `/api/v2/callbacks/${taskId}/redeliver`);
const stateOf = (taskId: string, state: string) =>
  askUntil(
    () => bridge.call("GET", `/api/v2/tasks/${taskId}`),
    ({ body }) => body.callback?.state === state,
  );

const attemptsOf = (taskId: string, attempts: number) =>
  askUntil(
    () => bridge.call("GET", `/api/v2/callbacks/${taskId}`),
    ({ body }) => body.state === "dead" && body.attempts === attempts,
  );

test("a dead callback can be listed and redelivered; a delivered or pending one cannot be redelivered", async () => {
  const dispatch = (taskId: string, target: string) => bridge.dispatch({ taskId, callbackUrl: receiver.origin + target });
  await dispatch("good", "/good");
  await stateOf("good", "delivered");
  await dispatch("flaky", "/flaky");
  const { body } = await stateOf("flaky", "dead");
  expect(body.callback).toMatchObject({ url: `${receiver.origin}/flaky`, attempts: 1, nextAttemptAt: null, lastStatus: 500 });
  await dispatch("hanging", "/hang");
  await askUntil(
    async () => receiver.posts.length,
    (count) => count === 3,
  );

  const all = pageSchema(callbackSchema).parse((await list()).body);
  expect(all.data.map(({ taskId, state }) => [taskId, state])).toEqual([
    ["hanging", "pending"],
    ["flaky", "dead"],
    ["good", "delivered"],
  ]);
  const page = (await list("?limit=2")).body;
  expect((await list(`?limit=2&cursor=${page.meta.nextCursor}`)).body.data.map(({ taskId }: { taskId: string }) => taskId)).toEqual([
    "good",
  ]);
  expect((await list("?state=dead")).body.data.map(({ taskId }: { taskId: string }) => taskId)).toEqual(["flaky"]);

  expectProblem(await redeliver("good"), "already_delivered");
  expectProblem(await redeliver("hanging"), "invalid_state");

  failing = false;
  const again = await redeliver("flaky");
  expect(again.status).toBe(202);
  expect(callbackSchema.parse(again.body)).toMatchObject({ taskId: "flaky", state: "pending", attempts: 1 });
  const delivered = await stateOf("flaky", "delivered");
  expect(delivered.body.callback).toMatchObject({ attempts: 2, lastStatus: 204 });
  expectProblem(await redeliver("flaky"), "already_delivered");
});

test("the callback of a task that has not ended is pending until then, and only its tenant sees it", async () => {
  const url = `${receiver.origin}/later`;
  const awaiting = { state: "pending", url, attempts: 0, nextAttemptAt: null, lastStatus: null, lastError: null };
  for (const taskId of ["runs-1", "runs-2"]) await bridge.dispatch({ taskId, agentId: "awaiting", message: "wait", callbackUrl: url });
  await bridge.dispatch({ taskId: "silent", agentId: "awaiting", message: "wait" });

  const tasks = (await bridge.call("GET", "/api/v2/tasks?agentId=awaiting")).body.data as { taskId: string; callback: object | null }[];
  expect(tasks.map(({ taskId, callback }) => [taskId, callback])).toEqual([
    ["silent", null],
    ["runs-2", awaiting],
    ["runs-1", awaiting],
  ]);
  expect((await bridge.call("GET", "/api/v2/tasks/runs-1")).body.callback).toEqual(awaiting);
  const { body } = await bridge.call("GET", "/api/v2/callbacks/runs-1");
  expect(callbackDetailsSchema.parse(body)).toMatchObject({ ...awaiting, taskId: "runs-1", waitingOn: "task", history: [] });
  const refused = await redeliver("runs-1");
  expectProblem(refused, "invalid_state");
  expect(refused.body.detail).toContain("The task has not ended. Bridge delivers its callback when it ends.");
  expectProblem(await bridge.call("GET", "/api/v2/callbacks/silent"), "not_found");
  expectProblem(await redeliver("silent"), "not_found");
  expectProblem(await bridge.call("GET", "/api/v2/callbacks/runs-1", { token: "beta" }), "not_found");

  // The lists of callbacks and their filter contain deliveries, which begin with the end of a task.
  const idsOf = (data: { taskId: string }[]) => data.map(({ taskId }) => taskId).filter((id) => id.startsWith("runs-"));
  expect(idsOf((await list("?state=pending")).body.data)).toEqual([]);
  expect(idsOf((await bridge.call("GET", "/api/v2/tasks?callback=pending")).body.data)).toEqual([]);

  for (const taskId of ["runs-1", "runs-2", "silent"]) await bridge.call("POST", `/api/v2/tasks/${taskId}/cancel`);
  await stateOf("runs-1", "delivered");
  const delivered = await bridge.call("GET", "/api/v2/callbacks/runs-1");
  expect(delivered.body).toMatchObject({ state: "delivered", attempts: 1, waitingOn: null, history: [{ status: 204 }] });
});

test("a callback has a history of its attempts, with the beginning of each response as text", async () => {
  const clinic = await startReceiver((response, _, number) => {
    if (number === 1) response.writeHead(503).end(Buffer.from([0x3c, 0x62, 0x3e, 0x00, 0x1b, 0xff]));
    else response.end(`${"x".repeat(1024)}y`);
  });
  await bridge.dispatch({ taskId: "ill", callbackUrl: clinic.origin });
  await stateOf("ill", "dead");
  await redeliver("ill");
  await stateOf("ill", "delivered");
  await clinic.close();
  const details = callbackDetailsSchema.parse((await bridge.call("GET", "/api/v2/callbacks/ill")).body);
  expect(details).toMatchObject({ state: "delivered", attempts: 2, lastStatus: 200 });
  expect(details.history).toEqual([
    {
      ...{ number: 1, at: expect.any(String), status: 503, error: "http_503", durationMs: expect.any(Number) },
      ...{ response: "<b>\ufffd\ufffd\ufffd", responseTruncated: false },
    },
    {
      ...{ number: 2, at: expect.any(String), status: 200, error: null, durationMs: expect.any(Number) },
      ...{ response: "x".repeat(1024), responseTruncated: true },
    },
  ]);

  await bridge.dispatch({ taskId: "gone", callbackUrl: clinic.origin });
  await stateOf("gone", "dead");
  const { history } = (await bridge.call("GET", "/api/v2/callbacks/gone")).body;
  expect(history).toMatchObject([{ status: null, error: "connection_refused", response: null, responseTruncated: false }]);
});

describe("the redelivery of all dead callbacks", () => {
  const redeliverAll = (body: object) => bridge.call("POST", "/api/v2/callbacks/redeliver", { body });

  test("the redelivery of all dead callbacks concerns one origin, however it is written, and continues after a limited number", async () => {
    let isBroken = true;
    const answer: Answer = (response) => response.writeHead(isBroken ? 410 : 204).end();
    const [first, second] = [await startReceiver(answer), await startReceiver(answer)];
    for (let number = 0; number < 3; number += 1)
      await bridge.dispatch({ taskId: `first-${number}`, callbackUrl: `${first.origin}/${number}` });
    await bridge.dispatch({ taskId: "second-0", callbackUrl: second.origin });
    for (const taskId of ["first-0", "first-1", "first-2", "second-0"]) await stateOf(taskId, "dead");

    // The cursor of another list of the same rows begins after its last row.
    const { meta } = (await list("?state=dead&limit=2")).body;
    const rest = await redeliverAll({ origin: first.origin, cursor: meta.nextCursor });
    expect([rest.status, rest.body]).toEqual([202, { redelivered: 2, nextCursor: null }]);
    for (const taskId of ["first-0", "first-1"]) await attemptsOf(taskId, 2);

    isBroken = false;
    expect((await redeliverAll({ origin: `${first.origin.replace("http", "HTTP")}/` })).body).toEqual({ redelivered: 3, nextCursor: null });
    for (const taskId of ["first-0", "first-1", "first-2"]) await stateOf(taskId, "delivered");
    expect((await redeliverAll({ origin: first.origin })).body).toEqual({ redelivered: 0, nextCursor: null });
    expect((await bridge.call("GET", "/api/v2/callbacks/second-0")).body).toMatchObject({ state: "dead", attempts: 1 });
    await Promise.all([first.close(), second.close()]);
  });

  test.each([
    [{}, "origin"],
    [{ origin: "receiver.example" }, "origin"],
    [{ origin: "https://receiver.example/hook" }, "origin"],
    [{ origin: "https://user@receiver.example" }, "origin"],
    [{ origin: "ftp://receiver.example" }, "origin"],
    [{ origin: "https://receiver.example", cursor: "x" }, "cursor"],
    [{ origin: "https://receiver.example", all: true }, "all"],
  ])("the redelivery of all dead callbacks rejects the body %j", async (body, path) => {
    const refused = await redeliverAll(body);
    expectProblem(refused, "invalid_request");
    expect(refused.body.errors).toMatchObject([{ path }]);
  });
});

test("a redelivery without a callback or a task results in 404", async () => {
  await bridge.dispatch({ taskId: "quiet" });
  expectProblem(await redeliver("quiet"), "not_found");
  expectProblem(await redeliver("unknown"), "not_found");
  for (const taskId of ["quiet", "unknown"]) expectProblem(await bridge.call("GET", `/api/v2/callbacks/${taskId}`), "not_found");
});

test.each(["?state=lost", "?limit=0", "?cursor=x", "?taskId=a"])("a request with %s is rejected", async (query) => {
  expectProblem(await list(query), "invalid_request");
});
