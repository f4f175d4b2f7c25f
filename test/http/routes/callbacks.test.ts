import { afterAll, beforeAll, expect, test } from "vitest";
import { callbackSchema } from "../../../src/http/routes/describe-callback.ts";
import { pageSchema } from "../../../src/http/wire/pagination.ts";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";
import { startReceiver } from "../../support/start-receiver.ts";
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

test("a redelivery without a callback or a task results in 404", async () => {
  await bridge.dispatch({ taskId: "quiet" });
  expectProblem(await redeliver("quiet"), "not_found");
  expectProblem(await redeliver("unknown"), "not_found");
});

test.each(["?state=lost", "?limit=0", "?cursor=x", "?taskId=a"])("a request with %s is rejected", async (query) => {
  expectProblem(await list(query), "invalid_request");
});
