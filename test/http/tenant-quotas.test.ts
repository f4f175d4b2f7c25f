import { expect, onTestFinished, test } from "vitest";
import { startBridge } from "../support/start-bridge.ts";
import { askUntil } from "../support/until.ts";
import { openSocket } from "../websocket/socket-client.ts";

// Tests the quotas of tenants over HTTP and WebSocket with a complete Bridge.

test("a task that a quota delays reports waitingOn quota over HTTP and WebSocket, and other tenants are not affected", async () => {
  const bridge = await startBridge({ BRIDGE_TENANT_MAX_RUNNING: "1" });
  onTestFinished(() => bridge.close());
  const socket = await openSocket(`${bridge.url}/ws/bridge`, { headers: { authorization: "Bearer secret-alpha" } });
  onTestFinished(() => socket.close());
  const taskIds = ["first", "second"];
  for (const taskId of taskIds) await bridge.dispatch({ taskId, message: "wait" });
  await askUntil(
    () => bridge.call("GET", "/api/v2/tasks/first"),
    ({ body }) => body.state === "running",
  );
  expect((await bridge.call("GET", "/api/v2/tasks/second")).body).toMatchObject({ state: "queued", waitingOn: "quota" });
  expect((await bridge.call("GET", "/api/v2/tasks?state=queued")).body.data).toMatchObject([{ taskId: "second", waitingOn: "quota" }]);
  expect((await socket.ask("agent.status", { runId: "second" })).payload).toEqual({ runId: "second", phase: "queued", waitingOn: "quota" });
  const { body } = await bridge.dispatch({ message: "Hello." }, { token: "beta", headers: { prefer: "wait=10" } });
  expect(body).toMatchObject({ state: "completed" });
  await bridge.call("POST", "/api/v2/tasks/first/cancel");
  await askUntil(
    () => bridge.call("GET", "/api/v2/tasks/second"),
    ({ body: task }) => task.state === "running",
  );
  expect((await socket.ask("agent.status", { runId: "second" })).payload).toEqual({ runId: "second", phase: "running" });
});

test.each([
  ["bridge", { BRIDGE_QUEUE_LIMIT: "1" }],
  ["tenant", { BRIDGE_TENANT_QUEUE_LIMIT: "1" }],
  ["agent", { BRIDGE_AGENT_QUEUE_LIMIT: "1" }],
])("the error reports that the queue of the %s is full, and when to retry", async (queue, settings) => {
  const bridge = await startBridge(settings);
  onTestFinished(() => bridge.close());
  const socket = await openSocket(`${bridge.url}/ws/bridge`, { headers: { authorization: "Bearer secret-alpha" } });
  onTestFinished(() => socket.close());
  await bridge.dispatch({ taskId: "running", provider: "narrow", message: "wait" });
  await askUntil(
    () => bridge.call("GET", "/api/v2/tasks/running"),
    ({ body }) => body.state === "running",
  );
  await bridge.dispatch({ provider: "narrow", message: "wait" });
  const refused = await bridge.dispatch({ provider: "narrow", message: "wait" });
  expect(refused).toMatchObject({ status: 503, body: { code: "queue_full", queue } });
  expect(refused.headers.get("retry-after")).toBe("5");
  expect(refused.text).not.toContain("beta");
  const run = await socket.ask("agent.run", { agent: "writer", input: "wait", provider: "narrow" });
  expect(run).toMatchObject({ status: 503, payload: { error: "queue_full", detail: { queue, retryAfterSeconds: 5 } } });
  expect((await bridge.dispatch({ provider: "narrow", message: "wait" }, { token: "beta" })).status).toBe(202);
  expect((await bridge.call("GET", "/metrics")).text).toContain(`bridge_queue_full_total{queue="${queue}"} 2`);
});
