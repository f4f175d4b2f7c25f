import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";

let bridge: Bridge;
let root: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "bridge-test-"));
  bridge = await startBridge({ BRIDGE_WORKSPACES_DIR: root });
});
afterAll(async () => {
  await bridge.close();
  await rm(root, { recursive: true });
});

const check = (body: object, headers = {}) =>
  bridge.call("POST", "/api/v2/dispatch/check", { body: { provider: "memory", ...body }, headers });

test("a check lists where a dispatch with fallbacks could run, and why not elsewhere", async () => {
  const fallbacks = [{ provider: "absent" }, { provider: "narrow", model: "large" }];
  const { body } = await check({ provider: "memory", agentId: "writer", message: "Hello.", fallbacks, outputSchema: { type: "object" } });
  expect(body.task.candidates).toEqual([
    { provider: "memory", model: null, canRun: true, reason: null },
    { provider: "absent", model: null, canRun: false, reason: "The adapter absent is offline. GET /api/v2/adapters reports the reason." },
    {
      provider: "narrow",
      model: "large",
      canRun: false,
      reason: expect.stringContaining("outputStrategy the adapter narrow does not support this"),
    },
  ]);
});

test("a check rejects a budget that asks if Bridge cannot hold the model calls of the adapter, and names the remedy", async () => {
  const { body } = await check({ provider: "narrow", agentId: "writer", message: "Hello.", budget: { maxCostUsd: 1, onReached: "ask" } });
  expect([body.wouldAnswer, body.problem.code]).toEqual([422, "capability_missing"]);
  const message = expect.stringMatching(/cannot hold a task between two calls of its model; send "stop", set BRIDGE_MODEL_PROXY=on/);
  expect(body.problem.errors).toEqual([{ path: "budget.onReached", message }]);
});

test.each<[string, object, number, string, string]>([
  ["an unknown adapter", { fallbacks: [{ provider: "missing" }] }, 422, "fallbacks.0.provider", "is not a loaded adapter"],
  ["the adapter itself", { fallbacks: [{ provider: "memory" }] }, 422, "fallbacks.0.provider", "to try memory again, send retry instead"],
  ["an adapter twice", { fallbacks: [{ provider: "narrow" }, { provider: "narrow" }] }, 400, "fallbacks", "must name each provider once"],
  ["five adapters", { fallbacks: Array.from("abcde", (provider) => ({ provider })) }, 400, "fallbacks", "4"],
  ["an unknown error", { retry: { max: 1, on: ["timeout"] } }, 400, "retry.on.0", "rate_limited"],
  ["no retries", { retry: { max: 0, on: ["model_error"] } }, 400, "retry.max", "1"],
])("a check rejects fallbacks and retries that name %s", async (_, fields, status, path, message) => {
  const { body } = await check({ provider: "memory", agentId: "writer", message: "Hello.", ...fields });
  expect(body.wouldAnswer).toBe(status);
  expect(body.problem.errors).toEqual([{ path, message: expect.stringContaining(message) }]);
});

test("a check returns the task that a dispatch would create, and creates none", async () => {
  const { status, body } = await check({ taskId: "never", agentId: "writer", message: "Look.", timeout: 30, profile: "inspect" });
  expect(status).toBe(200);
  expect(body).toEqual({
    wouldAnswer: 202,
    problem: null,
    task: {
      ...{ provider: "memory", agentId: "writer", replayed: false, connection: "in-process", queueAhead: 0 },
      resolved: { model: null, profile: "inspect", approvals: "deny", timeoutSeconds: 30 },
      council: null,
      repository: null,
      candidates: [],
      warnings: [],
    },
  });
  expectProblem(await bridge.call("GET", "/api/v2/tasks/never"), "not_found");
  expect((await bridge.call("GET", "/api/v2/tasks?agentId=writer")).body.data).toEqual([]);
});

test("the settings of agent.json count, and an invalid one is reported as a warning", async () => {
  const workspace = path.join(root, "alpha/configured");
  await mkdir(workspace, { recursive: true });
  await writeFile(path.join(workspace, "agent.json"), JSON.stringify({ model: "large", timeoutSeconds: 7 }));
  const configured = await check({ agentId: "configured", message: "m" });
  expect(configured.body.task).toMatchObject({ resolved: { model: "large", timeoutSeconds: 7 }, warnings: [] });
  await writeFile(path.join(workspace, "agent.json"), "{");
  const broken = await check({ agentId: "configured", message: "m" });
  expect(broken.body).toMatchObject({
    wouldAnswer: 202,
    task: { warnings: [expect.stringMatching(/^The task would fail: agent.json of the workspace is not valid JSON/)] },
  });
});

test("a check names the tasks that are queued before", async () => {
  const held = { provider: "narrow", agentId: "busy", message: "wait" };
  const ids = (await Promise.all([1, 2, 3].map(() => bridge.dispatch(held)))).map(({ body }) => body.taskId as string);
  expect((await check(held)).body.task).toMatchObject({ provider: "narrow", queueAhead: 2 });
  for (const id of ids) await bridge.call("POST", `/api/v2/tasks/${id}/cancel`);
});

test("a check needs the scope of a dispatch, and rejects a query", async () => {
  expectProblem(await bridge.call("POST", "/api/v2/dispatch/check", { token: "reader", body: {} }), "scope_missing");
  expectProblem(await bridge.call("POST", "/api/v2/dispatch/check?x=1", { body: {} }), "invalid_request");
});

/** Fields that change a valid dispatch. Some of the values are wrong, or contradict each other. */
const changes = [
  { taskId: "one" },
  { taskId: "two" },
  { taskId: "not valid!" },
  { agentId: "" },
  { agentId: 7 },
  { message: "" },
  { message: "Look again." },
  { provider: "narrow" },
  { provider: "unknown" },
  { provider: "absent" },
  { timeout: 5 },
  { timeout: 0 },
  { timeoutSeconds: 6 },
  { profile: "modify" },
  { profile: "all" },
  { outputSchema: { type: "object" } },
  { outputSchema: { type: "nothing" } },
  { resumeToken: "never-issued" },
  { callbackUrl: "http://169.254.169.254/" },
  { callbackUrl: "https://receiver.example/" },
  { mcpServers: [{ name: "tools", transport: "stdio", command: "rm" }] },
  { files: [{ path: "../a", content: "" }] },
  { labels: { team: "docs" } },
  { labels: { "": "x" } },
  { unknownField: 1 },
];
const dispatches = fc
  .subarray(changes, { maxLength: 3 })
  .map((chosen): object => Object.assign({ provider: "memory", agentId: "writer", message: "Look." }, ...chosen));

test("a dispatch gets exactly the answer that its check has foretold", async () => {
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(dispatches, fc.option(fc.constantFrom("one", "key", "a b"), { nil: undefined, freq: 1 }), async (dispatch, key) => {
      const headers = key === undefined ? {} : { "idempotency-key": key };
      const foretold = (await check(dispatch, headers)).body;
      const { status, body, headers: sent } = await bridge.call("POST", "/api/v2/dispatch", { body: dispatch, headers });
      seen.add(status);
      expect(foretold.wouldAnswer).toBe(status);
      if (status === 202) {
        expect(foretold.task).toMatchObject({ provider: body.provider, agentId: body.agentId });
        expect(foretold.task.replayed).toBe(sent.get("idempotent-replayed") === "true");
      } else expect({ ...foretold.problem, requestId: "" }).toEqual({ ...body, requestId: "" });
    }),
    { numRuns: 300 },
  );
  expect([...seen].toSorted()).toEqual(expect.arrayContaining([202, 400, 409, 422]));
});
