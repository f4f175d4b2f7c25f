import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { taskSchema } from "../../../src/http/routes/describe-task.ts";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";
import { startReceiver } from "../../support/start-receiver.ts";
import { askUntil } from "../../support/until.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

const task = (taskId: string) => bridge.call("GET", `/api/v2/tasks/${taskId}`);
const ended = (taskId: string) =>
  askUntil(
    () => task(taskId),
    ({ body }) => !["queued", "running"].includes(body.state),
  );

describe("accepting", () => {
  test("a dispatch returns 202 with the task and its location", async () => {
    const { status, headers, body } = await bridge.dispatch({ taskId: "order:1" });
    expect(status).toBe(202);
    expect(body).toEqual({
      taskId: "order:1",
      provider: "memory",
      agentId: "writer",
      state: expect.stringMatching(/queued|running/),
      createdAt: expect.any(String),
      repository: null,
    });
    expect(new Date(body.createdAt).toISOString()).toBe(body.createdAt);
    expect(headers.get("location")).toBe("/api/v2/tasks/order:1");
    expect(headers.has("idempotent-replayed")).toBe(false);
    const found = await bridge.call("GET", headers.get("location") ?? "");
    expect(found.body.taskId).toBe("order:1");
  });

  test("a dispatch without an id gets one that sorts by time", async () => {
    const ids = [(await bridge.dispatch({})).body.taskId, (await bridge.dispatch({})).body.taskId] as string[];
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids.toSorted()).toEqual(ids);
  });

  test("a dispatch takes its id from Idempotency-Key", async () => {
    const { body } = await bridge.dispatch({}, { headers: { "idempotency-key": "key-1" } });
    expect(body.taskId).toBe("key-1");
    expectProblem(await bridge.dispatch({ taskId: "other" }, { headers: { "idempotency-key": "key-1" } }), "invalid_request");
  });
});

describe("numbers and names", () => {
  const post = (fields: string) =>
    bridge.call("POST", "/api/v2/dispatch", { body: `{"provider":"memory","agentId":"writer","message":"x",${fields}}` });

  test("two ids that a double cannot distinguish are rejected, so they are never one task", async () => {
    for (const order of ["653247040368672769", "653247040368672770"]) {
      const refused = await post(`"taskId":"big-1","metadata":{"order":${order}}`);
      expectProblem(refused, "invalid_request");
      expect(refused.body.errors).toEqual([{ path: "metadata.order", message: expect.stringContaining(order) }]);
    }
    expect((await task("big-1")).status).toBe(404);
    const [one, other] = [
      await post('"taskId":"big-1","metadata":{"order":"653247040368672769"}'),
      await post('"taskId":"big-1","metadata":{"order":"653247040368672770"}'),
    ];
    expect([one.status, other.status]).toEqual([202, 409]);
  });

  test("a number of a schema or of labels that would change is rejected", async () => {
    const schema = await post('"outputSchema":{"properties":{"id":{"enum":[653247040368672768]}}}');
    expect(schema.body.errors).toMatchObject([{ path: "outputSchema.properties.id.enum.0" }]);
    expect((await post('"labels":{"a":1e999}')).body.errors).toMatchObject([{ path: "labels.a" }]);
  });

  test("a field that appears twice is rejected", async () => {
    const refused = await post('"profile":"inspect","metadata":{},"profile":"modify"');
    expectProblem(refused, "invalid_request");
    expect(refused.body.errors).toEqual([{ path: "profile", message: "appears more than once in its object; send it once" }]);
  });
});

describe("a repeated dispatch", () => {
  test("a repeated dispatch returns the existing task, however the JSON is formatted", async () => {
    const taskId = randomUUID();
    await bridge.dispatch({ taskId, metadata: { a: 1, b: 2 }, timeout: 30 });
    await ended(taskId);
    const repeat = await bridge.dispatch({ timeoutSeconds: 30, metadata: { b: 2, a: 1 }, taskId });
    expect([repeat.status, repeat.headers.get("idempotent-replayed"), repeat.body.state]).toEqual([202, "true", "completed"]);
  });

  test("a repeated taskId with another request is a conflict", async () => {
    const taskId = randomUUID();
    await bridge.dispatch({ taskId });
    const conflict = await bridge.dispatch({ taskId, message: "Something else." });
    expectProblem(conflict, "task_conflict");
    expect(conflict.body.errors[0].path).toBe("taskId");
  });

  test("the taskId of another tenant is a separate task", async () => {
    const taskId = randomUUID();
    await bridge.dispatch({ taskId });
    const other = await bridge.dispatch({ taskId, message: "Something else." }, { token: "beta" });
    expect([other.status, other.headers.has("idempotent-replayed")]).toEqual([202, false]);
  });

  test("concurrent equal dispatches create one task", async () => {
    const taskId = randomUUID();
    const answers = await Promise.all(Array.from({ length: 20 }, () => bridge.dispatch({ taskId })));
    expect(answers.every(({ status }) => status === 202)).toBe(true);
    expect(answers.filter(({ headers }) => !headers.has("idempotent-replayed"))).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body.createdAt)).size).toBe(1);
  });
});

describe("Prefer: wait", () => {
  test("a task that ends in time is returned with 200, also by a repeated dispatch", async () => {
    const taskId = randomUUID();
    for (const replayed of [null, "true"]) {
      const { status, headers, body } = await bridge.dispatch({ taskId }, { headers: { prefer: "respond-async, wait=20" } });
      expect([status, headers.get("preference-applied"), headers.get("idempotent-replayed")]).toEqual([200, "wait=20", replayed]);
      expect(taskSchema.parse(body)).toMatchObject({ taskId, state: "completed", result: { status: "ok", output: "Hello." } });
      expect(body).toEqual((await task(taskId)).body);
    }
  });

  test("a task that does not end in time is returned with 202", async () => {
    const taskId = randomUUID();
    const { status, headers, body } = await bridge.dispatch({ taskId, message: "wait" }, { headers: { prefer: "wait=1" } });
    expect([status, headers.get("preference-applied"), body.state]).toEqual([202, "wait=1", "running"]);
    await bridge.call("POST", `/api/v2/tasks/${taskId}/cancel`);
  });

  test("a wait above the limit is capped, and the response reports the limit", async () => {
    const { status, headers, body } = await bridge.dispatch({ taskId: randomUUID() }, { headers: { prefer: "wait=100000" } });
    expect([status, headers.get("preference-applied"), body.state]).toEqual([200, "wait=60", "completed"]);
  });

  test.each(["wait=0", "wait=soon", "wait", "wait=-1"])("the preference %s is ignored and not reported as applied", async (prefer) => {
    const { status, headers } = await bridge.dispatch({ taskId: randomUUID() }, { headers: { prefer } });
    expect([status, headers.has("preference-applied")]).toEqual([202, false]);
  });
});

test("a dispatch without a body is rejected as the caller's error", async () => {
  expectProblem(await bridge.call("POST", "/api/v2/dispatch"), "invalid_request");
  expectProblem(await bridge.call("POST", "/api/v2/dispatch", { body: "null" }), "invalid_request");
});

test("a dispatch with query parameters is rejected", async () => {
  const body = { provider: "memory", agentId: "writer", message: "Hello.", taskId: "parametered" };
  const refused = await bridge.call("POST", "/api/v2/dispatch?dryRun=true&message=x", { body });
  expectProblem(refused, "invalid_request");
  expect(refused.body.errors.map((fault: { path: string }) => fault.path)).toEqual(["dryRun", "message"]);
  expectProblem(await task("parametered"), "not_found");
});

test("the error for a shipped adapter that is not loaded names the setting that enables it", async () => {
  const refused = await bridge.dispatch({ provider: "claude" });
  expectProblem(refused, "unknown_provider");
  expect(refused.body.detail).toContain("add claude to BRIDGE_ADAPTERS");
  expect((await bridge.dispatch({ provider: "acp:goose" })).body.detail).toContain("add acp:goose to BRIDGE_ADAPTERS");
  expect((await bridge.dispatch({ provider: "nobody" })).body.detail).not.toContain("BRIDGE_ADAPTERS");
});

test("the error for a misspelled adapter names the one that was probably meant", async () => {
  const detailOf = async (provider: string): Promise<string> => (await bridge.dispatch({ provider })).body.detail;
  expect(await detailOf("claud")).toContain("Did you mean claude? To enable it, add claude to BRIDGE_ADAPTERS.");
  expect(await detailOf("memroy")).toMatch(/Did you mean memory\?$/);
  expect(await detailOf("nobody")).not.toContain("Did you mean");
});

test.each([
  ["unknown_provider", 422, { provider: "nobody" }, "provider"],
  ["capability_missing", 422, { provider: "narrow", tools: [{ name: "a" }], resumeToken: "x" }, "resumeToken"],
  ["capability_missing", 422, { provider: "narrow", approvals: "ask" }, "approvals"],
  [
    "capability_missing",
    422,
    { provider: "narrow", mcpServers: [{ name: "a", transport: "http", url: "https://a.example/" }] },
    "mcpServers",
  ],
  ["capability_missing", 422, { provider: "narrow", outputSchema: { type: "object" } }, "outputStrategy"],
  ["capability_missing", 422, { message: undefined, bridgeInput: {} }, "bridgeInput"],
  ["capability_missing", 422, { bridge_input: { a: 1 } }, "bridgeInput"],
  ["capability_missing", 422, { message: undefined, responderInput: {} }, "responderInput"],
  ["callback_url_refused", 422, { callbackUrl: "ftp://example.com/" }, "callbackUrl"],
  ["callback_url_refused", 422, { callbackUrl: "https://user:password@example.com/" }, "callbackUrl"],
  ["callback_url_refused", 422, { callbackUrl: "http://169.254.169.254/latest" }, "callbackUrl"],
  ["mcp_refused", 422, { mcpServers: [{ name: "a", transport: "stdio", command: "sh" }] }, "mcpServers.0.command"],
  ["profile_conflict", 422, { profile: "inspect", outputStrategy: { type: "file", path: "a.md" } }, "profile"],
  ["resume_unknown", 422, { resumeToken: "never-seen" }, "resumeToken"],
  ["invalid_request", 400, { metadata: { cwd: "missing" } }, "metadata.cwd"],
  ["invalid_request", 400, { outputStrategy: { type: "file", path: "../x" } }, "outputStrategy.path"],
  ["invalid_request", 400, { outputSchema: { type: "nonsense" } }, "outputSchema"],
  ["invalid_request", 400, { outputStrategy: { type: "structured", schema: { type: "nonsense" } } }, "outputStrategy.schema"],
  ["invalid_request", 400, { agentId: undefined }, "agentId"],
  ["adapter_offline", 503, { provider: "absent" }, undefined],
] as const)("a dispatch with %s is rejected (%i): %j", async (code, status, fields, path) => {
  const taskId = randomUUID();
  const refused = await bridge.dispatch({ taskId, ...fields });
  expectProblem(refused, code);
  expect(refused.status).toBe(status);
  if (path !== undefined) expect(refused.body.errors.map((fault: { path: string }) => fault.path)).toContain(path);
  expectProblem(await task(taskId), "not_found");
});

test("the detail of a malformed dispatch contains its first fault", async () => {
  const one = await bridge.dispatch({ outputSchema: { type: "objekt" } });
  expect(one.body.detail).toBe(
    'The output schema is not a valid JSON Schema: outputSchema type must be one of "array", "boolean", "integer", "null", "number", "object", "string".',
  );
  const several = await bridge.dispatch({ agent: "a", prompt: "b" });
  expect(several.body.detail).toBe("The dispatch is not valid: agent is not a known field; use agentId instead (and 1 more in errors).");
});

test("the error for a missing capability names the adapters that have it", async () => {
  const { body } = await bridge.dispatch({ provider: "narrow", tools: [{ name: "a" }] });
  expect(body.errors).toEqual([{ path: "tools", message: expect.stringMatching(/choose another provider, such as \w+/) }]);
  expect(body.errors[0].message).not.toContain("such as narrow");
});

test("a valid traceparent is passed to the callback with its tracestate", async () => {
  const receiver = await startReceiver();
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const callbackUrl = `${receiver.origin}/hook`;
  await bridge.dispatch({ taskId: "traced", callbackUrl }, { headers: { traceparent, tracestate: "a=1, b=2" } });
  await bridge.dispatch({ taskId: "untraced", callbackUrl }, { headers: { traceparent: "nonsense", tracestate: "a=1" } });
  await askUntil(
    async () => receiver.posts.length,
    (count) => count === 2,
  );
  const traces = new Map(
    receiver.posts.map(({ headers }) => [headers["idempotency-key"], [headers["traceparent"], headers["tracestate"]]]),
  );
  expect(traces).toEqual(
    new Map([
      ["traced", [traceparent, "a=1, b=2"]],
      ["untraced", [undefined, undefined]],
    ]),
  );
  await receiver.close();
});

test("a dispatch to a full queue is rejected", async () => {
  const small = await startBridge({ BRIDGE_QUEUE_LIMIT: "2", BRIDGE_MAX_CONCURRENT: "1" });
  try {
    const first = await small.dispatch({ taskId: "running", message: "wait" });
    expect(first.status).toBe(202);
    await askUntil(
      () => small.call("GET", "/api/v2/tasks/running"),
      ({ body }) => body.state === "running",
    );
    for (const taskId of ["queued-1", "queued-2"]) expect((await small.dispatch({ taskId })).status).toBe(202);
    expectProblem(await small.dispatch({ taskId: "too-many" }), "queue_full");
    const repeat = await small.dispatch({ taskId: "queued-2" });
    expect([repeat.status, repeat.headers.get("idempotent-replayed")]).toEqual([202, "true"]);
  } finally {
    await small.close();
  }
});

test("while Bridge drains, new tasks are rejected and repeated dispatches still return their task", async () => {
  const stopping = await startBridge({ BRIDGE_DRAIN_SECONDS: "30" });
  await stopping.dispatch({ taskId: "last", message: "wait" });
  await askUntil(
    () => stopping.call("GET", "/api/v2/tasks/last"),
    ({ body }) => body.state === "running",
  );
  const closed = stopping.close();
  const refused = await askUntil(
    () => stopping.dispatch({}),
    ({ status }) => status !== 202,
  );
  expectProblem(refused, "draining");
  expectProblem(await stopping.call("GET", "/readyz"), "draining");
  expect((await stopping.call("GET", "/healthz")).status).toBe(200);
  const repeat = await stopping.dispatch({ taskId: "last", message: "wait" });
  expect([repeat.status, repeat.headers.get("idempotent-replayed")]).toEqual([202, "true"]);
  expect((await stopping.call("POST", "/api/v2/tasks/last/cancel")).status).toBe(202);
  await closed;
});
