import { request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ManagementError } from "#contract";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { createInMemoryManager } from "../../adapters/in-memory-manager.ts";
import { type Call, expectProblem, startBridge } from "../../support/start-bridge.ts";
import { type GatewayBridge, startGatewayBridge } from "./gateway-bridge.ts";

let bridge: GatewayBridge;
beforeAll(async () => {
  bridge = await startGatewayBridge();
});
afterEach(() => {
  bridge.hook.before = () => {};
  bridge.log.length = 0;
});
afterAll(() => bridge.close());

const ask = (method: string, target: string, options?: Call) => bridge.gateway(method, `daemon${target}`, options);
const patience = { timeout: 15_000 };
const put = (target: string, content: string) => ask("PUT", target, { body: { content } });

describe("an adapter with bugs", () => {
  test.each<[what: string, thrown: unknown]>([
    ["an error", new Error("key-4711 in /srv/secret")],
    ["an error with an HTTP status", Object.assign(new Error("key-4711"), { statusCode: 404 })],
    [
      "an error that looks like a validation error of Fastify",
      Object.assign(new Error("key-4711"), { validation: [], code: "FST_ERR_BAD_URL" }),
    ],
    ["a frozen error", Object.freeze(new Error("key-4711"))],
    ["a text", "key-4711"],
    ["nothing", undefined],
  ])("an adapter that throws %s causes an internal error whose details are only logged", async (_, thrown) => {
    bridge.hook.before = () => {
      throw thrown;
    };
    // Without the helper, which rejects undocumented responses.
    const headers = { authorization: "Bearer secret-alpha" };
    for (const method of ["GET", "DELETE"]) {
      const answer = await fetch(`${bridge.url}/api/v2/gateway/daemon/skills/a`, { method, headers });
      const body = await answer.text();
      expect([answer.status, JSON.parse(body).code]).toEqual([500, "internal_error"]);
      expect(body).not.toMatch(/4711|srv/);
    }
    const faults = bridge.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "request failed");
    expect(faults.map(({ method }) => method)).toEqual(["GET", "DELETE"]);
    expect(JSON.stringify(faults)).toContain(thrown === undefined ? "undefined" : "4711");
    expect(bridge.audit().map(({ outcome }) => outcome)).toEqual(["internal_error"]);
  });

  test("a ManagementError that is thrown synchronously is returned with its message", async () => {
    const provider = "hasty";
    const listSkills = (): never => {
      throw new ManagementError("conflict", "The message of the manager.");
    };
    const adapter = { ...createInMemoryAdapter({ provider }), ...createInMemoryManager(), listSkills };
    const hasty = await startBridge({}, { adapters: [{ provider, adapter }] });
    const isChecked = async () => (await hasty.call("GET", "/api/v2/gateway/hasty")).status;
    await expect.poll(isChecked, patience).toBe(200);
    const refused = await hasty.call("GET", "/api/v2/gateway/hasty/skills");
    expectProblem(refused, "invalid_state");
    expect(refused.body.detail).toBe("The message of the manager.");
    await hasty.close();
  });

  test("an adapter is not called before it is initialized", async () => {
    const provider = "slow";
    const begun = Promise.withResolvers<void>();
    const called: string[] = [];
    const manager = createInMemoryManager({ before: (method) => void called.push(method) });
    const base = createInMemoryAdapter({ provider });
    const initialize: typeof base.initialize = (config) => begun.promise.then(() => base.initialize(config));
    const adapter = { ...base, ...manager, initialize };
    const slow = await startBridge({}, { adapters: [{ provider, adapter }] });
    expectProblem(await slow.call("GET", "/api/v2/gateway/slow/skills"), "adapter_offline");
    expect(called).toEqual([]);
    begun.resolve();
    await expect.poll(async () => (await slow.call("GET", "/api/v2/gateway/slow/skills")).status, patience).toBe(200);
    await slow.close();
  });
});

describe("hostile input", () => {
  /** Sends a path without normalizing it, unlike fetch. */
  const raw = (method: string, target: string) =>
    new Promise<{ status: number | undefined; code: string }>((resolve, reject) => {
      const path = `/api/v2/gateway/daemon${target}`;
      const sent = httpRequest({ port: bridge.port, method, path, headers: { authorization: "Bearer secret-alpha" } }, async (response) => {
        resolve({ status: response.statusCode, code: JSON.parse(await text(response)).code });
      });
      sent.on("error", reject).end();
    });

  test.each([
    ...["/agents/..", "/agents/.", "/agents/a%2Fb", "/agents/..%2F..%2Fetc", "/agents/a%00", "/agents/a%20b", "/agents/%C3%A9"],
    ...["/agents/a.b", `/agents/${"a".repeat(129)}`],
    ...["/agents/a/files/..", "/agents/a/files/.", "/agents/a/files/...", "/agents/a/files/..%2Fx", "/agents/a/files/%2Fetc%2Fpasswd"],
    ...["/agents/a/files/a%5Cb", "/agents/a/files/a%00b", "/agents/a/files/a%0Ab", "/agents/a/files/%7F"],
    ...["/skills/..", "/skills/%2e%2e", "/skills/a%2F..%2Fb", "/skills/a%0D%0Ax", `/skills/${"a".repeat(129)}`],
  ])("the name in %s is rejected before it reaches an adapter", async (target) => {
    const called: string[] = [];
    bridge.hook.before = (method) => void called.push(method);
    for (const method of ["GET", "DELETE"]) expect(await raw(method, target)).toEqual({ status: 400, code: "invalid_request" });
    expect(called).toEqual([]);
  });

  test.each(["/agents/%ff", "/agents/%", "/skills/%c0%ae"])("%s is rejected as a malformed URL", async (target) => {
    expect((await raw("GET", target)).status).toBe(400);
  });

  test("a name can contain other characters", async () => {
    const name = "Grüße an 世界 (1).md";
    expect((await put(`/skills/${encodeURIComponent(name)}`, "x")).status).toBe(201);
    expect((await ask("GET", `/skills/${encodeURIComponent(name)}`)).body.name).toBe(name);
  });

  test.each([
    ["PUT", "/skills/a", {}, "content"],
    ["PUT", "/skills/a", { content: 1 }, "content"],
    ["PUT", "/skills/a", { content: "x", etag: "y" }, "etag"],
    ["PUT", "/skills/a", '{"content":"\\ud800"}', "content"],
    ["POST", "/agents", { id: "../a" }, "id"],
    ["POST", "/agents", { name: "a" }, "id"],
    ["POST", "/agents", { id: "a", model: "a\nb" }, "model"],
    ["POST", "/agents", '{"id":"a","__proto__":{"b":1}}', "__proto__"],
    ["POST", "/agents", '{"id":"a","tools":{"__proto__":{"b":1}}}', "tools.__proto__"],
    ["PATCH", "/agents/a", {}, ""],
    ["PATCH", "/agents/a", { id: "b" }, ""],
    ["PATCH", "/agents/a", [], ""],
    ["PUT", "/agents/a/bindings", { bindings: ["x"] }, "bindings.0"],
    ["POST", "/system/reload", { now: true }, "now"],
  ])("%s %s %j is rejected with the name of the field", async (method, target, body, path) => {
    const refused = await ask(method, target, { body });
    expectProblem(refused, "invalid_request");
    expect(refused.body.errors.map((fault: { path: string }) => fault.path)).toEqual([path]);
  });

  test("content of more than 1 MiB is rejected, but 1 MiB of control characters is accepted", async () => {
    const limit = 1024 ** 2;
    expectProblem(await put("/skills/large", "é".repeat(limit / 2 + 1)), "too_large");
    const most = "\u0001".repeat(limit);
    expect((await put("/skills/large", most)).status).toBe(201);
    expect((await ask("GET", "/skills/large")).body.content).toBe(most);
  });
});
