import { afterAll, beforeAll, expect, test } from "vitest";
import type { AdapterConfig } from "#contract";
import { createInMemoryAdapter } from "../adapters/in-memory-adapter.ts";
import { type Bridge, expectProblem, startBridge } from "../support/start-bridge.ts";
import { askUntil } from "../support/until.ts";
import { openSocket } from "../websocket/socket-client.ts";

/** A composite adapter like the council and the responder. Each of its tasks has a waiting and an ended child task. */
function createComposite() {
  let config: AdapterConfig | undefined;
  const adapter = createInMemoryAdapter({
    provider: "composite",
    async run({ taskId: parentTaskId }, _emit, signal) {
      const runChild = (config as AdapterConfig).runChild;
      await runChild({ parentTaskId, provider: "memory", message: "a secret of alpha" });
      await Promise.race([
        runChild({ parentTaskId, provider: "memory", message: "wait" }),
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("canceled")))),
      ]);
      return { output: "done" };
    },
  });
  return {
    provider: "composite",
    adapter: {
      ...adapter,
      initialize: async (given: AdapterConfig) => {
        config = given;
        await adapter.initialize(given);
      },
    },
  };
}

let bridge: Bridge;
let children: string[] = [];
beforeAll(async () => {
  bridge = await startBridge({}, { adapters: [createComposite()] });
  await bridge.dispatch({ taskId: "parent", provider: "composite", agentId: "shared" });
  const { body } = await askUntil(
    () => bridge.call("GET", "/api/v2/tasks?parentTaskId=parent"),
    (answer) => answer.body.data.length === 2 && answer.body.data[0].state === "running",
  );
  children = body.data.map(({ taskId }: { taskId: string }) => taskId);
});
afterAll(() => bridge.close());

test("every route responds to the children of another tenant's task as to an unknown id", async () => {
  for (const child of children) {
    for (const [method, target] of [
      ["GET", `/api/v2/tasks/${child}`],
      ["GET", `/api/v2/tasks/${child}/events`],
      ["GET", `/api/v2/tasks/${child}/files`],
      ["GET", `/api/v2/tasks/${child}/diff`],
      ["GET", `/api/v2/tasks/${child}/patch`],
      ["POST", `/api/v2/tasks/${child}/cancel`],
      ["GET", `/api/v2/callbacks/${child}`],
      ["POST", `/api/v2/callbacks/${child}/redeliver`],
    ] as const) {
      const refused = await bridge.call(method, target, { token: "beta" });
      expectProblem(refused, "not_found");
      expect(refused.body.detail).toBe((await bridge.call(method, target.replace(child, "unknown"), { token: "beta" })).body.detail);
    }
    const stream = await bridge.call("GET", `/api/v2/tasks/${child}/events`, { token: "beta", headers: { accept: "text/event-stream" } });
    expectProblem(stream, "not_found");
  }
});

test("no list, stream or WebSocket op returns child tasks of another tenant", async () => {
  for (const query of ["", "?parentTaskId=parent", "?agentId=shared", "?provider=memory", "?state=running"])
    expect((await bridge.call("GET", `/api/v2/tasks${query}`, { token: "beta" })).body.data).toEqual([]);

  const { data } = (await bridge.call("GET", `/api/v2/tasks/${children[1]}/events`)).body;
  const response = await fetch(`${bridge.url}/api/events`, {
    headers: { authorization: "Bearer secret-beta", "last-event-id": data[0].id.replace(/-\d+$/, "-0") },
  });
  await bridge.dispatch({ taskId: "own", agentId: "shared" }, { token: "beta" });
  let seen = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    seen += chunk;
    if (seen.includes('"taskId":"own"')) break;
  }
  for (const foreign of [...children, "parent", "secret of alpha"]) expect(seen).not.toContain(foreign);

  const socket = await openSocket(`${bridge.url}/ws/bridge`, { headers: { authorization: "Bearer secret-beta" } });
  for (const child of children) {
    for (const op of ["agent.status", "agent.cancel"]) {
      const known = await socket.ask(op, { runId: child });
      const unknown = await socket.ask(op, { runId: "unknown" });
      expect(JSON.stringify(known.payload).replaceAll(child, "unknown")).toBe(JSON.stringify(unknown.payload));
      expect(known.status).toBe(unknown.status);
    }
  }
  await socket.close();
});

test("a task of another tenant with the parent's id has none of its children, and its end does not stop them", async () => {
  await bridge.dispatch({ taskId: "parent", message: "wait", agentId: "shared" }, { token: "beta" });
  expect((await bridge.call("POST", "/api/v2/tasks/parent/cancel", { token: "beta" })).status).toBeLessThan(300);
  expect((await bridge.call("GET", "/api/v2/tasks?parentTaskId=parent", { token: "beta" })).body.data).toEqual([]);
  expect((await bridge.call("GET", `/api/v2/tasks/${children[0]}`)).body).toMatchObject({ state: "running", parentTaskId: "parent" });
});
