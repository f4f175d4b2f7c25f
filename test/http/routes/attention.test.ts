import { createBridgeClient } from "bridge-client";
import { expect, onTestFinished, test } from "vitest";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";
import { startReceiver } from "../../support/start-receiver.ts";

const waited = { headers: { prefer: "wait=20" } };

async function start(...more: Parameters<typeof startBridge>) {
  const bridge = await startBridge(...more);
  onTestFinished(() => bridge.close());
  return bridge;
}

const list = async (bridge: Bridge, query = "") => (await bridge.call("GET", `/api/v2/attention${query}`, { token: "reader" })).body;
const acknowledge = (bridge: Bridge, body: object) => bridge.call("POST", "/api/v2/attention/acknowledge", { body });

test("approvals, failures, dead callbacks and offline adapters need a person until they are acknowledged, and again after a new fault", async () => {
  const receiver = await startReceiver((response) => response.writeHead(500).end());
  onTestFinished(receiver.close);
  const bridge = await start();
  await bridge.dispatch({ taskId: "asking", message: "ask", approvals: "ask" });
  await bridge.dispatch({ taskId: "failed", message: "fail" }, waited);
  await bridge.dispatch({ taskId: "unheard", callbackUrl: receiver.origin }, waited);
  await expect.poll(async () => (await list(bridge)).counts).toEqual({ approval: 1, failure: 1, callback: 1, delivery: 0, adapter: 1 });
  const { data, receivers } = await list(bridge);
  const none = { receiver: null, acknowledgedBy: null, acknowledgedAt: null };
  const of = (taskId: string, title: string) => ({ taskId, title, agentId: "writer", provider: "memory", at: expect.any(String) });
  expect(data).toEqual([
    { ...none, kind: "approval", id: expect.stringMatching(/^apr_/), ...of("asking", "ask"), detail: "delete" },
    { ...none, kind: "failure", id: "failed", ...of("failed", "fail"), detail: "model_error" },
    { ...none, kind: "callback", id: "unheard", ...of("unheard", "Hello."), detail: "http_500", receiver: receiver.origin },
    {
      ...none,
      kind: "adapter",
      id: "absent",
      taskId: null,
      agentId: null,
      provider: "absent",
      title: null,
      at: expect.any(String),
      detail: expect.any(String),
    },
  ]);
  expect(receivers).toEqual([{ kind: "callback", receiver: receiver.origin, count: 1 }]);

  for (const [kind, id] of [
    ["failure", "failed"],
    ["callback", "unheard"],
    ["adapter", "absent"],
  ])
    for (const acknowledged of [1, 0]) expect((await acknowledge(bridge, { kind, id })).body).toEqual({ acknowledged, hasMore: false });
  expect((await list(bridge)).counts).toEqual({ approval: 1, failure: 0, callback: 0, delivery: 0, adapter: 0 });
  const acknowledged = await list(bridge, "?acknowledged=true");
  expect(acknowledged.data.map(({ id, acknowledgedBy }: { id: string; acknowledgedBy: string }) => [id, acknowledgedBy])).toEqual([
    ["failed", "alpha"],
    ["unheard", "alpha"],
    ["absent", "alpha"],
  ]);

  await bridge.call("POST", "/api/v2/callbacks/unheard/redeliver");
  await expect.poll(async () => (await list(bridge)).counts.callback).toBe(1);
  const client = createBridgeClient({ url: bridge.url, token: "secret-alpha" });
  expect(await client.attention.acknowledge({ kind: "callback", receiver: receiver.origin })).toBe(1);
  expect((await client.attention.list({ limit: 1 })).counts).toEqual({ approval: 1, failure: 0, callback: 0, delivery: 0, adapter: 0 });
});

test("an adapter that goes offline again after it was available needs a person again", async () => {
  let health: "healthy" | "offline" = "offline";
  const adapter = createInMemoryAdapter({ provider: "shaky" });
  const checkHealth = async () => ({ ...(await adapter.checkHealth()), status: health });
  const bridge = await start({}, { adapters: [{ provider: "shaky", adapter: { ...adapter, checkHealth } }] });
  const offline = async () =>
    (await list(bridge)).data.filter(({ kind }: { kind: string }) => kind === "adapter").map(({ id }: { id: string }) => id);
  const check = async () => {
    const { body } = await bridge.call("POST", "/api/v2/adapters/shaky/check");
    return body.health.status;
  };
  expect(await offline()).toContain("shaky");
  expect((await acknowledge(bridge, { kind: "adapter", all: true })).body.acknowledged).toBeGreaterThan(0);
  expect(await offline()).toEqual([]);
  health = "healthy";
  await expect.poll(check).toBe("healthy");
  expectProblem(await acknowledge(bridge, { kind: "adapter", id: "shaky" }), "not_found");
  health = "offline";
  await expect.poll(check).toBe("offline");
  expect(await offline()).toEqual(["shaky"]);
});

test.each([
  [{ kind: "approval", id: "apr_1" }, "kind"],
  [{ kind: "failure" }, "exactly one"],
  [{ kind: "failure", id: "t", all: true }, "exactly one"],
  [{ kind: "failure", all: false }, "all"],
  [{ kind: "failure", receiver: "https://a.example" }, "not possible"],
  [{ kind: "callback", id: "t", until: "2026-01-01T00:00:00Z" }, "until"],
  [{ kind: "callback", all: true, until: "yesterday" }, "until"],
])("an acknowledgment of %j is rejected", async (body, message) => {
  const bridge = await start();
  const response = await acknowledge(bridge, body);
  expectProblem(response, "invalid_request");
  expect(JSON.stringify(response.body.errors)).toContain(message);
});

test("an unknown fault is not found, and a completed task is none", async () => {
  const bridge = await start();
  await bridge.dispatch({ taskId: "done" }, waited);
  for (const kind of ["failure", "callback", "delivery", "adapter"])
    for (const id of ["nowhere", "done", "\u0000"]) expectProblem(await acknowledge(bridge, { kind, id }), "not_found");
});
