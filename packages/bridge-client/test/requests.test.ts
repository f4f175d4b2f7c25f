import { getEventListeners } from "node:events";
import { createServer } from "node:http";
import { BridgeClientError, createBridgeClient } from "bridge-client";
import { expect, onTestFinished, test, vi } from "vitest";
import { findFreePort } from "../../../test/support/find-free-port.ts";
import { outlasts } from "../../../test/support/outlasts.ts";
import { frame, hangUp, json, problem, startScriptedServer, stream } from "./scripted-server.ts";

const accepted = { taskId: "t", provider: "p", agentId: "a", state: "queued", createdAt: "2026-01-01T00:00:00.000Z" };
const task = { agentId: "a", message: "Work." };
const quick = { token: "secret", retryDelayMs: 5, patienceMs: 5000, silenceMs: 500 };

test("a dispatch is retried with the same id when its response is lost or Bridge defers it", async () => {
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

test("a given taskId is kept", async () => {
  const { url, requests } = await startScriptedServer(json(202, accepted));
  expect((await createBridgeClient({ url, ...quick }).dispatch({ ...task, taskId: "mine" })).replayed).toBe(false);
  expect(JSON.parse(requests[0]?.body ?? "")).toEqual({ ...task, taskId: "mine" });
});

test("a retry waits at least as long as Bridge requests, and not longer than patienceMs", async () => {
  const { url, requests } = await startScriptedServer(problem(429, "too_many_requests", { "retry-after": "1" }), json(202, accepted));
  expect(await outlasts(() => createBridgeClient({ url, ...quick }).dispatch(task), 990)).toBe(true);
  expect(requests).toHaveLength(2);

  const busy = await startScriptedServer(problem(503, "draining", { "retry-after": "30" }));
  const refused = createBridgeClient({ url: busy.url, ...quick }).dispatch(task);
  await expect(refused).rejects.toMatchObject({ code: "draining", status: 503, retryAfterMs: 30_000 });
  expect(busy.requests).toHaveLength(1);
});

test("an error for a full queue names the queue", async () => {
  const body = {
    type: "urn:bridge:error:queue_full",
    title: "",
    status: 503,
    detail: "",
    code: "queue_full",
    requestId: "r",
    queue: "tenant",
  };
  const { url } = await startScriptedServer(json(503, body, { "retry-after": "30" }));
  const refused = createBridgeClient({ url, ...quick }).dispatch(task);
  await expect(refused).rejects.toMatchObject({ code: "queue_full", queue: "tenant", retryAfterMs: 30_000 });
});

test.each([
  [409, "task_conflict"],
  [422, "unknown_provider"],
  [500, "internal_error"],
  [503, "adapter_offline"],
])("%i %s is not retried", async (status, code) => {
  const { url, requests } = await startScriptedServer(problem(status, code, { "retry-after": "0" }));
  await expect(createBridgeClient({ url, ...quick }).dispatch(task)).rejects.toMatchObject({ code, status, requestId: "request-1" });
  expect(requests).toHaveLength(1);
});

test("the patch of a task has the exact bytes, and is requested again if Bridge defers it", async () => {
  const patch = Buffer.from("From 91bd04\nna\xefve\r\n\0", "latin1");
  const { url, requests } = await startScriptedServer(problem(503, "overloaded", { "retry-after": "0" }), (response) =>
    response.writeHead(200, { "content-type": "text/x-patch" }).end(patch),
  );
  expect(Buffer.from(await createBridgeClient({ url, ...quick }).files.patch("fix/1"))).toEqual(patch);
  expect(requests.map(({ target }) => target)).toEqual(Array(2).fill("/api/v2/tasks/fix%2F1/patch"));
});

test("a decision is not retried when its response is lost", async () => {
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

test("an error contains each invalid field", async () => {
  const errors = [{ path: "agentId", message: "is required (string)" }];
  const { url } = await startScriptedServer(json(400, { code: "invalid_request", detail: "No.", requestId: "r", errors }));
  const error = await createBridgeClient({ url, ...quick })
    .dispatch(task)
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(BridgeClientError);
  expect(error).toMatchObject({ name: "BridgeClientError", code: "invalid_request", message: "No.", errors });
});

test("a response that is not from Bridge has the code unexpected_answer", async () => {
  const { url } = await startScriptedServer((response) => response.writeHead(200).end("<html>Log in</html>"));
  const asking = createBridgeClient({ url, ...quick }).getTask("t");
  await expect(asking).rejects.toMatchObject({ code: "unexpected_answer", status: 200, message: "HTTP 200: <html>Log in</html>" });
});

test("getToken is called before every request, and the path prefix of a proxy is kept", async () => {
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

test("a list is fetched page by page", async () => {
  const page = (names: string[], nextCursor: string | null) =>
    json(200, { data: names.map((taskId) => ({ taskId })), meta: { nextCursor } });
  const { url, requests } = await startScriptedServer(page(["c", "b"], "next"), page(["a"], null));
  const seen: string[] = [];
  for await (const { taskId } of createBridgeClient({ url, ...quick }).listTasks({ state: "failed", agentId: undefined }))
    seen.push(taskId);
  expect(seen).toEqual(["c", "b", "a"]);
  expect(requests.map(({ target }) => target)).toEqual(["/api/v2/tasks?state=failed", "/api/v2/tasks?state=failed&cursor=next"]);
});

test("an abort ends a request that waits for its response", async () => {
  const { url } = await startScriptedServer(() => {});
  const asking = createBridgeClient({ url, token: "secret" }).getTask("t", { signal: AbortSignal.timeout(50) });
  await expect(asking).rejects.toMatchObject({ name: "TimeoutError" });
});

test("a response may take longer than silenceMs if data keeps arriving", async () => {
  const text = JSON.stringify({ taskId: "t", state: "completed" });
  const { url, requests } = await startScriptedServer((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    let sent = 0;
    const dripping = setInterval(() => {
      response.write(text[sent++]);
      if (sent === text.length) response.end();
    }, 20);
    response.once("close", () => clearInterval(dripping)).once("finish", () => clearInterval(dripping));
  });
  const client = createBridgeClient({ url, ...quick, silenceMs: 500 });
  expect(await client.getTask("t")).toEqual({ taskId: "t", state: "completed" });
  expect(requests).toHaveLength(1);
});

test("a silent download rejects, and a finished one leaves no listener on the signal", async () => {
  const { url } = await startScriptedServer(
    (response) => response.writeHead(200, { "content-length": 5, "x-more": "yes" }).end("whole"),
    (response) => response.writeHead(200, { "content-length": 5 }).end(""),
    (response) => response.writeHead(200, { "content-length": 5 }).write("half"),
  );
  const { signal } = new AbortController();
  const { files } = createBridgeClient({ url, ...quick });
  const whole = await files.download("t", "a/b", { signal });
  expect([whole.status, whole.headers.get("x-more"), await whole.text()]).toEqual([200, "yes", "whole"]);
  const cutOff = await files.download("t", "a/b", { signal });
  await expect(cutOff.text()).rejects.toMatchObject({ code: "unreachable" });
  const half = await files.download("t", "a/b", { signal });
  await expect(half.text()).rejects.toMatchObject({ code: "unreachable", message: expect.stringContaining("no data received for 0.5 s") });
  await (await files.download("t", "a/b", { signal })).body?.cancel();
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test.each(["../events", "..", "a/./b", "a/../../../other"])(
  "the file path %s is rejected, because it would refer to another resource",
  async (path) => {
    const { url, requests } = await startScriptedServer(json(200, {}));
    await expect(createBridgeClient({ url, ...quick }).files.download("t", path)).rejects.toMatchObject({ code: "not_found" });
    expect(requests).toEqual([]);
  },
);

test("an invalid option is reported at once, and without the token", async () => {
  const { url, requests } = await startScriptedServer(json(200, {}));
  const asking = createBridgeClient({ url, ...quick, token: "top\nsecret" }).getTask("t");
  await expect(asking).rejects.toThrow(new TypeError("The token contains characters that are not allowed in a header."));
  for (const address of [url.replace("//", "//user:word@"), `${url}?a=b`, `${url}#a`, "ftp://127.0.0.1/"])
    expect(() => createBridgeClient({ ...quick, url: address })).toThrow("`url` must be an http or https URL");
  expect(requests).toEqual([]);
});

test("a trailing newline of the token is not sent", async () => {
  const { url, requests } = await startScriptedServer(json(200, {}));
  await createBridgeClient({ url, ...quick, token: "secret\n" }).getTask("t");
  expect(requests[0]?.headers.authorization).toBe("Bearer secret");
});

test("waitForTask ignores missing events", async () => {
  const gone = 'event: stream.gap\ndata: {"oldestId":"e-9"}\n\n';
  const { url } = await startScriptedServer(
    json(200, { taskId: "t", state: "running" }),
    stream(gone + frame(9, "execution.completed"), "end"),
    json(200, { taskId: "t", state: "completed" }),
  );
  expect(await createBridgeClient({ url, ...quick }).waitForTask("t")).toEqual({ taskId: "t", state: "completed" });
});

test("an address that has never answered fails at once, and is waited for once it has, or on request", async () => {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const patient = { ...quick, retryDelayMs: 5, patienceMs: 60_000 };
  const client = createBridgeClient({ url, ...patient });
  await expect(client.getTask("t")).rejects.toMatchObject({ code: "unreachable", message: expect.stringContaining("ECONNREFUSED") });
  await expect(client.events("t").next()).rejects.toMatchObject({ code: "unreachable" });
  const waiting = createBridgeClient({ url, ...patient, waitsForStart: true }).getTask("t");
  const server = createServer((_, response) => response.writeHead(200, { "content-type": "application/json" }).end('{"taskId":"t"}'));
  const listen = () => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen();
  onTestFinished(() => void server.close());
  expect(await waiting).toEqual({ taskId: "t" });
  await client.getTask("t");
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const afterRestart = client.getTask("t");
  await listen();
  expect(await afterRestart).toEqual({ taskId: "t" });
});

test("patienceMs does not depend on the system clock", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const { url, requests } = await startScriptedServer(
      (response) => {
        vi.setSystemTime(Date.now() + 3_600_000);
        response.destroy();
      },
      (response) => {
        vi.setSystemTime(Date.now() + 3_600_000);
        response.destroy();
      },
      json(200, { taskId: "t" }),
    );
    expect(await createBridgeClient({ url, ...quick }).getTask("t")).toEqual({ taskId: "t" });
    expect(requests).toHaveLength(3);
  } finally {
    vi.useRealTimers();
  }
});

test("an error of a proxy has the code unexpected_answer", async () => {
  const { url } = await startScriptedServer(json(500, { code: 500, error: "no upstream" }));
  await expect(createBridgeClient({ url, ...quick }).getTask("t")).rejects.toMatchObject({ code: "unexpected_answer", status: 500 });
});

test("a wait for the end of a task may take longer than silenceMs", async () => {
  const task = { ...accepted, state: "completed" };
  const { url, requests } = await startScriptedServer((response) => setTimeout(() => json(200, task)(response), 700));
  const client = createBridgeClient({ url, ...quick, silenceMs: 300 });
  expect(await client.getTask("t", { waitSeconds: 2 })).toEqual(task);
  expect(requests.map(({ headers }) => headers.prefer)).toEqual(["wait=2"]);
});

test("a deletion and a conditional write are sent once; other writes are retried", async () => {
  for (const act of [
    (client: ReturnType<typeof createBridgeClient>) => client.deleteTask("t"),
    (client: ReturnType<typeof createBridgeClient>) => client.workspaces.deleteFile("a", "f"),
    (client: ReturnType<typeof createBridgeClient>) => client.workspaces.putFile("a", "f", "x", { mustBeNew: true }),
    (client: ReturnType<typeof createBridgeClient>) => client.workspaces.putFile("a", "f", "x", { ifMatch: '"t"' }),
  ]) {
    const { url, requests } = await startScriptedServer(hangUp);
    await expect(act(createBridgeClient({ url, ...quick }))).rejects.toMatchObject({ code: "unreachable" });
    expect(requests).toHaveLength(1);
  }
  const { url, requests } = await startScriptedServer(hangUp, (response) => response.writeHead(204, { etag: '"t"' }).end());
  expect(await createBridgeClient({ url, ...quick }).workspaces.putFile("a", "f/g h", "x")).toEqual({ isNew: false, etag: '"t"' });
  expect(requests.map(({ method, target, body }) => [method, target, body])).toEqual([
    ["PUT", "/api/v2/workspaces/a/files/f/g%20h", "x"],
    ["PUT", "/api/v2/workspaces/a/files/f/g%20h", "x"],
  ]);
});
