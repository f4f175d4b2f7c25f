import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Bridge, startBridge, type TokenName } from "../support/start-bridge.ts";
import { askUntil } from "../support/until.ts";
import { openSocket, type SocketClient } from "./socket-client.ts";

// Tests every op over a real socket of a complete Bridge.
let bridge: Bridge;
const clients = new Map<TokenName, SocketClient>();
beforeAll(async () => {
  bridge = await startBridge({ BRIDGE_APPROVAL_SECONDS: "60", BRIDGE_MAX_CONCURRENT: "20,narrow=1" });
  for (const name of ["alpha", "beta", "reader", "dispatcher", "scraper"] as const) clients.set(name, await connect(name));
});
afterAll(() => bridge.close());

const connect = (token: TokenName) => openSocket(`${bridge.url}/ws/bridge`, { headers: { authorization: `Bearer secret-${token}` } });
const ask = async (op: string, payload: unknown, token: TokenName = "alpha") => {
  const { status, payload: answered } = await (clients.get(token) as SocketClient).ask(op, payload);
  return { status, payload: answered };
};
const run = (payload: Record<string, unknown>, token: TokenName = "alpha") =>
  ask("agent.run", { agent: "writer", input: "Hello.", provider: "memory", ...payload }, token);
const phaseIs = (runId: string, phase: string) =>
  askUntil(
    () => ask("agent.status", { runId }),
    ({ payload }) => payload.phase === phase,
  );

describe("agent.run", () => {
  test("agent.run starts a run, which is a task", async () => {
    const { status, payload } = await run({ stdin: "More.", metadata: { a: 1 } });
    expect({ status, payload }).toEqual({ status: 200, payload: { runId: expect.any(String), status: "started" } });
    await phaseIs(payload.runId, "completed");
    const { body } = await bridge.call("GET", `/api/v2/tasks/${payload.runId}`);
    expect(body).toMatchObject({
      agentId: "writer",
      provider: "memory",
      metadata: { a: 1 },
      result: { output: expect.stringContaining("Hello.") },
    });
  });

  test("agent.run with the same taskId is the same run over HTTP and WebSocket; with another request it is a conflict", async () => {
    const taskId = randomUUID();
    const first = await run({ taskId });
    expect(first).toEqual({ status: 200, payload: { runId: taskId, status: "started" } });
    expect(await run({ taskId })).toEqual(first);
    const { status, headers } = await bridge.dispatch({ taskId });
    expect([status, headers.get("idempotent-replayed")]).toEqual([202, "true"]);
    const conflict = await run({ taskId, input: "Something else." });
    expect(conflict).toMatchObject({ status: 409, payload: { error: "task_conflict", detail: { errors: [{ path: "taskId" }] } } });
  });

  test.each([
    ["nothing", {}, ["agent", "input"]],
    ["wrong types", { agent: 1, input: [] }, ["agent", "input"]],
    ["an invalid name", { agent: "../x", input: "a" }, ["agent"]],
    ["a long input", { agent: "a", input: "x".repeat(1_000_001) }, ["input"]],
    ["an unknown field", { agent: "a", input: "b", inputs: "c" }, ["inputs"]],
    ["a nested field", { agent: "a", input: "b", mcpServers: [{ name: "m" }] }, ["mcpServers.0.transport"]],
    ["the names of HTTP", { agentId: "a", message: "b" }, ["agentId", "message"]],
    ["a prototype", JSON.parse('{"agent":"a","input":"b","__proto__":{"provider":"memory"}}'), ["__proto__"]],
    ["conflicting aliases", { agent: "a", input: "b", timeout: 5, timeoutSeconds: 6 }, ["timeout"]],
  ])("agent.run with %s is rejected with the field names of the client", async (_, payload, paths) => {
    const { status, payload: refused } = await ask("agent.run", payload);
    expect([status, refused.error]).toEqual([400, "invalid-request"]);
    expect(refused.detail.errors.map(({ path }: { path: string }) => path)).toEqual(paths);
  });

  test.each([
    ["unknown_provider", 422, { provider: "nobody" }],
    ["adapter_offline", 503, { provider: "absent" }],
    ["capability_missing", 422, { provider: "narrow", tools: [{ name: "t", inputSchema: {} }] }],
    ["profile_conflict", 422, { profile: "inspect", outputStrategy: { type: "file", path: "a.md" } }],
    ["resume_unknown", 422, { resumeToken: "never handed out" }],
    ["mcp_refused", 422, { mcpServers: [{ name: "m", transport: "stdio", command: "sh" }] }],
    ["callback_url_refused", 422, { callbackUrl: "http://10.0.0.1/" }],
  ])("agent.run is rejected with %s as over HTTP", async (code, status, fields) => {
    const refused = await run(fields);
    expect(refused).toMatchObject({ status, payload: { error: code, detail: { message: expect.any(String) } } });
    const { body } = await bridge.dispatch(fields);
    expect(body).toMatchObject({ status, code, detail: refused.payload.detail.message });
  });

  test("agent.run is counted like every dispatch", async () => {
    await run({});
    const { text } = await bridge.call("GET", "/metrics");
    expect(text).toMatch(/bridge_dispatches_total\{provider="memory",outcome="accepted"\} \d+/);
    expect(text).toMatch(/bridge_websocket_requests_total\{op="agent.run",status="200"\} \d+/);
    expect(text).toMatch(/bridge_websocket_clients 5/);
  });
});

describe("agent.cancel", () => {
  test("agent.cancel stops a run and has no effect on an ended one", async () => {
    const { payload } = await run({ input: "wait" });
    expect(await ask("agent.cancel", payload.runId === "" ? {} : { runId: payload.runId })).toEqual({
      status: 200,
      payload: { cancelled: true },
    });
    await phaseIs(payload.runId, "cancelled");
    expect(await ask("agent.cancel", { runId: payload.runId })).toEqual({ status: 200, payload: { cancelled: false } });
  });

  test("agent.cancel of an unknown run results in 404", async () => {
    expect(await ask("agent.cancel", { runId: "nobody" })).toEqual({ status: 404, payload: { runId: "nobody", error: "run-not-found" } });
  });
});

describe("agent.status", () => {
  test("agent.status of an unknown run results in 404", async () => {
    expect(await ask("agent.status", { runId: "nobody" })).toEqual({ status: 404, payload: { runId: "nobody", error: "run-not-found" } });
  });

  test.each([{}, { runId: 1 }, { runId: "" }, { runId: "x".repeat(300) }, { runId: "a", more: 1 }])(
    "agent.status with the payload %j results in 400",
    async (payload) => {
      expect(await ask("agent.status", payload)).toMatchObject({ status: 400, payload: { error: "invalid-request" } });
    },
  );

  test("agent.status returns each phase", async () => {
    const first = (await run({ input: "wait", provider: "narrow" })).payload.runId;
    const second = (await run({ input: "Hello.", provider: "narrow" })).payload.runId;
    await phaseIs(first, "running");
    expect(await ask("agent.status", { runId: second })).toEqual({ status: 200, payload: { runId: second, phase: "queued" } });
    await ask("agent.cancel", { runId: first });
    await phaseIs(second, "completed");
    const failed = (await run({ input: "fail" })).payload.runId;
    await phaseIs(failed, "failed");
    const working = (await run({ input: "work" })).payload.runId;
    await phaseIs(working, "tool-call");
    await ask("agent.cancel", { runId: working });
    await phaseIs(working, "cancelled");
    // A tool call that has completed.
    const looked = (await run({ input: "look" })).payload.runId;
    await phaseIs(looked, "completed");
  });
});

describe("tool.approve", () => {
  const waiting = async (token: TokenName = "alpha") => {
    const { payload } = await run({ input: "ask", approvals: "ask", profile: "modify" }, token);
    await askUntil(
      () => ask("agent.status", { runId: payload.runId }, token),
      (answer) => answer.payload.phase === "waiting-approval",
    );
    return payload.runId as string;
  };
  const outcomeOf = async (runId: string) => {
    await phaseIs(runId, "completed");
    return (await bridge.call("GET", `/api/v2/tasks/${runId}`)).body.result.output;
  };

  test.each(["approve", "reject"])("tool.approve can %s a pending call, in the name of the token", async (decision) => {
    const runId = await waiting();
    const payload = { toolCallId: "call-1", decision, reason: "As agreed." };
    expect(await ask("tool.approve", payload)).toEqual({ status: 200, payload: { acked: true } });
    expect(await outcomeOf(runId)).toBe(decision);
    const { data } = (await bridge.call("GET", "/api/v2/approvals?limit=1")).body;
    expect(data).toMatchObject([{ taskId: runId, decidedBy: "alpha", reason: "As agreed." }]);
    expect(await ask("tool.approve", payload)).toEqual({ status: 404, payload: { toolCallId: "call-1", error: "approval-not-found" } });
  });

  test("tool.approve raises the maximum of a task by raiseByUsd, and rejects it for a tool call", async () => {
    const { runId } = (await run({ input: "spend", budget: { maxCostUsd: 0.5, onReached: "ask" } })).payload;
    const { body } = await askUntil(
      () => bridge.call("GET", `/api/v2/approvals?state=pending&taskId=${runId}`),
      (answer) => answer.body.data.length === 1,
    );
    const [{ approvalId, toolCallId }] = body.data;
    const payload = { toolCallId, approvalId, decision: "approve" };
    expect(await ask("tool.approve", { ...payload, raiseByUsd: -1 })).toMatchObject({ status: 400 });
    expect(await ask("tool.approve", { ...payload, raiseByUsd: 0.25 })).toEqual({ status: 200, payload: { acked: true } });
    expect(await outcomeOf(runId)).toBe("allowed");
    const { data } = (await bridge.call("GET", `/api/v2/approvals?taskId=${runId}`)).body;
    expect(data).toMatchObject([{ approvalId, kind: "budget", state: "approved", raiseByUsd: 0.25, decidedBy: "alpha" }]);
    const other = await waiting();
    const forTool = { toolCallId: "call-1", decision: "approve", runId: other };
    expect(await ask("tool.approve", { ...forTool, raiseByUsd: 1 })).toMatchObject({ status: 400, payload: { error: "invalid-request" } });
    expect(await ask("tool.approve", forTool)).toMatchObject({ status: 200 });
  });

  test("tool.approve rejects an ambiguous call", async () => {
    const runs = [await waiting(), await waiting()];
    const payload = { toolCallId: "call-1", decision: "approve" };
    expect(await ask("tool.approve", payload)).toEqual({ status: 409, payload: { error: "ambiguous" } });
    expect(await ask("tool.approve", { ...payload, runId: "nobody" })).toMatchObject({ status: 404 });
    expect(await ask("tool.approve", { ...payload, toolCallId: "call-2", runId: runs[0] })).toMatchObject({ status: 404 });
    expect(await ask("tool.approve", { ...payload, runId: runs[0] })).toMatchObject({ status: 200 });
    expect(await outcomeOf(runs[0] as string)).toBe("approve");
    const third = await waiting();
    const { data } = (await bridge.call("GET", "/api/v2/approvals?state=pending")).body;
    const { approvalId } = data.find(({ taskId }: { taskId: string }) => taskId === runs[1]);
    expect(await ask("tool.approve", { ...payload, runId: third, approvalId })).toMatchObject({ status: 404 });
    expect(await ask("tool.approve", { ...payload, decision: "reject", approvalId })).toMatchObject({ status: 200 });
    expect(await outcomeOf(runs[1] as string)).toBe("reject");
    await ask("agent.cancel", { runId: third });
  });

  test("exactly one of two concurrent approvals decides", async () => {
    const runId = await waiting();
    const answers = await Promise.all(
      ["approve", "reject"].map((decision) => ask("tool.approve", { toolCallId: "call-1", decision, runId })),
    );
    const winners = answers.filter(({ status }) => status === 200);
    expect(winners).toHaveLength(1);
    // The slower one can arrive after the decision. approve-op.test.ts lets both find the call pending.
    expect(["already_decided", "approval-not-found"]).toContain(answers.find(({ status }) => status !== 200)?.payload.error);
    expect(await outcomeOf(runId)).toBe(answers[0]?.status === 200 ? "approve" : "reject");
  });

  test.each([
    {},
    { toolCallId: "call-1" },
    { toolCallId: "call-1", decision: "maybe" },
    { toolCallId: 1, decision: "approve" },
    { toolCallId: "call-1", decision: "approve", reason: 5 },
    { toolCallId: "call-1", decision: "approve", by: "somebody else" },
  ])("tool.approve with the payload %j results in 400", async (payload) => {
    expect(await ask("tool.approve", payload)).toMatchObject({ status: 400, payload: { error: "invalid-request" } });
  });

  test("tool.approve does not find calls of another tenant", async () => {
    const runId = await waiting();
    const payload = { toolCallId: "call-1", decision: "approve" };
    expect(await ask("tool.approve", payload, "beta")).toMatchObject({ status: 404 });
    expect(await ask("tool.approve", { ...payload, runId }, "beta")).toMatchObject({ status: 404 });
    expect(await ask("agent.status", { runId })).toMatchObject({ payload: { phase: "waiting-approval" } });
    await ask("tool.approve", { ...payload, runId });
  });
});

describe("workspace.list", () => {
  test("workspace.list returns the agents of the tenant and of no other", async () => {
    await run({ agent: "only-alpha" });
    await run({ agent: "only-beta" }, "beta");
    const { status, payload } = await ask("workspace.list", {});
    expect(status).toBe(200);
    const own = payload.workspaces.find(({ agentId }: { agentId: string }) => agentId === "only-alpha");
    expect(own).toEqual({ id: expect.any(String), kind: "agent", agentId: "only-alpha", tasks: 1, updatedAt: expect.any(String) });
    expect(new Date(own.updatedAt).toISOString()).toBe(own.updatedAt);
    expect(JSON.stringify(payload)).not.toContain("only-beta");
    expect(JSON.stringify((await ask("workspace.list", {}, "beta")).payload)).not.toContain("only-alpha");
  });
});

describe("a run of another tenant", () => {
  test.each(["agent.status", "agent.cancel"])("a run of another tenant does not exist for %s", async (op) => {
    const { payload } = await run({ input: "wait" });
    const { runId } = payload;
    expect(await ask(op, { runId }, "beta")).toEqual({ status: 404, payload: { runId, error: "run-not-found" } });
    expect(await ask("agent.status", { runId })).toMatchObject({ status: 200 });
    expect(await ask("agent.cancel", { runId })).toEqual({ status: 200, payload: { cancelled: true } });
  });

  test("two tenants can have runs of the same name", async () => {
    const taskId = randomUUID();
    const answers = [await run({ taskId, input: "One." }), await run({ taskId, input: "Other." }, "beta")];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });
});

test.each([
  ["agent.run", "reader"],
  ["agent.cancel", "reader"],
  ["agent.status", "dispatcher"],
  ["tool.approve", "dispatcher"],
  ["workspace.list", "scraper"],
] as const)("%s rejects the token %s", async (op, token) => {
  expect(await ask(op, {}, token)).toMatchObject({ status: 403, payload: { error: "scope_missing" } });
});

test("concurrent requests on one socket get their own responses", async () => {
  const client = await connect("alpha");
  const runs = Array.from({ length: 40 }, () => randomUUID());
  const started = await Promise.all(
    runs.map((taskId) => client.ask("agent.run", { agent: "many", input: taskId, provider: "memory", taskId })),
  );
  expect(started.map(({ payload }) => payload.runId)).toEqual(runs);
  const mixed = await Promise.all(
    runs.flatMap((runId) => [client.ask("agent.status", { runId }), client.ask("no.such", { runId }), client.ask("workspace.list")]),
  );
  expect(mixed.map(({ status }) => status)).toEqual(runs.flatMap(() => [200, 404, 200]));
  expect(mixed.filter((_, index) => index % 3 === 0).map(({ payload }) => payload.runId)).toEqual(runs);
  await client.close();
});

test("ops that change something count towards the rate limit of the token, together with its requests over HTTP", async () => {
  const bridge = await startBridge({ BRIDGE_RATE_LIMIT: "3" });
  onTestFinished(() => bridge.close());
  const client = await openSocket(`${bridge.url}/ws/bridge`, { headers: { authorization: "Bearer secret-alpha" } });
  onTestFinished(() => client.close());
  const run = { agent: "writer", input: "Hello.", provider: "memory" };
  const first = await client.ask("agent.run", run);
  const statuses = [first.status, (await bridge.dispatch({})).status];
  for (const [op, payload] of [
    ["agent.cancel", { runId: first.payload.runId }],
    ["agent.run", run],
    ["agent.cancel", { runId: first.payload.runId }],
    ["agent.status", { runId: first.payload.runId }],
  ] as const)
    statuses.push((await client.ask(op, payload)).status);
  expect(statuses).toEqual([200, 202, 200, 429, 429, 200]);
  expect((await client.ask("agent.run", run)).payload).toEqual({
    error: "too_many_requests",
    detail: { message: expect.stringContaining("more than 3 requests in a minute"), retryAfterSeconds: expect.any(Number) },
  });
  expect((await bridge.dispatch({})).status).toBe(429);
});
