import { describe, expect, test } from "vitest";
import { z } from "zod";
import { scopes } from "../../src/access/principal.ts";
import { BridgeError } from "../../src/errors.ts";
import { defineOp, type Op } from "../../src/websocket/op.ts";
import { createOpHandler } from "../../src/websocket/op-handler.ts";
import type { OpRequest } from "../../src/websocket/op-protocol.ts";
import { ok } from "../../src/websocket/responses.ts";
import { createIdleOps } from "./idle-ops.ts";

// Tests the ops without a socket.
const logged: unknown[] = [];
const logger = { error: (...line: unknown[]) => void logged.push(line) };

function request(op: string, payload: Record<string, unknown> = {}, granted: readonly string[] = scopes): OpRequest {
  const principal = { name: "ada", scopes: new Set(granted) };
  return { op, payload, meta: { requestId: "r", tenant: "alpha", principal, timestamp: 0, attributes: {} } };
}

const failing = (error: unknown): Op =>
  defineOp({ name: "test.fail", scope: "read", payload: z.strictObject({}), handle: () => Promise.reject(error) });

describe("the list of ops", () => {
  const ops = createIdleOps();
  const handler = createOpHandler({ ops, logger });

  test("the list has every op once, as namespace and verb, with its scope", () => {
    expect(ops.map(({ name, scope }) => [name, scope])).toEqual([
      ["agent.run", "dispatch"],
      ["agent.cancel", "dispatch"],
      ["agent.status", "read"],
      ["agent.result", "read"],
      ["agent.events", "read"],
      ["tool.approve", "approve"],
      ["workspace.list", "read"],
    ]);
    for (const { name } of ops) expect(name).toMatch(/^[a-z]+\.[a-z]+$/);
  });

  test.each(ops.map(({ name, scope }) => [name, scope] as const))(
    "%s requires the scope %s before its payload is validated",
    async (name, scope) => {
      const others = scopes.filter((other) => other !== scope);
      expect(await handler.handle(request(name, { nonsense: true }, others))).toEqual({
        status: 403,
        payload: {
          error: "scope_missing",
          detail: {
            message: `${name} requires a token with the scope "${scope}". Use another token, or have Bridge's operator add the scope to the token "ada".`,
          },
        },
      });
    },
  );

  test.each(ops.filter(({ name }) => name !== "agent.run").map(({ name }) => name))("%s rejects unknown fields by name", async (name) => {
    const { status, payload } = await handler.handle(request(name, { nonsense: true }));
    expect([status, payload["error"]]).toEqual([400, "invalid-request"]);
    expect((payload["detail"] as { errors: unknown[] }).errors).toContainEqual({
      path: "nonsense",
      message: "is not a known field; remove it or correct its spelling",
    });
  });

  test.each([
    "agent.stop",
    "agent",
    "",
    " agent.run",
    "AGENT.RUN",
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "agent.run.v2",
  ])("the op %j is not found", async (name) => {
    expect(await handler.handle(request(name))).toEqual({ status: 404, payload: { op: name, error: "operation-not-found" } });
  });
});

test("a new op is one entry of the list", async () => {
  const row = defineOp({
    name: "test.add",
    scope: "read",
    payload: z.strictObject({ left: z.number(), right: z.number() }),
    handle: async ({ left, right }, { tenant }) => ok({ sum: left + right, tenant }),
  });
  const handler = createOpHandler({ ops: [row], logger });
  expect(await handler.handle(request("test.add", { left: 1, right: 2 }))).toEqual({ status: 200, payload: { sum: 3, tenant: "alpha" } });
  expect(await handler.handle(request("test.add", { left: "1" }))).toEqual({
    status: 400,
    payload: {
      error: "invalid-request",
      detail: {
        message: "The payload is not valid.",
        errors: [
          { path: "left", message: "must be a number" },
          { path: "right", message: "is required (number)" },
        ],
      },
    },
  });
});

test("an error has its status over HTTP, its code, and the other fields as detail", async () => {
  const refusal = new BridgeError("queue_full", "The queue is full.", { errors: [{ path: "a.b", message: "is wrong" }] });
  expect(await createOpHandler({ ops: [failing(refusal)], logger }).handle(request("test.fail"))).toEqual({
    status: 503,
    payload: {
      error: "queue_full",
      detail: { message: "The queue is full.", errors: [{ path: "a.b", message: "is wrong" }], retryAfterSeconds: 5 },
    },
  });
  expect(logged).toEqual([]);
});

test("an error with an internal cause is logged", async () => {
  const refusal = new BridgeError("storage_unavailable", "Nothing can be stored.", { cause: new Error("disk") });
  expect((await createOpHandler({ ops: [failing(refusal)], logger }).handle(request("test.fail"))).status).toBe(503);
  expect(logged).toHaveLength(1);
});

test.each([new Error("a bug"), new BridgeError("internal_error", "A bug.")])(
  "an unexpected error is passed to the transport: %s",
  async (error) => {
    await expect(createOpHandler({ ops: [failing(error)], logger }).handle(request("test.fail"))).rejects.toBe(error);
  },
);

test("a run is rejected before validation while Bridge stops or is overloaded", async () => {
  const ops = createIdleOps({
    checkCanStart() {
      throw new BridgeError("overloaded", "Bridge is overloaded.");
    },
  });
  const { status, payload } = await createOpHandler({ ops, logger }).handle(request("agent.run", { nonsense: true }));
  expect([status, payload["error"]]).toEqual([503, "overloaded"]);
});
