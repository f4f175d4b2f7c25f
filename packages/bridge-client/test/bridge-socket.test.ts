import { type BridgeEvent, type BridgeSocket, type BridgeSocketOptions, connectBridge, createBridgeClient } from "bridge-client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createInMemoryAdapter } from "../../../test/adapters/in-memory-adapter.ts";
import { type Bridge, startBridge } from "../../../test/support/start-bridge.ts";
import { startCuttingProxy } from "./cutting-proxy.ts";
import { answer, startScriptedSocketServer } from "./scripted-socket-server.ts";

/** Number of tool calls of the provider `many`. */
const MANY = 150;

let bridge: Bridge;
beforeAll(async () => {
  const many = createInMemoryAdapter({
    provider: "many",
    async run(_request, emit) {
      for (let index = 0; index < MANY; index += 1) {
        const call = { toolCallId: `call-${index}`, toolName: "list" };
        emit("tool.invoked", { ...call, input: {} });
        emit("tool.completed", { ...call, output: index, isError: false });
      }
      return { output: "Many." };
    },
  });
  bridge = await startBridge({ BRIDGE_BODY_LIMIT: "1000000" }, { adapters: [{ provider: "many", adapter: many }] });
});
afterAll(() => bridge.close());

async function connect(options: Partial<BridgeSocketOptions> = {}): Promise<BridgeSocket> {
  const client = await connectBridge({ url: bridge.url, token: "secret-alpha", retryDelayMs: 5, ...options } as BridgeSocketOptions);
  onTestFinished(() => client.close());
  return client;
}

const run = { provider: "memory", agent: "writer", input: "Hello." };
const storedEvents = (runId: string): Promise<BridgeEvent[]> =>
  collect(createBridgeClient({ url: bridge.url, token: "secret-alpha" }).events(runId));

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

test("a run is followed to its end, and its result, status and workspace can be read", async () => {
  const client = await connect();
  const { runId } = await client.run({ ...run, input: "look", metadata: { order: 7 } });
  const events = await collect(client.follow(runId));
  expect(events).toEqual(await storedEvents(runId));
  expect(events.map(({ type }) => type)).toContain("tool.invoked");
  expect(events.at(-1)?.type).toBe("execution.completed");
  expect(await client.result(runId)).toMatchObject({ runId, phase: "completed", result: { output: "One file.", costUsd: 0.25 } });
  expect(await client.status(runId)).toEqual({ runId, phase: "completed" });
  expect((await client.listWorkspaces()).map(({ agentId }) => agentId)).toContain("writer");
  expect(await client.run({ ...run, input: "look", metadata: { order: 7 }, taskId: runId })).toEqual({ runId });
});

test("a run is followed after an event, also if that is the last one", async () => {
  const client = await connect();
  const { runId } = await client.run({ ...run, input: "look" });
  const events = await collect(client.follow(runId));
  expect(await collect(client.follow(runId, { after: events[1]?.id }))).toEqual(events.slice(2));
  expect(await collect(client.follow(runId, { after: events.at(-1)?.id }))).toEqual([]);
  await expect(collect(client.follow(runId, { after: "unknown-1" }))).rejects.toMatchObject({ code: "stream_gap" });
});

test.each(["approve", "reject"] as const)("a waiting tool call can be decided: %s", async (decision) => {
  const client = await connect();
  const { runId } = await client.run({ ...run, input: "ask", approvals: "ask" });
  const types: string[] = [];
  for await (const event of client.follow(runId)) {
    types.push(event.type);
    if (event.type !== "tool.approval_requested") continue;
    expect(await client.status(runId)).toEqual({ runId, phase: "waiting-approval" });
    await client[decision](event.data, "Because.");
    await expect(client.approve(event.data)).rejects.toMatchObject({ code: "approval-not-found", status: 404 });
  }
  expect(types).toContain("tool.approval_resolved");
  expect((await client.result(runId)).result.output).toBe(decision);
});

test("an approval raises the maximum of a run", async () => {
  const client = await connect();
  const { runId } = await client.run({ ...run, input: "spend", budget: { maxCostUsd: 0.5, onReached: "ask" } });
  const raises: unknown[] = [];
  for await (const event of client.follow(runId)) {
    if (event.type === "tool.approval_requested") await client.approve(event.data, undefined, { raiseByUsd: 0.25 });
    if (event.type === "tool.approval_resolved") raises.push(event.data.raiseByUsd);
  }
  expect(raises).toEqual([0.25]);
  expect((await client.result(runId)).result.output).toBe("allowed");
});

test("a run can be cancelled once", async () => {
  const client = await connect();
  const { runId } = await client.run({ ...run, input: "wait" });
  const result = client.result(runId);
  expect(await client.cancel(runId)).toBe(true);
  expect(await result).toMatchObject({ phase: "cancelled", result: { errorCode: "cancelled" } });
  expect(await client.cancel(runId)).toBe(false);
});

test("a cut connection neither loses nor repeats an event", async () => {
  const proxy = await startCuttingProxy(bridge.url);
  const client = await connect({ url: proxy.url });
  const { runId } = await client.run({ ...run, provider: "many" });
  const seen: BridgeEvent[] = [];
  // The inbox is small, so that the client still has to receive events after each cut.
  const slow = await connect({ url: proxy.url, maxWaitingEvents: 10 });
  for await (const event of slow.follow(runId)) {
    seen.push(event);
    if (seen.length % 70 === 0) proxy.cut();
  }
  expect(seen).toEqual(await storedEvents(runId));
  expect(seen).toHaveLength(2 * MANY + 2);
  // The calls of the other client continue on a new connection.
  expect((await client.result(runId)).result.output).toBe("Many.");
  expect(proxy.connections()).toBeGreaterThan(8);
});

test("a reader that is slower than its run receives all events, with few of them in memory", async () => {
  const client = await connect({ maxWaitingEvents: 7 });
  const { runId } = await client.run({ ...run, provider: "many" });
  const seen: BridgeEvent[] = [];
  for await (const event of client.follow(runId)) {
    seen.push(event);
    // Events of the run arrive while the reader waits for another answer.
    if (seen.length % 20 === 0) await client.status(runId);
  }
  expect(seen).toEqual(await storedEvents(runId));
  const subscriptions = bridge.log.filter((line) => line.includes('"op":"agent.events"'));
  expect(subscriptions.length).toBeGreaterThan(20);
});

test("a client waits for more results than Bridge waits for on one socket", async () => {
  const client = await connect();
  const started = await Promise.all(Array.from({ length: 12 }, () => client.run({ ...run, input: "wait" })));
  const results = started.map(({ runId }) => client.result(runId));
  await Promise.all(started.map(({ runId }) => client.cancel(runId)));
  expect((await Promise.all(results)).map(({ phase }) => phase)).toEqual(started.map(() => "cancelled"));
});

test("the ninth call of `result` polls, because Bridge waits for only eight results of a socket", async () => {
  const waits: unknown[] = [];
  const { url } = await startScriptedSocketServer([
    (frame, socket) => {
      waits.push(frame.payload["waitSeconds"]);
      if (frame.payload["waitSeconds"] === 0) answer(socket, frame, { runId: "t", phase: "completed", result: { status: "ok" } });
    },
  ]);
  const client = await connect({ url });
  const pending = Array.from({ length: 8 }, () => client.result("t"));
  expect(await client.result("t")).toMatchObject({ phase: "completed" });
  expect(waits).toEqual([60, 60, 60, 60, 60, 60, 60, 60, 0]);
  client.close();
  for (const result of pending) await expect(result).rejects.toMatchObject({ code: "closed" });
});

test("errors of the protocol have their code, status and fields", async () => {
  const client = await connect();
  await expect(client.status("missing")).rejects.toMatchObject({ name: "BridgeClientError", code: "run-not-found", status: 404 });
  await expect(collect(client.follow("missing"))).rejects.toMatchObject({ code: "run-not-found" });
  await expect(client.run({ ...run, provider: "none" })).rejects.toMatchObject({ code: "unknown_provider", status: 422 });
  await expect(client.run({ ...run, agent: "no such name!" })).rejects.toMatchObject({
    code: "invalid-request",
    errors: [{ path: "agent", message: expect.any(String) }],
  });
  const { runId } = await client.run(run);
  await expect(client.run({ ...run, input: "Other.", taskId: runId })).rejects.toMatchObject({ code: "task_conflict", status: 409 });
});

test("a request that is too large rejects, and other calls continue", async () => {
  const client = await connect();
  const { runId } = await client.run({ ...run, input: "wait" });
  const result = client.result(runId);
  await expect(client.run({ ...run, input: "x".repeat(1_100_000) })).rejects.toMatchObject({ code: "too_large", closeCode: 1009 });
  const values = Array.from({ length: 50_001 }, () => 0);
  await expect(client.run({ ...run, metadata: { values } })).rejects.toMatchObject({ code: "too_large", status: 413 });
  await client.cancel(runId);
  expect((await result).phase).toBe("cancelled");
});

test("a wrong token and a token without the scope `read` reject the connection", async () => {
  await expect(connect({ token: "wrong" })).rejects.toMatchObject({ code: "unauthenticated", status: 401 });
  await expect(connect({ token: "secret-dispatcher" })).rejects.toMatchObject({ code: "scope_missing", status: 403 });
});

test("a page connects with tickets of its backend, whose scopes limit it", async () => {
  const backend = createBridgeClient({ url: bridge.url, token: "secret-alpha" });
  let tickets = 0;
  const getTicket = async (): Promise<string> => {
    tickets += 1;
    return (await backend.createTicket({ scopes: ["read"] })).ticket;
  };
  const client = await connect({ token: undefined, getTicket } as Partial<BridgeSocketOptions>);
  await client.listWorkspaces();
  await expect(client.run(run)).rejects.toMatchObject({ code: "scope_missing", status: 403 });
  expect(tickets).toBe(1);
});

test("a signal ends a call and a followed run, and the client can be used further", async () => {
  const client = await connect();
  const { runId } = await client.run({ ...run, input: "work" });
  const stop = new AbortController();
  const waiting = client.result(runId, { signal: stop.signal });
  const following = (async () => {
    for await (const { type } of client.follow(runId, { signal: stop.signal }))
      if (type === "tool.invoked") stop.abort(new Error("enough"));
  })();
  await expect(following).rejects.toThrow("enough");
  await expect(waiting).rejects.toThrow("enough");
  await expect(client.status(runId, { signal: stop.signal })).rejects.toThrow("enough");
  for await (const { type } of client.follow(runId)) if (type === "tool.invoked") break;
  const following2 = client.follow(runId);
  await following2.next();
  await expect(client.follow(runId).next()).rejects.toMatchObject({ code: "already_followed" });
  await following2.return();
  expect(await client.cancel(runId)).toBe(true);
});

test("close ends all calls", async () => {
  const client = await connect();
  const { runId } = await client.run({ ...run, input: "work" });
  const result = client.result(runId);
  const following = collect(client.follow(runId));
  client.close();
  client.close();
  for (const call of [result, following, client.status(runId), client.run(run)])
    await expect(call).rejects.toMatchObject({ code: "closed" });
  await bridge.call("POST", `/api/v2/tasks/${runId}/cancel`);
});
