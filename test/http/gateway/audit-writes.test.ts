import { once } from "node:events";
import { request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { ManagerCall } from "#contract";
import { type Principal, scopes } from "../../../src/access/principal.ts";
import { gatewayRoutes } from "../../../src/http/gateway/gateway.ts";
import type { AdapterRegistry } from "../../../src/registry/adapter-registry.ts";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { createInMemoryManager } from "../../adapters/in-memory-manager.ts";
import { expectProblem } from "../../support/start-bridge.ts";
import { createBareServer } from "../bare-server.ts";
import { type GatewayBridge, startGatewayBridge } from "./gateway-bridge.ts";

// Every write to the management routes is logged once, with the caller, the resource and the outcome.
let bridge: GatewayBridge;
beforeAll(async () => {
  bridge = await startGatewayBridge({ BRIDGE_RATE_LIMIT: "5" });
});
afterEach(() => {
  bridge.hook.before = () => {};
  bridge.log.length = 0;
});
afterAll(() => bridge.close());

const secret = "content-4711";
const line = (changes: object) => ({
  msg: "gateway write",
  requestId: expect.stringMatching(/./),
  principal: "alpha",
  tenant: "alpha",
  provider: "daemon",
  outcome: "done",
  ...changes,
});

test("a write is logged once without its content; a read is not logged", async () => {
  const headers = { "x-request-id": "request-1" };
  await bridge.gateway("PUT", "daemon/skills/look%20here", { body: { content: secret }, headers, token: "beta" });
  await bridge.gateway("GET", "daemon/skills/look%20here");
  const who = { principal: "beta", tenant: "beta", requestId: "request-1" };
  expect(bridge.audit()).toEqual([line({ ...who, method: "PUT", resource: "skills/look%20here" })]);
  expect(bridge.log.join("")).not.toContain(secret);
});

test("a rejected write is logged once, whatever the reason", async () => {
  await bridge.gateway("PUT", "daemon/skills/a?x=secret-query", { body: { content: secret } });
  await bridge.gateway("PUT", "daemon/skills/a%2Fb", { body: { content: secret } });
  await bridge.gateway("PUT", "daemon/skills/a", { body: `{"content":"${secret}` });
  await bridge.gateway("PUT", "daemon/skills/a", { body: { content: secret }, headers: { "if-match": '"old"' } });
  await bridge.gateway("DELETE", "memory/skills/a");
  await bridge.gateway("DELETE", "fallen/agents/a");
  await bridge.gateway("DELETE", "nobody/agents/a");
  await bridge.gateway("DELETE", "daemon/agents/none");
  await bridge.gateway("DELETE", "daemon/agents/none", { token: "reader" });
  expect(
    bridge.audit().map(({ provider, method, resource, outcome, principal }) => [provider, method, resource, outcome, principal]),
  ).toEqual([
    ["daemon", "PUT", "skills/a", "invalid_request", "alpha"],
    ["daemon", "PUT", "skills/a%2Fb", "invalid_request", "alpha"],
    ["daemon", "PUT", "skills/a", "invalid_request", "alpha"],
    ["daemon", "PUT", "skills/a", "stale_write", "alpha"],
    ["memory", "DELETE", "skills/a", "not_supported", "alpha"],
    ["fallen", "DELETE", "agents/a", "adapter_offline", "alpha"],
    ["nobody", "DELETE", "agents/a", "not_found", "alpha"],
    ["daemon", "DELETE", "agents/none", "not_found", "alpha"],
    ["daemon", "DELETE", "agents/none", "scope_missing", "reader"],
  ]);
  expect(bridge.log.join("")).not.toMatch(/content-4711|secret-query/);
});

test.each([
  "/api/v2/gate%77ay/d%61emon/%73kills/%61%20b",
  "http://elsewhere/api/v2/gateway/daemon/skills/a%20b",
  "/api/v2/gateway/daemon/skills/a%20b?x=1",
])("the log contains the canonical path of the resource for the URL %s", async (path) => {
  const headers = { authorization: "Bearer secret-alpha", "content-type": "application/json" };
  const sent = httpRequest({ port: bridge.port, method: "PUT", path, headers }).end(`{"content":"${secret}"}`);
  const [response] = await once(sent, "response");
  response.resume();
  await once(response, "end");
  expect(bridge.audit()).toMatchObject([{ provider: "daemon", resource: "skills/a%20b" }]);
});

test("a write that fails because of a bug is logged; an unauthenticated one is not", async () => {
  bridge.hook.before = () => {
    throw new Error("a bug");
  };
  const headers = { authorization: "Bearer secret-alpha" };
  await fetch(`${bridge.url}/api/v2/gateway/daemon/agents/a`, { method: "DELETE", headers });
  expect(bridge.audit()).toEqual([line({ method: "DELETE", resource: "agents/a", outcome: "internal_error" })]);
  await bridge.gateway("DELETE", "daemon/agents/a", { token: null });
  expect(bridge.audit()).toHaveLength(1);
});

test("the rate limit applies to management routes", async () => {
  const reload = () => bridge.gateway("POST", "daemon/system/reload", { token: "manager" });
  for (let count = 0; count < 5; count += 1) expect((await reload()).status).toBe(200);
  expectProblem(await reload(), "too_many_requests");
  expect(bridge.audit().map(({ outcome }) => outcome)).toEqual([...Array(5).fill("done"), "too_many_requests"]);
});

test("a write whose client disconnects completes and is logged", async () => {
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  bridge.hook.before = (method) => {
    if (method !== "writeSkill") return;
    begun.resolve();
    return goOn.promise;
  };
  const path = "/api/v2/gateway/daemon/skills/left";
  const headers = { authorization: "Bearer secret-alpha", "content-type": "application/json" };
  const sent = httpRequest({ port: bridge.port, method: "PUT", path, headers });
  sent.on("error", () => {});
  sent.end('{"content":"x"}');
  await begun.promise;
  const closed = new Promise((resolve) => sent.once("close", resolve));
  sent.destroy();
  await closed;
  goOn.resolve();
  await expect.poll(() => bridge.audit()).toEqual([line({ method: "PUT", resource: "skills/left" })]);
  expect((await bridge.gateway("GET", "daemon/skills/left")).body.content).toBe("x");
});

/** Starts a server with the management routes only and a registry of one adapter. */
async function startRoutes({ limitMs = 60_000, before }: { limitMs?: number; before(method: string): Promise<void> | void }) {
  const adapter = { ...createInMemoryAdapter({ provider: "daemon" }), ...createInMemoryManager({ before }) };
  const health = { ...(await adapter.checkHealth()), status: "healthy" as const, checkedAt: 1 };
  const entry = { provider: "daemon", adapter, health };
  const registry: Pick<AdapterRegistry, "get" | "list" | "suspect"> = { get: () => entry, list: () => [entry], suspect() {} };
  const log: Record<string, unknown>[] = [];
  const logger = pino({ base: null }, { write: (text: string) => void log.push(JSON.parse(text)) });
  const dispatcher = { draining: false };
  const principal: Principal = { name: "alpha", tenant: "alpha", scopes: new Set(scopes), expiresAt: null };
  const server = await createBareServer({ tokens: { find: () => principal }, timeouts: { drainMs: 50 } });
  await server.register(gatewayRoutes, { registry, dispatcher, logger, limitMs, forward: async () => {} });
  const url = await server.listen({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => server.close());
  const call = async (method: string, target: string, body?: object, more: Record<string, string> = {}) => {
    const headers = { authorization: "Bearer any", ...(body && { "content-type": "application/json" }), ...more };
    const response = await fetch(`${url}/api/v2/gateway/daemon/${target}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
  };
  return { server, call, log, dispatcher, adapter };
}

test("a runtime that times out results in 503, and the late end of a write is logged", async () => {
  const goOn = Promise.withResolvers<void>();
  const { call, log } = await startRoutes({ limitMs: 50, before: (method) => (method === "readSkill" ? undefined : goOn.promise) });
  const read = await call("GET", "agents");
  expectProblem(read, "adapter_offline");
  expect(read.body.detail).toBe("The runtime behind daemon did not answer within 0.05 s.");
  const write = await call("PUT", "skills/a", { content: "x" });
  expectProblem(write, "adapter_offline");
  expect(write.body.detail).toContain("The outcome of the write is unknown. Read the current state");
  const outcomes = () => log.map(({ msg, outcome, resource }) => [msg, resource, outcome]);
  expect(outcomes()).toEqual([["gateway write", "skills/a", "adapter_offline"]]);
  goOn.resolve();
  await expect.poll(outcomes).toEqual([
    ["gateway write", "skills/a", "adapter_offline"],
    ["gateway write ended late", "skills/a", "done"],
  ]);
  expect(log[1]?.["requestId"]).toBe(log[0]?.["requestId"]);
});

test.each([
  ["PUT", {}],
  ["PUT", { "if-match": "*" }],
  ["DELETE", { "if-match": "*" }],
])("a %s with %j whose read hangs writes nothing after its time limit", async (method, headers) => {
  const goOn = Promise.withResolvers<void>();
  const { call, log, adapter } = await startRoutes({ limitMs: 50, before: (name) => (name === "readSkill" ? goOn.promise : undefined) });
  await adapter.writeSkill("a", "before");
  expectProblem(await call(method, "skills/a", method === "PUT" ? { content: "after" } : undefined, headers), "adapter_offline");
  goOn.resolve();
  await expect.poll(() => log.at(-1)?.["msg"]).toBe("gateway write ended late");
  expect((await adapter.readSkill("a"))?.content).toBe("before");
});

test("while Bridge drains, writes are rejected and reads continue", async () => {
  const { call, dispatcher, log } = await startRoutes({ before: async () => {} });
  dispatcher.draining = true;
  expectProblem(await call("POST", "agents", { id: "a" }), "draining");
  expect((await call("GET", "agents")).body.data).toEqual([]);
  expect(log.map(({ outcome }) => outcome)).toEqual(["draining"]);
});

test("a write that the shutdown interrupts is logged once", async () => {
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const before = () => {
    begun.resolve();
    return goOn.promise;
  };
  const { server, call, log } = await startRoutes({ before });
  const cut = call("DELETE", "agents/a").catch(() => "cut off");
  await begun.promise;
  await server.close();
  expect(await cut).toBe("cut off");
  expect(log.map(({ msg, outcome }) => [msg, outcome])).toEqual([["gateway write", "unknown"]]);
  goOn.resolve();
  await new Promise(setImmediate);
  expect(log).toHaveLength(1);
});

describe("the signal of a manager call", () => {
  /** Replaces a method by one that never resolves. Resolves with the signal of its call. */
  function hang(adapter: Awaited<ReturnType<typeof startRoutes>>["adapter"], method: "listAgents" | "reloadConfig"): Promise<AbortSignal> {
    const { promise, resolve } = Promise.withResolvers<AbortSignal>();
    adapter[method] = (call?: ManagerCall) => {
      if (call?.signal !== undefined) resolve(call.signal);
      return new Promise<never>(() => {});
    };
    return promise;
  }
  /** Sends a request whose client can be disconnected. */
  function leave(server: FastifyInstance, method: string, target: string): { disconnect(): void } {
    const { port } = server.server.address() as AddressInfo;
    const client = httpRequest({
      port,
      host: "127.0.0.1",
      method,
      path: `/api/v2/gateway/daemon/${target}`,
      headers: { authorization: "Bearer any" },
    });
    client.on("error", () => {});
    client.end();
    return { disconnect: () => void client.destroy() };
  }
  const before = () => {};

  test("the signal of a read is aborted when its client disconnects", async () => {
    const { server, adapter } = await startRoutes({ before });
    const called = hang(adapter, "listAgents");
    const client = leave(server, "GET", "agents");
    const signal = await called;
    expect(signal.aborted).toBe(false);
    client.disconnect();
    await expect.poll(() => signal.aborted).toBe(true);
  });

  test("the signal of a write is aborted when the server closes, not when its client disconnects", async () => {
    const { server, call, adapter } = await startRoutes({ before });
    const called = hang(adapter, "reloadConfig");
    const closed = new Promise((resolve) => server.server.once("connection", (socket) => socket.once("close", resolve)));
    const client = leave(server, "POST", "system/reload");
    const signal = await called;
    client.disconnect();
    await closed;
    expect((await call("GET", "agents")).status).toBe(200);
    expect(signal.aborted).toBe(false);
    await server.close();
    expect(signal.aborted).toBe(true);
  });

  test("the signal is aborted at the time limit, also for a write", async () => {
    const { call, adapter } = await startRoutes({ before, limitMs: 50 });
    const called = hang(adapter, "reloadConfig");
    expectProblem(await call("POST", "system/reload"), "adapter_offline");
    expect((await called).aborted).toBe(true);
  });
});
