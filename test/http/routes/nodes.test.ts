import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge({ BRIDGE_NODE_NAME: "alone", BRIDGE_NODE_TAGS: "gpu" });
});
afterAll(() => bridge.close());

test("with SQLite, the list of nodes contains this Bridge, which cannot be drained or forgotten", async () => {
  const { status, body } = await bridge.call("GET", "/api/v2/nodes");
  expect(status).toBe(200);
  expect(body.meta).toEqual({ nextCursor: null });
  expect(body.data).toHaveLength(1);
  expect(body.data[0]).toMatchObject({
    ...{ name: "alone", url: null, state: "live", leaseUntil: null, tags: ["gpu"], files: "local", agents: null, settingsDiffer: false },
    adapters: [{ provider: "memory" }, { provider: "narrow", maxConcurrent: 1 }, { provider: "absent", health: "offline" }],
  });
  expectProblem(await bridge.call("POST", "/api/v2/nodes/alone/drain"), "invalid_state");
  expectProblem(await bridge.call("DELETE", "/api/v2/nodes/alone"), "invalid_state");
});

test("adapters report their node, and tasks no node", async () => {
  const { body } = await bridge.call("GET", "/api/v2/adapters");
  expect(body.data.map((adapter: { nodes: string[] }) => adapter.nodes)).toEqual([["alone"], ["alone"], ["alone"]]);
  const { body: accepted } = await bridge.dispatch({ message: "Hello." });
  const { body: task } = await bridge.call("GET", `/api/v2/tasks/${accepted.taskId}`, { headers: { prefer: "wait=10" } });
  expect(task).toMatchObject({ state: "completed", node: null, queuedBecause: null });
});

test("a dispatch can require the tags of this Bridge, and is rejected if it requires others", async () => {
  for (const runsOn of [[], ["gpu"], ["node:alone", "gpu"]]) expect((await bridge.dispatch({ runsOn })).status).toBe(202);
  const rejected = await bridge.dispatch({ runsOn: ["gpu", "tpu"] });
  expectProblem(rejected, "adapter_offline");
  expect(rejected.body.detail).toBe("No live node with the adapter memory has the tag tpu.");
  for (const runsOn of ["gpu", [""], ["a b"], Array.from({ length: 17 }, () => "gpu")])
    expectProblem(await bridge.dispatch({ runsOn }), "invalid_request");
});

test("a queued task reports what it waits for", async () => {
  const token = (await bridge.dispatch({ message: "look" })).body.taskId;
  const { body: first } = await bridge.call("GET", `/api/v2/tasks/${token}`, { headers: { prefer: "wait=10" } });
  const { resumeToken } = first.result;
  const running = (await bridge.dispatch({ message: "wait", resumeToken })).body.taskId;
  const waiting = (await bridge.dispatch({ message: "wait", resumeToken })).body.taskId;
  const slow = (await bridge.dispatch({ provider: "narrow", message: "wait" })).body.taskId;
  const next = (await bridge.dispatch({ provider: "narrow", message: "wait" })).body.taskId;
  const reasonOf = async (taskId: string) => (await bridge.call("GET", `/api/v2/tasks/${taskId}`)).body.queuedBecause;
  await expect.poll(() => Promise.all([running, waiting, slow, next].map(reasonOf))).toEqual([null, "session", null, "slot"]);
  for (const taskId of [waiting, running, next, slow]) await bridge.call("POST", `/api/v2/tasks/${taskId}/cancel`);
});
