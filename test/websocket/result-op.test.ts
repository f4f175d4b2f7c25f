import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Task, TaskProgress } from "../../src/task.ts";
import type { OpMeta } from "../../src/websocket/op-protocol.ts";
import { createResultOp } from "../../src/websocket/result-op.ts";
import { type Bridge, startBridge, type TokenName } from "../support/start-bridge.ts";
import { askUntil } from "../support/until.ts";
import { openSocket, type SocketClient } from "./socket-client.ts";

let bridge: Bridge;
let client: SocketClient;
beforeAll(async () => {
  bridge = await startBridge({ BRIDGE_MAX_CONCURRENT: "50" });
  client = await connect();
});
afterAll(() => bridge.close());

const connect = (token: TokenName = "alpha") =>
  openSocket(`${bridge.url}/ws/bridge`, { headers: { authorization: `Bearer secret-${token}` } });
const run = async (payload: Record<string, unknown>, on = client): Promise<string> =>
  (await on.ask("agent.run", { agent: "writer", input: "Hello.", provider: "memory", ...payload })).payload.runId;
const result = async (payload: Record<string, unknown>, on = client) => {
  const { status, payload: answered } = await on.ask("agent.result", payload);
  return { status, payload: answered };
};

describe("agent.result", () => {
  test("agent.result waits for the end of a run and returns its result", async () => {
    const runId = await run({ input: "look" });
    const { body } = await bridge.call("GET", `/api/v2/tasks/${runId}`, { headers: { prefer: "wait=20" } });
    expect(await result({ runId, waitSeconds: 20 })).toEqual({ status: 200, payload: { runId, phase: "completed", result: body.result } });
  });

  test("agent.result without a wait returns immediately, with null while the run has no result", async () => {
    const runId = await run({ input: "work" });
    await askUntil(
      () => result({ runId }),
      ({ payload }) => payload.phase === "tool-call",
    );
    expect(await result({ runId })).toEqual({ status: 200, payload: { runId, phase: "tool-call", result: null } });
    const waiting = result({ runId, waitSeconds: 1000 });
    expect((await client.ask("agent.cancel", { runId })).payload).toEqual({ cancelled: true });
    expect(await waiting).toMatchObject({ status: 200, payload: { phase: "cancelled", result: { errorCode: "cancelled" } } });
  });

  test("agent.result returns a failure as a result", async () => {
    const runId = await run({ input: "fail" });
    expect(await result({ runId, waitSeconds: 20 })).toMatchObject({
      status: 200,
      payload: { phase: "failed", result: { status: "error", errorCode: "model_error" } },
    });
  });

  test("agent.result returns a long result and rejects one that is too long for a frame", async () => {
    const message = "für 10 €\n".repeat(40_000);
    const long = await run({ input: message });
    expect((await result({ runId: long, waitSeconds: 20 })).payload.result).toMatchObject({ output: message });
    // Six characters each as JSON.
    const longer = await run({ input: "\u0001".repeat(800_000) });
    expect(await result({ runId: longer, waitSeconds: 20 })).toMatchObject({
      status: 413,
      payload: { error: "too_large", detail: { message: expect.stringContaining(`GET /api/v2/tasks/${longer}`) } },
    });
  });

  test("waiting requests do not block the other requests of a socket", async () => {
    const other = await connect();
    const runId = await run({ input: "wait" }, other);
    const waiting = Array.from({ length: 30 }, () => result({ runId, waitSeconds: 60 }, other));
    expect((await other.ask("agent.status", { runId })).payload.phase).toBe("running");
    // Requests above the limit are answered without a wait.
    const answered: unknown[] = [];
    for (const answer of waiting) void answer.then(({ payload }) => answered.push(payload));
    await expect.poll(() => answered.length).toBe(22);
    expect(answered[0]).toEqual({ runId, phase: "running", result: null });
    await other.ask("agent.cancel", { runId });
    const phases = (await Promise.all(waiting)).map(({ payload }) => payload.phase);
    expect(new Set(phases)).toEqual(new Set(["running", "cancelled"]));
    expect(phases.filter((phase) => phase === "cancelled")).toHaveLength(8);
    await other.close();
  });

  test("a failed wait no longer counts as waiting", async () => {
    const task = { taskId: "a", state: "running" } as unknown as Task;
    const waitForEnd = vi.fn(async (): Promise<TaskProgress> => Promise.reject(new Error("The disk is full.")));
    const op = createResultOp({
      dispatcher: { waitForEnd },
      tasks: { findProgress: async () => task, find: async () => null, resultBytes: async () => 0 },
      phases: { find: async () => null },
    });
    const channel = { push: async () => {}, signal: new AbortController().signal };
    const ask = () =>
      op.execute({ op: op.name, payload: { runId: "a", waitSeconds: 1 }, meta: { tenant: "t", channel } as unknown as OpMeta });
    for (let count = 0; count < 20; count += 1) await expect(ask()).rejects.toThrow("The disk is full.");
    expect(waitForEnd).toHaveBeenCalledTimes(20);
  });

  test("agent.result of another tenant's run or an unknown run results in 404", async () => {
    const runId = await run({});
    const beta = await connect("beta");
    const missing = { status: 404, payload: { runId, error: "run-not-found" } };
    expect(await result({ runId, waitSeconds: 60 }, beta)).toEqual(missing);
    expect(await result({ runId: "nobody" })).toMatchObject({ status: 404 });
    await result({ runId, waitSeconds: 20 });
    expect((await bridge.call("DELETE", `/api/v2/tasks/${runId}`)).status).toBe(204);
    expect(await result({ runId, waitSeconds: 60 })).toEqual(missing);
    await beta.close();
  });

  test.each([{}, { runId: "a", waitSeconds: -1 }, { runId: "a", waitSeconds: "5" }, { runId: "a", more: 1 }])(
    "agent.result with the payload %j results in 400",
    async (payload) => {
      expect(await result(payload)).toMatchObject({ status: 400, payload: { error: "invalid-request" } });
    },
  );

  test.each([
    ["agent.result", "dispatcher"],
    ["agent.events", "dispatcher"],
  ] as const)("%s requires the scope read", async (op, token) => {
    const other = await connect(token);
    expect(await other.ask(op, { runId: randomUUID() })).toMatchObject({ status: 403, payload: { error: "scope_missing" } });
    await other.close();
  });
});
