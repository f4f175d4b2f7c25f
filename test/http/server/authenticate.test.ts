import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Scope } from "../../../src/access/principal.ts";
import { type Bridge, expectProblem, startBridge, type TokenName } from "../../support/start-bridge.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

/** Every route with its required scope. */
const routes: readonly [method: string, target: string, scope: Scope | "any" | null][] = [
  ["POST", "/api/v2/dispatch", "dispatch"],
  ["GET", "/api/v2/tasks", "read"],
  ["GET", "/api/v2/tasks/t1", "read"],
  ["GET", "/api/v2/tasks/t1/request", "read"],
  ["DELETE", "/api/v2/tasks/t1", "dispatch"],
  ["POST", "/api/v2/tasks/t1/cancel", "dispatch"],
  ["GET", "/api/v2/tasks/t1/events", "read"],
  ["GET", "/api/v2/tasks/t1/files", "read"],
  ["GET", "/api/v2/tasks/t1/files/a.md", "read"],
  ["GET", "/api/v2/tasks/t1/diff", "read"],
  ["GET", "/api/v2/tasks/t1/patch", "read"],
  ["GET", "/api/v2/workspaces", "read"],
  ["PUT", "/api/v2/workspaces/ag1/files/a.md", "dispatch"],
  ["DELETE", "/api/v2/workspaces/ag1/files/a.md", "dispatch"],
  ["GET", "/api/events", "read"],
  ["POST", "/api/v2/events/ticket", "read"],
  ["GET", "/api/v2/approvals", "read"],
  ["POST", "/api/v2/approvals/apr_1", "approve"],
  ["GET", "/api/v2/callbacks", "read"],
  ["GET", "/api/v2/callbacks/t1", "read"],
  ["POST", "/api/v2/callbacks/redeliver", "dispatch"],
  ["POST", "/api/v2/callbacks/t1/redeliver", "dispatch"],
  ["GET", "/api/v2/budgets", "read"],
  ["GET", "/api/v2/repositories", "read"],
  ["POST", "/api/v2/budgets/n1/adjust", "manage"],
  ["GET", "/api/v2/webhooks", "read"],
  ["GET", "/api/v2/webhooks/n1/deliveries", "read"],
  ["POST", "/api/v2/webhooks/n1/deliveries/msg_1/redeliver", "dispatch"],
  ["POST", "/api/v2/webhooks/n1/redeliver", "dispatch"],
  ["GET", "/api/v2/attention", "read"],
  ["POST", "/api/v2/attention/acknowledge", "dispatch"],
  ["GET", "/api/v2/adapters", "read"],
  ["GET", "/api/v2/domains", "read"],
  ["POST", "/api/v2/adapters/memory/check", "manage"],
  ["GET", "/api/v2/agents", "read"],
  ["POST", "/api/v2/dispatch/check", "dispatch"],
  ["GET", "/api/v2/stats", "read"],
  ["GET", "/api/v2/nodes", "read"],
  ["POST", "/api/v2/nodes/n1/drain", "manage"],
  ["DELETE", "/api/v2/nodes/n1", "manage"],
  ["GET", "/api/v2/gateway/memory", "manage"],
  ["GET", "/api/v2/gateway/memory/agents", "manage"],
  ["POST", "/api/v2/gateway/memory/agents", "manage"],
  ["GET", "/api/v2/gateway/memory/agents/ag1", "manage"],
  ["PATCH", "/api/v2/gateway/memory/agents/ag1", "manage"],
  ["DELETE", "/api/v2/gateway/memory/agents/ag1", "manage"],
  ["GET", "/api/v2/gateway/memory/agents/ag1/files", "manage"],
  ["GET", "/api/v2/gateway/memory/agents/ag1/files/n1", "manage"],
  ["PUT", "/api/v2/gateway/memory/agents/ag1/files/n1", "manage"],
  ["DELETE", "/api/v2/gateway/memory/agents/ag1/files/n1", "manage"],
  ["GET", "/api/v2/gateway/memory/agents/ag1/bindings", "manage"],
  ["PUT", "/api/v2/gateway/memory/agents/ag1/bindings", "manage"],
  ["GET", "/api/v2/gateway/memory/skills", "manage"],
  ["GET", "/api/v2/gateway/memory/skills/n1", "manage"],
  ["PUT", "/api/v2/gateway/memory/skills/n1", "manage"],
  ["DELETE", "/api/v2/gateway/memory/skills/n1", "manage"],
  ["POST", "/api/v2/gateway/memory/skills/n1/dependencies", "manage"],
  ["POST", "/api/v2/gateway/memory/system/reload", "manage"],
  ["GET", "/api/v2/gateway/memory/system/models", "manage"],
  ["GET", "/api/v2/gateway/memory/system/security", "manage"],
  ["GET", "/api/v2/me", "any"],
  ["POST", "/api/v2/sessions/link", "any"],
  ["DELETE", "/api/v2/sessions/current", "any"],
  ["POST", "/api/v2/sessions", null],
  ["GET", "/ws/bridge", "any"],
  ["GET", "/metrics", "metrics"],
  ["GET", "/healthz", null],
  ["GET", "/health", null],
  ["GET", "/readyz", null],
  ["GET", "/", null],
  ["GET", "/openapi.json", null],
  ["GET", "/openapi.yaml", null],
  ["GET", "/favicon.ico", null],
  ["GET", "/docs", null],
  ["GET", "/docs/static/swagger-ui.css", null],
];

test("the table of the test has every route", async () => {
  const { paths } = (await bridge.call("GET", "/openapi.json", { token: null })).body;
  const described = Object.entries(paths as Record<string, object>).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const parameters = {
    ...{ t1: "{taskId}", "a.md": "{path}", apr_1: "{approvalId}", memory: "{provider}", ag1: "{agentId}", n1: "{name}" },
    msg_1: "{deliveryId}",
  };
  const known = routes.map(([method, target]) => {
    const segments = target.split("/").map((segment) => parameters[segment as keyof typeof parameters] ?? segment);
    return `${method} ${segments.join("/")}`;
  });
  expect(described.filter((route) => !known.includes(route))).toEqual([]);
});

describe.each(routes)("%s %s", (method, target, scope) => {
  const call = (token: TokenName | null, headers: Record<string, string> = {}) => bridge.call(method, target, { token, headers });

  if (scope === null) {
    test("the route needs no token", async () => expect((await call(null)).status).not.toBe(401));
    return;
  }

  test("the route rejects requests without a valid token", async () => {
    expectProblem(await call(null), "unauthenticated");
    expectProblem(await call("expired"), "unauthenticated");
    for (const authorization of [
      "Bearer",
      "Bearer ",
      "Bearer wrong",
      "Basic c2VjcmV0LWFscGhh",
      "secret-alpha",
      "Bearer secret-alpha extra",
      "Bearer secret-alphä",
    ]) {
      expectProblem(await call(null, { authorization: Buffer.from(authorization).toString("latin1") }), "unauthenticated");
    }
  });

  test("the route rejects a token in the query, even if the header has a valid token", async () => {
    for (const query of ["token=secret-alpha", "access_token=secret-alpha"]) {
      expectProblem(await bridge.call(method, `${target}?${query}`, { token: null }), "unauthenticated");
      expectProblem(await bridge.call(method, `${target}?${query}`), "unauthenticated");
    }
  });

  if (scope === "any") {
    test("the route accepts a token with any scope", async () => {
      // The WebSocket accepts the token before it requires an upgrade. The request has no session that could be ended.
      const statuses = { "GET /ws/bridge": 426, "POST /api/v2/sessions/link": 201, "DELETE /api/v2/sessions/current": 404 };
      const expected = statuses[`${method} ${target}` as keyof typeof statuses] ?? 200;
      for (const token of ["scraper", "reader"] as const) expect((await call(token)).status).toBe(expected);
    });
    return;
  }

  test("the error names the missing scope", async () => {
    const others = (["reader", "dispatcher", "scraper"] as const).filter(
      (name) => ({ reader: "read", dispatcher: "dispatch", scraper: "metrics" })[name] !== scope,
    );
    for (const token of others) {
      const refused = await call(token);
      expectProblem(refused, "scope_missing");
      expect(refused.body.detail).toContain(`"${scope}"`);
      expect(refused.body.detail).toContain(`add the scope to the token "${token}"`);
    }
  });
});

test("the name of the authentication scheme is case-insensitive", async () => {
  for (const scheme of ["bearer", "BEARER"]) {
    expect(
      (await bridge.call("GET", "/api/v2/adapters", { token: null, headers: { authorization: `${scheme} secret-alpha` } })).status,
    ).toBe(200);
  }
});

describe("tickets", () => {
  const mint = async () => (await bridge.call("POST", "/api/v2/events/ticket", { token: "reader" })).body.ticket as string;
  const open = async (target: string) => {
    const response = await fetch(bridge.url + target);
    await response.body?.cancel();
    return response.status;
  };

  test("a ticket opens an event stream or a WebSocket once, and no other route", async () => {
    const ticket = await mint();
    for (const [method, target, scope] of routes) {
      if (scope === null || target === "/api/events" || target === "/ws/bridge") continue;
      expectProblem(await bridge.call(method, `${target}?ticket=${ticket}`, { token: null }), "unauthenticated");
    }
    expect(await open(`/api/events?ticket=${ticket}`)).toBe(200);
    expect(await open(`/api/events?ticket=${ticket}`)).toBe(401);
    expect(await open(`/ws/bridge?ticket=${await mint()}`)).toBe(426);
    expect(await open("/api/events?ticket=made-up")).toBe(401);
    expect(await open(`/api/events?ticket=${await mint()}&ticket=${await mint()}`)).toBe(401);
  });
});

test("revoking a token ends its streams and tickets and no others", async () => {
  const file = path.join(await temporaryDirectory(), "tokens.json");
  const keep = (...names: TokenName[]) =>
    writeFile(
      file,
      JSON.stringify(
        names.map((name) => ({
          name,
          tenant: "alpha",
          sha256: createHash("sha256").update(`secret-${name}`).digest("hex"),
          scopes: ["read", "dispatch"],
        })),
      ),
    );
  await keep("alpha", "reader");
  const other = await startBridge({ BRIDGE_TOKENS_FILE: file });
  try {
    const open = (token: TokenName) => fetch(`${other.url}/api/events`, { headers: { authorization: `Bearer secret-${token}` } });
    const mint = async (token: TokenName) => (await other.call("POST", "/api/v2/events/ticket", { token })).body.ticket as string;
    const redeem = async (ticket: string) => {
      const response = await fetch(`${other.url}/api/events?ticket=${ticket}`);
      await response.body?.cancel();
      return response.status;
    };
    const [gone, kept] = [await open("alpha"), await open("reader")];
    const tickets = [await mint("alpha"), await mint("reader")] as const;

    await keep("reader");
    expect((await gone.text()).split("\n\n").at(-2)).toBe('event: stream.closing\ndata: {"reason":"token_withdrawn"}');
    expect([await redeem(tickets[0]), await redeem(tickets[1])]).toEqual([401, 200]);
    expectProblem(await other.call("GET", "/api/v2/tasks"), "unauthenticated");

    await other.dispatch({}, { token: "reader" });
    let received = "";
    for await (const piece of kept.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      received += piece;
      if (received.includes("event: execution.completed")) break;
    }
    expect(received).not.toContain("stream.closing");
  } finally {
    await other.close();
  }
});

test("a ticket can be created without a body and rejects unknown fields", async () => {
  for (const [target, body, path] of [
    ["/api/v2/events/ticket?seconds=600", undefined, "seconds"],
    ["/api/v2/events/ticket", { seconds: 600 }, "seconds"],
  ] as const) {
    const refused = await bridge.call("POST", target, { body });
    expectProblem(refused, "invalid_request");
    expect(refused.body.errors.map((fault: { path: string }) => fault.path)).toEqual([path]);
  }
  for (const body of [undefined, {}]) expect((await bridge.call("POST", "/api/v2/events/ticket", { body })).status).toBe(201);
});

test("the body of an unauthenticated request is not read, so the response is sent before the body is complete", async () => {
  const socket = connect(bridge.port, "127.0.0.1");
  socket.write(
    "POST /api/v2/dispatch HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\nConnection: close\r\n\r\n{",
  );
  let answer = "";
  for await (const chunk of socket) {
    answer += chunk;
    if (answer.includes("unauthenticated")) break;
  }
  expect(answer).toMatch(/^HTTP\/1\.1 401 /);
});

test("the body of an unauthenticated request is not parsed", async () => {
  for (const [body, type] of [
    ["{", "application/json"],
    ["x", "text/csv"],
    ["x".repeat(9_000_000), "application/json"],
  ]) {
    const refused = await bridge.call("POST", "/api/v2/dispatch", { token: null, body, headers: { "content-type": type ?? "" } });
    expectProblem(refused, "unauthenticated");
  }
});

test("neither tokens nor tickets reach the log", async () => {
  const ticket = (await bridge.call("POST", "/api/v2/events/ticket")).body.ticket as string;
  await bridge.call("GET", `/api/v2/tasks?ticket=${ticket}`);
  await bridge.call("GET", `/nothing?token=secret-alpha&ticket=${ticket}`);
  await bridge.call("POST", "/api/v2/dispatch", { body: "{" });
  const socket = connect(bridge.port, "127.0.0.1");
  socket.end("GET /api/events?ticket=secret-ticket HTTP/9.9\r\nAuthorization: Bearer secret-alpha\r\n\r\n");
  expect(await text(socket)).toContain("400");
  const log = bridge.log.join("");
  for (const secret of ["secret-", ticket]) expect(log).not.toContain(secret);
});
