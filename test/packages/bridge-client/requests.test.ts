import { BridgeClientError, createBridgeClient } from "bridge-client";
import { expect, test } from "vitest";
import { hangUp, json, problem, startScriptedServer } from "./scripted-server.ts";

const accepted = { taskId: "t", provider: "p", agentId: "a", state: "queued", createdAt: "2026-01-01T00:00:00.000Z" };
const task = { agentId: "a", message: "Work." };
const quick = { token: "secret", retryDelayMs: 5, patienceMs: 5000, silenceMs: 500 };

test("a dispatch is tried again under the same id when its answer is lost or put off", async () => {
  const { url, requests } = await startScriptedServer(
    hangUp,
    () => {},
    problem(503, "queue_full", { "retry-after": "0" }),
    (response) => response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>"),
    (response) => response.writeHead(202, { "content-length": 100 }).write("half", () => response.destroy()),
    json(202, accepted, { "idempotent-replayed": "true" }),
  );
  expect(await createBridgeClient({ url, ...quick }).dispatch(task)).toEqual({ ...accepted, replayed: true });
  const bodies = new Set(requests.map(({ body }) => body));
  expect(requests).toHaveLength(6);
  expect([...bodies].map((body) => JSON.parse(body))).toEqual([{ ...task, taskId: expect.stringMatching(/^[0-9a-f]{32}$/) }]);
});

test("a taskId that is given is kept", async () => {
  const { url, requests } = await startScriptedServer(json(202, accepted));
  expect((await createBridgeClient({ url, ...quick }).dispatch({ ...task, taskId: "mine" })).replayed).toBe(false);
  expect(JSON.parse(requests[0]?.body ?? "")).toEqual({ ...task, taskId: "mine" });
});

test("waits at least as long as Bridge asks for, and not beyond its patience", async () => {
  const { url, requests } = await startScriptedServer(problem(429, "too_many_requests", { "retry-after": "1" }), json(202, accepted));
  const begun = performance.now();
  await createBridgeClient({ url, ...quick }).dispatch(task);
  expect(performance.now() - begun).toBeGreaterThan(990);
  expect(requests).toHaveLength(2);

  const busy = await startScriptedServer(problem(503, "draining", { "retry-after": "30" }));
  const refused = createBridgeClient({ url: busy.url, ...quick }).dispatch(task);
  await expect(refused).rejects.toMatchObject({ code: "draining", status: 503, retryAfterMs: 30_000 });
  expect(busy.requests).toHaveLength(1);
});

test.each([
  [409, "task_conflict"],
  [422, "unknown_provider"],
  [500, "internal_error"],
  [503, "adapter_offline"],
])("%i %s is thrown at once", async (status, code) => {
  const { url, requests } = await startScriptedServer(problem(status, code, { "retry-after": "0" }));
  await expect(createBridgeClient({ url, ...quick }).dispatch(task)).rejects.toMatchObject({ code, status, requestId: "request-1" });
  expect(requests).toHaveLength(1);
});

test("a decision is not sent twice when it is not known whether it arrived", async () => {
  const lost = await startScriptedServer(hangUp);
  const deciding = createBridgeClient({ url: lost.url, ...quick }).approvals.decide("apr_1", "approve");
  await expect(deciding).rejects.toMatchObject({ code: "unreachable" });
  expect(lost.requests).toHaveLength(1);

  const late = await startScriptedServer(problem(503, "storage_unavailable", { "retry-after": "0" }), json(200, { approvalId: "apr_1" }));
  await createBridgeClient({ url: late.url, ...quick }).approvals.decide("apr_1", "reject", "Too risky.");
  expect(late.requests.map(({ target, body }) => [target, body])).toEqual(
    Array(2).fill(["/api/v2/approvals/apr_1", '{"decision":"reject","reason":"Too risky."}']),
  );
});

test("tells what is wrong with each field", async () => {
  const errors = [{ path: "agentId", message: "is required (string)" }];
  const { url } = await startScriptedServer(json(400, { code: "invalid_request", detail: "No.", requestId: "r", errors }));
  const error = await createBridgeClient({ url, ...quick })
    .dispatch(task)
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(BridgeClientError);
  expect(error).toMatchObject({ name: "BridgeClientError", code: "invalid_request", message: "No.", errors });
});

test("an answer that is none of Bridge's is told apart", async () => {
  const { url } = await startScriptedServer((response) => response.writeHead(200).end("<html>Log in</html>"));
  const asking = createBridgeClient({ url, ...quick }).getTask("t");
  await expect(asking).rejects.toMatchObject({ code: "unexpected_answer", status: 200, message: "HTTP 200: <html>Log in</html>" });
});

test("asks for a token before every request, and keeps the path of a proxy", async () => {
  const { url, requests } = await startScriptedServer(json(200, { taskId: "a/b", state: "completed" }));
  let count = 0;
  const client = createBridgeClient({ url: `${url}/bridge/`, getToken: async () => `token-${++count}` });
  await client.getTask("a/b");
  await client.cancel("a/b");
  expect(requests.map(({ method, target, headers }) => [method, target, headers.authorization])).toEqual([
    ["GET", "/bridge/api/v2/tasks/a%2Fb", "Bearer token-1"],
    ["POST", "/bridge/api/v2/tasks/a%2Fb/cancel", "Bearer token-2"],
  ]);
});

test("goes through a list page by page", async () => {
  const page = (names: string[], nextCursor: string | null) =>
    json(200, { data: names.map((taskId) => ({ taskId })), meta: { nextCursor } });
  const { url, requests } = await startScriptedServer(page(["c", "b"], "next"), page(["a"], null));
  const seen: string[] = [];
  for await (const { taskId } of createBridgeClient({ url, ...quick }).listTasks({ state: "failed", agentId: undefined }))
    seen.push(taskId);
  expect(seen).toEqual(["c", "b", "a"]);
  expect(requests.map(({ target }) => target)).toEqual(["/api/v2/tasks?state=failed", "/api/v2/tasks?state=failed&cursor=next"]);
});

test("an abort stops a request that waits for its answer", async () => {
  const { url } = await startScriptedServer(() => {});
  const asking = createBridgeClient({ url, token: "secret" }).getTask("t", { signal: AbortSignal.timeout(50) });
  await expect(asking).rejects.toMatchObject({ name: "TimeoutError" });
});
