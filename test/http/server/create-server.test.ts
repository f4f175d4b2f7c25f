import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createReceiveDispatch } from "../../../src/dispatch/receive-dispatch.ts";
import { dispatchRoutes } from "../../../src/http/routes/dispatch.ts";
import { type ServerOptions, serverTimeouts } from "../../../src/http/server/create-server.ts";
import { createOverloadMonitor } from "../../../src/http/server/overload-monitor.ts";
import { problemSchema } from "../../../src/http/wire/problem.ts";
import { createRequestRates } from "../../../src/http/wire/request-rates.ts";
import { loneRates } from "../../../src/http/wire/shared-rates.ts";
import { createMetrics } from "../../../src/metrics.ts";
import { createDescribedDispatchSchema } from "../../../src/requests/dispatch-schema.ts";
import { createDispatchParser } from "../../../src/requests/parse-dispatch.ts";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";
import { askUntil } from "../../support/until.ts";
import { createBareServer } from "../bare-server.ts";

const principal = { name: "tester", tenant: "default", scopes: new Set(["read", "dispatch"] as const), expiresAt: null };

/** Starts the bare server with a few routes. */
async function startServer(
  options: Partial<ServerOptions> = {},
  register: (app: FastifyInstance) => void = () => {},
): Promise<{ app: FastifyInstance; port: number; url: string; log: string[] }> {
  const log: string[] = [];
  const app = await createBareServer({
    logger: pino({}, { write: (line: string) => void log.push(line) }),
    tokens: { find: (token) => (token === "good" ? principal : { ...principal, name: token }) },
    ...options,
  });
  app.get("/api/read", { config: { scope: "read" } }, async () => ({ ok: true }));
  app.post("/api/echo", { config: { scope: "dispatch" } }, async (request) => ({ body: request.body ?? null }));
  app.post("/api/other", { config: { scope: "dispatch" } }, async () => ({ ok: true }));
  app.get("/api/broken", { config: { scope: "read" } }, async () => {
    throw new Error("SELECT secret FROM /var/lib/bridge");
  });
  app.get("/api/unscoped", {}, async () => ({ ok: true }));
  register(app);
  const url = await app.listen({ host: "127.0.0.1", port: 0, listenTextResolver: () => "" });
  onTestFinished(() => app.close());
  return { app, url, port: Number(new URL(url).port), log };
}

const send = async (url: string, init: RequestInit = {}) => {
  const response = await fetch(url, { ...init, headers: { authorization: "Bearer good", ...(init.headers as Record<string, string>) } });
  const body = await response.text();
  return { status: response.status, headers: response.headers, body: body === "" ? undefined : JSON.parse(body) };
};

/** Sends raw bytes and reads until the server closes the connection. */
async function sendRaw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(bytes, "latin1");
  return answerOn(socket);
}

/** Reads until the connection is closed, even while the client still sends. */
function answerOn(socket: Socket): Promise<string> {
  let answer = "";
  socket.on("data", (piece) => {
    answer += piece;
  });
  socket.on("error", () => {});
  return new Promise((resolve) => socket.once("close", () => resolve(answer)));
}

const bodyOf = (answer: string) => problemSchema.parse(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4)));

describe("a whole Bridge", () => {
  let bridge: Bridge;
  beforeAll(async () => {
    bridge = await startBridge();
  });
  afterAll(() => bridge.close());

  test.each([
    ["POST", "/api/v2/tasks", "GET, HEAD"],
    ["PUT", "/api/v2/tasks/t1", "DELETE, GET, HEAD"],
    ["GET", "/api/v2/workspaces/a/files/b", "DELETE, PUT"],
    ["POST", "/api/v2/workspaces", "GET, HEAD"],
    ["POST", "/", "GET, HEAD"],
    ["GET", "/api/v2/dispatch", "POST"],
    ["PUT", "/api/v2/tasks/t1/cancel", "POST"],
    ["OPTIONS", "/api/v2/dispatch", "POST"],
    ["PATCH", "/healthz", "GET, HEAD"],
    ["HEAD", "/api/events", "GET"],
  ])("%s %s results in 405 with the allowed methods", async (method, target, allow) => {
    const refused = await bridge.call(method, target, { token: null });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, allow]);
    if (method === "HEAD") return;
    expectProblem(refused, "method_not_allowed");
    expect(refused.body.detail).toBe(`This path does not support ${method}. Allowed: ${allow}.`);
  });

  test.each([
    "/nothing",
    "/api/v2",
    "/api/v2/Tasks",
    "/api/v2/dispatch/",
    "//api/v2/dispatch",
    "/api/v3/dispatch",
    "/docs/../secret",
    "/docs/static/nothing.js",
  ])("the unknown path %s results in 404, with or without a token", async (target) => {
    for (const token of ["alpha", null] as const) expectProblem(await bridge.call("GET", target, { token }), "not_found");
  });

  test.each(["/%zz", "/api/v2/tasks/%", "/api/v2/tasks/%ff"])(
    "the path %s results in 400 because of its percent-encoding",
    async (target) => {
      expectProblem(await bridge.call("GET", target), "invalid_request");
    },
  );

  test("every response has a request id, which is the client's own if it sent one", async () => {
    for (const target of ["/healthz", "/api/v2/tasks", "/nothing", "/%zz"]) {
      const own = await bridge.call("GET", target, { headers: { "x-request-id": "my-id" } });
      expect(own.headers.get("x-request-id")).toBe("my-id");
      const made = await bridge.call("GET", target, { headers: { "x-request-id": "x".repeat(129) } });
      expect(made.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test("responses have the security headers, and the page at /docs works with them", async () => {
    const { headers } = await bridge.call("GET", "/docs", { token: null });
    const policy = headers.get("content-security-policy")?.split("; ");
    expect(policy).toEqual(expect.arrayContaining(["default-src 'self'", "script-src 'self'", "object-src 'none'"]));
    expect(policy).not.toContain("upgrade-insecure-requests");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    const script = await bridge.call("GET", "/docs/static/swagger-initializer.js", { token: null });
    expect([script.status, script.headers.get("content-type")]).toEqual([200, "application/javascript; charset=utf-8"]);
  });

  test("browsers of other origins are not allowed, and responses are not cached", async () => {
    const headers = { origin: "https://elsewhere.example", "access-control-request-method": "POST" };
    for (const [method, target] of [
      ["GET", "/api/v2/tasks"],
      ["POST", "/api/v2/events/ticket"],
      ["OPTIONS", "/api/v2/dispatch"],
      ["GET", "/healthz"],
      ["GET", "/docs"],
    ] as const) {
      const names = [...(await bridge.call(method, target, { headers })).headers.keys()];
      expect(names.filter((name) => name === "set-cookie" || name.startsWith("access-control-"))).toEqual([]);
    }
  });

  test("the OpenAPI document is version 3.1 without dangling references", async () => {
    const { body, text: json } = await bridge.call("GET", "/openapi.json", { token: null });
    expect(body.openapi).toBe("3.1.0");
    const references = [...json.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name);
    expect(references.length).toBeGreaterThan(10);
    expect(references.filter((name) => body.components.schemas[name ?? ""] === undefined)).toEqual([]);
    expect(json).not.toContain("x-fastify");
    for (const [path, operations] of Object.entries(
      body.paths as Record<string, Record<string, { summary?: string; responses: object }>>,
    )) {
      for (const [method, { summary, responses }] of Object.entries(operations))
        expect([path, method, summary, Object.keys(responses)]).not.toContain(undefined);
    }
    expect(body.paths["/api/v2/dispatch"].post.requestBody.required).toBe(true);
    expect(body.paths["/api/v2/events/ticket"].post.requestBody.required).toBe(false);
    expect(body.paths["/api/v2/tasks/{taskId}/cancel"].post).not.toHaveProperty("requestBody");
  });
});

describe("bodies", () => {
  test.each([
    ["text/plain", "{}", 415, "unsupported_media_type"],
    ["application/x-www-form-urlencoded", "a=1", 415, "unsupported_media_type"],
    ["application/problem+json", "{}", 415, "unsupported_media_type"],
    ["nonsense", "{}", 415, "unsupported_media_type"],
    ["application/json", "{", 400, "invalid_request"],
    ["application/json", "{} {}", 400, "invalid_request"],
    ["application/json", `"${"x".repeat(1023)}"`, 413, "too_large"],
    ["application/json", "\ufeff{}", 400, "invalid_request"],
    ["application/json", Buffer.from('"\xe4"', "latin1"), 400, "invalid_request"],
    ["application/json; charset=latin1", Buffer.from('"\xe4"', "latin1"), 415, "unsupported_media_type"],
    ["application/json; charset=ISO-8859-1", "{}", 415, "unsupported_media_type"],
    ['application/json;charset="utf-16"', "{}", 415, "unsupported_media_type"],
  ])("the body %s with %s results in %i", async (type, body, status, code) => {
    const { url } = await startServer();
    const refused = await send(`${url}/api/echo`, { method: "POST", body, headers: { "content-type": type } });
    expect(refused.status).toBe(status);
    expectProblem(refused, code as "too_large");
  });

  test("a body may declare UTF-8", async () => {
    const { url } = await startServer();
    for (const charset of ["utf-8", "UTF8", '"utf-8"', "utf-8; profile=x"]) {
      const headers = { "content-type": `application/json; charset=${charset}` };
      expect((await send(`${url}/api/echo`, { method: "POST", body: "{}", headers })).status).toBe(200);
    }
  });

  test("a body with Content-Encoding results in 415", async () => {
    const { url } = await startServer();
    for (const encoding of ["gzip", "br", "identity, gzip"]) {
      const headers = { "content-type": "application/json", "content-encoding": encoding };
      expectProblem(await send(`${url}/api/echo`, { method: "POST", body: "{}", headers }), "unsupported_media_type");
    }
  });

  test("a chunked body that is too large is rejected", async () => {
    const { port } = await startServer();
    const chunk = `400\r\n${"x".repeat(1024)}\r\n`;
    const answer = await sendRaw(
      port,
      `POST /api/echo HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}${chunk}0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(bodyOf(answer).code).toBe("too_large");
  });

  test("JSON with any valid content type is parsed, and a missing body is null", async () => {
    const { url } = await startServer();
    const echo = (body: string | undefined, type: string) =>
      send(`${url}/api/echo`, { method: "POST", ...(body === undefined ? {} : { body }), headers: { "content-type": type } });
    expect((await echo('{"a":"é"}', "application/json; charset=utf-8")).body).toEqual({ body: { a: "é" } });
    expect((await echo(" [1] ", "Application/JSON")).body).toEqual({ body: [1] });
    const largest = "x".repeat(1022);
    expect((await echo(`"${largest}"`, "application/json")).body).toEqual({ body: largest });
    expect((await echo("", "application/json")).body).toEqual({ body: null });
    expect((await echo(undefined, "application/json")).body).toEqual({ body: null });
    const plain = { "content-type": "application/json", "content-encoding": "Identity" };
    expect((await send(`${url}/api/echo`, { method: "POST", body: "[2]", headers: plain })).body).toEqual({ body: [2] });
  });
});

describe("malformed HTTP", () => {
  const get = "GET /api/read HTTP/1.1\r\nHost: a\r\n";
  test.each<[string, string, number, string]>([
    ["text that is not HTTP", "hello\r\n\r\n", 400, "invalid_request"],
    ["an unknown method", "FLY / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "invalid_request"],
    ["an unknown version", "GET / HTTP/9.9\r\nHost: a\r\n\r\n", 400, "invalid_request"],
    ["a header without a colon", `${get}nonsense\r\n\r\n`, 400, "invalid_request"],
    ["a NUL in a header", `${get}x: a\0b\r\n\r\n`, 400, "invalid_request"],
    ["a Content-Length that is not a number", `POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n`, 400, "invalid_request"],
    [
      "Content-Length and Transfer-Encoding",
      `POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`,
      400,
      "invalid_request",
    ],
    ["no Host", "GET /api/read HTTP/1.1\r\nConnection: close\r\n\r\n", 400, "invalid_request"],
    ["a second Host", `${get}Host: a\r\nConnection: close\r\n\r\n`, 400, "invalid_request"],
    ["a second Host that differs", `${get}hOST: b\r\nConnection: close\r\n\r\n`, 400, "invalid_request"],
    ["too large headers", `${get}x: ${"x".repeat(70_000)}\r\n\r\n`, 431, "headers_too_large"],
    ["a too long URL", `GET /${"x".repeat(70_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431, "headers_too_large"],
    ["a NUL in the URL", "GET /api\0/read HTTP/1.1\r\nHost: a\r\n\r\n", 400, "invalid_request"],
    ["a byte beyond ASCII in the URL", "GET /api/\xe4 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "invalid_request"],
    [
      "two Content-Length headers",
      "POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
      400,
      "invalid_request",
    ],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "invalid_request"],
  ])("malformed HTTP results in a problem: %s", async (_, bytes, status, code) => {
    const { port } = await startServer();
    const answer = await sendRaw(port, bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    for (const header of ["content-type: application/problem+json", "cache-control: no-store", "connection: close"])
      expect(answer.toLowerCase()).toContain(`\r\n${header}`);
    const problem = bodyOf(answer);
    expect([problem.code, problem.status]).toEqual([code, status]);
    expect(answer.toLowerCase()).toContain(`x-request-id: ${problem.requestId}`);
  });

  const authorized = "Host: a\r\nAuthorization: Bearer good\r\n";
  const echo = `Content-Type: application/json\r\nContent-Length: 3\r\nConnection: close\r\n\r\n`;
  test.each([
    ["HTTP/1.0", "GET /api/read HTTP/1.0\r\nAuthorization: Bearer good\r\n\r\n", '{"ok":true}'],
    ["an absolute URL", `GET http://a/api/read HTTP/1.1\r\n${authorized}Connection: close\r\n\r\n`, '{"ok":true}'],
    ["an encoded path", `GET /%61pi/rea%64 HTTP/1.1\r\n${authorized}Connection: close\r\n\r\n`, '{"ok":true}'],
    ["an offer to upgrade", `GET /api/read HTTP/1.1\r\n${authorized}Connection: upgrade, close\r\nUpgrade: h2c\r\n\r\n`, '{"ok":true}'],
    ["an empty line before it", `\r\nGET /api/read HTTP/1.1\r\n${authorized}Connection: close\r\n\r\n`, '{"ok":true}'],
    ["a second token", `GET /api/read HTTP/1.1\r\n${authorized}Authorization: Bearer x\r\nConnection: close\r\n\r\n`, '{"ok":true}'],
    ["a body after 100-continue", `POST /api/echo HTTP/1.1\r\n${authorized}Expect: 100-continue\r\n${echo}[1]`, '{"body":[1]}'],
  ])("valid HTTP is accepted: %s", async (_, bytes, body) => {
    const { port } = await startServer();
    const answer = await sendRaw(port, bytes);
    expect(answer).toMatch(/^(HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 200 OK\r\n/);
    expect(answer.toLowerCase()).toContain("x-request-id: ");
    expect(answer.endsWith(`\r\n\r\n${body}`)).toBe(true);
  });

  test("pipelined requests are answered in order", async () => {
    const { port } = await startServer();
    const ids = ["first", "second", "third"];
    const requests = ids.map((id, index) => {
      const last = index === ids.length - 1 ? "Connection: close\r\n" : "";
      return `GET /api/${id === "second" ? "nothing" : "read"} HTTP/1.1\r\n${authorized}x-request-id: ${id}\r\n${last}\r\n`;
    });
    const answer = await sendRaw(port, requests.join(""));
    expect([...answer.matchAll(/HTTP\/1\.1 (\d+) [\s\S]*?x-request-id: (\w+)/gi)].map(([, status, id]) => [status, id])).toEqual([
      ["200", "first"],
      ["404", "second"],
      ["200", "third"],
    ]);
  });

  test("an unknown Expect header is ignored", async () => {
    const { port } = await startServer();
    expect(await sendRaw(port, `${get}Authorization: Bearer good\r\nExpect: miracles\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 200 /,
    );
  });

  test("a client that disconnects during its body is not logged as an error", async () => {
    const { port, url, log } = await startServer();
    const socket = connect(port, "127.0.0.1");
    socket.write(
      "POST /api/echo HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    );
    await once(socket, "connect");
    expect((await send(`${url}/api/read`)).status).toBe(200);
    socket.resetAndDestroy();
    expect((await send(`${url}/api/read`)).status).toBe(200);
    expect(log.join("")).toBe("");
  });
});

test("an unexpected error is returned as an internal error without details and logged with them", async () => {
  const { url, log } = await startServer();
  const { status, body, headers } = await send(`${url}/api/broken?ticket=hidden`);
  expectProblem({ status, body, headers }, "internal_error");
  expect(JSON.stringify(body)).not.toMatch(/SELECT|secret|var|stack/);
  const line = JSON.parse(log.join(""));
  expect(line).toMatchObject({
    level: 50,
    requestId: body.requestId,
    method: "GET",
    route: "/api/broken",
    err: { message: "SELECT secret FROM /var/lib/bridge" },
  });
  expect(line.err.stack).toContain("create-server.test.ts");
  expect(log.join("")).not.toContain("hidden");
});

test("other messages of Fastify are not logged at any level", async () => {
  const lines: string[] = [];
  const { url } = await startServer({ logger: pino({ level: "trace" }, { write: (line: string) => void lines.push(line) }) });
  for (const target of ["/api/read", "/nothing", "/api/unscoped", "/%zz"]) await send(url + target);
  expect(lines).toEqual([]);
});

test("a route without a scope rejects all requests", async () => {
  const { url } = await startServer();
  expectProblem(await send(`${url}/api/unscoped`), "scope_missing");
});

describe("slow clients", () => {
  const timeouts = { headersTimeoutMs: 300, requestTimeoutMs: 600, checkIntervalMs: 50 };

  /** Opens a hundred clients that send slowly and never complete a request. */
  function attack(port: number) {
    const head =
      "POST /api/echo HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n";
    const drip = async (start: string, more: string) => {
      const socket = connect(port, "127.0.0.1");
      socket.write(start);
      const timer = setInterval(() => socket.write(more), 40);
      return await answerOn(socket).finally(() => clearInterval(timer));
    };
    return [
      ...Array.from({ length: 40 }, () => drip("GET / HTTP/1.1\r\n", "x: y\r\n")),
      ...Array.from({ length: 40 }, () => drip(`${head}\r\n`, " ")),
      ...Array.from({ length: 20 }, () => drip("", "")),
    ];
  }

  test("slow clients are disconnected at the time limits", async () => {
    const { port } = await startServer({ timeouts });
    for (const answer of await Promise.all(attack(port))) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 /);
      expect(bodyOf(answer).code).toBe("too_slow");
    }
  });

  test("slow clients do not delay other requests", async () => {
    const { app, port, url } = await startServer({ timeouts: { headersTimeoutMs: 240_000, requestTimeoutMs: 240_000 } });
    let ended = 0;
    const attacks = attack(port).map((answer) =>
      answer.finally(() => {
        ended += 1;
      }),
    );
    for (let count = 0; count < 50; count += 1) expect((await send(`${url}/api/read`)).status).toBe(200);
    // The slow clients are still connected.
    expect(ended).toBe(0);
    app.server.closeAllConnections();
    await Promise.allSettled(attacks);
  });

  test("slow clients receive an error with their request id, if it was read", async () => {
    const { port } = await startServer({ timeouts });
    const answer = await sendRaw(
      port,
      "POST /api/echo HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nx-request-id: my-id\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
    );
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain("X-Request-Id: my-id\r\n");
    expect(bodyOf(answer).requestId).toBe("my-id");
  });

  test("the default limits disconnect slow clients within 15 s", async () => {
    const { app } = await startServer();
    expect(serverTimeouts).toEqual({
      headersTimeoutMs: 10_000,
      requestTimeoutMs: 14_000,
      checkIntervalMs: 1_000,
      keepAliveTimeoutMs: 72_000,
      drainMs: 5_000,
      stalledReaderMs: 60_000,
    });
    const { headersTimeout, requestTimeout, keepAliveTimeout } = app.server;
    expect({ headersTimeout, requestTimeout, keepAliveTimeout }).toEqual({
      headersTimeout: 10_000,
      requestTimeout: 14_000,
      keepAliveTimeout: 72_000,
    });
    // Slow requests are detected at the next check.
    expect(serverTimeouts.requestTimeoutMs + serverTimeouts.checkIntervalMs).toBeLessThanOrEqual(15_000);
  });
});

describe("the rate limit", () => {
  test("the rate limit counts the POST requests of a token over all routes and nothing else", async () => {
    const { url } = await startServer({ requestRates: createRequestRates({ perMinute: 3, shared: loneRates }) });
    const post = (route: string, token: string) => send(url + route, { method: "POST", headers: { authorization: `Bearer ${token}` } });
    for (const route of ["/api/echo", "/api/other", "/api/echo"]) expect((await post(route, "good")).status).toBe(200);
    for (const route of ["/api/echo", "/api/other"]) {
      const refused = await post(route, "good");
      expectProblem(refused, "too_many_requests");
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(60);
    }
    for (let index = 0; index < 10; index += 1) expect((await send(`${url}/api/read`)).status).toBe(200);
    expect((await post("/api/echo", "another")).status).toBe(200);
  });

  test("the rate limit resets after a minute even if the system clock is set back", async () => {
    const { url } = await startServer({ requestRates: createRequestRates({ perMinute: 1, shared: loneRates }) });
    const post = () => send(`${url}/api/echo`, { method: "POST" });
    expect((await post()).status).toBe(200);
    const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now() - 36_000_000);
    onTestFinished(() => clock.mockRestore());
    expect(Number((await post()).headers.get("retry-after"))).toBeLessThanOrEqual(60);
  });

  test("the rate limit is off by default", async () => {
    const { url } = await startServer();
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(`${url}/api/echo`, { method: "POST" })));
    expect(answers.every(({ status, headers }) => status === 200 && !headers.has("x-ratelimit-limit"))).toBe(true);
  });
});

test("under overload only dispatches are rejected", async () => {
  const fail = async () => {
    throw new Error("The test dispatches no valid task.");
  };
  const overload = createOverloadMonitor({ maxDelayMs: 20 });
  overload.start();
  onTestFinished(() => overload.close());
  const { url } = await startServer(
    { overload },
    (app) =>
      void app.register(dispatchRoutes, {
        receiveDispatch: createReceiveDispatch({
          dispatcher: { admitTask: fail },
          adapters: { isLoaded: () => false },
          metrics: createMetrics("test"),
          parseDispatch: createDispatchParser([]),
          defaultProfile: "inspect",
        }),
        bodySchema: createDescribedDispatchSchema([]),
        dispatcher: { waitForEnd: fail },
        tasks: { find: fail, resultBytes: fail },
      }),
  );
  const keepBusy = setInterval(() => {
    for (const end = performance.now() + 60; performance.now() < end; );
  }, 65);
  try {
    const refused = await askUntil(
      () => send(`${url}/api/v2/dispatch`, { method: "POST" }),
      ({ status }) => status !== 400,
    );
    expectProblem(refused, "overloaded");
    expect((await send(`${url}/api/read`)).status).toBe(200);
    expect((await send(`${url}/api/other`, { method: "POST" })).status).toBe(200);
  } finally {
    clearInterval(keepBusy);
  }
});

describe("closing", () => {
  test("closing does not wait for idle connections", async () => {
    const { app, url, port } = await startServer();
    const idle = connect(port, "127.0.0.1");
    await once(idle, "connect");
    await send(`${url}/api/read`);
    await app.close();
  });

  test("closing waits for pending responses", async () => {
    const slow = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    const { app, url } = await startServerWith("/api/slow", async () => {
      entered.resolve();
      await slow.promise;
      return { ok: true };
    });
    const answer = send(`${url}/api/slow`);
    await entered.promise;
    const closed = app.close();
    slow.resolve();
    expect((await answer).body).toEqual({ ok: true });
    await closed;
  });

  test("closing waits for the rest of a response that is being written", async () => {
    const rest = Promise.withResolvers<void>();
    const body = Readable.from(
      (async function* () {
        yield '{"first":1,';
        await rest.promise;
        yield '"second":2}';
      })(),
    );
    const { app, url } = await startServerWith("/api/parts", async () => body);
    const response = await fetch(`${url}/api/parts`, { headers: { authorization: "Bearer good" } });
    const closed = app.close();
    // The server closes its port first.
    await expect.poll(() => app.server.listening).toBe(false);
    rest.resolve();
    expect(await response.json()).toEqual({ first: 1, second: 2 });
    await closed;
  });

  test("closing waits for requests that arrive on an open connection meanwhile", async () => {
    const [slow, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const entered: string[] = [];
    const { app, url } = await startServerWith("/api/slow", async ({ headers }) => {
      const name = String(headers["x-request-id"]);
      entered.push(name);
      await (name === "late" ? late : slow).promise;
      return { name };
    });
    const head = (name: string) => `GET /api/slow HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nx-request-id: ${name}\r\n`;
    const [first, second] = [1, 2].map(() => connect(Number(new URL(url).port), "127.0.0.1")) as [Socket, Socket];
    first.write(`${head("early")}\r\n`);
    // Its request line has arrived, so the connection is not idle.
    second.write(head("late"));
    await expect.poll(() => entered).toEqual(["early"]);
    const closed = app.close();
    await expect.poll(() => app.server.listening).toBe(false);
    second.write("\r\n");
    await expect.poll(() => entered).toEqual(["early", "late"]);
    const ended = once(first, "data");
    slow.resolve();
    expect(String((await ended)[0])).toContain('{"name":"early"}');
    late.resolve();
    expect(await answerOn(second)).toContain('{"name":"late"}');
    await closed;
  });

  test("closing stops waiting for a response after the time limit", async () => {
    const entered = Promise.withResolvers<void>();
    const { app, url } = await startServerWith(
      "/api/never",
      () => {
        entered.resolve();
        return new Promise(() => {});
      },
      { timeouts: { drainMs: 100 } },
    );
    const answer = send(`${url}/api/never`).catch((error: unknown) => error);
    await entered.promise;
    await app.close();
    expect(await answer).toBeInstanceOf(Error);
  });

  /** Starts the server with an additional route, which must be registered before the server listens. */
  async function startServerWith(
    route: string,
    handler: (request: FastifyRequest) => Promise<unknown>,
    options: Partial<ServerOptions> = {},
  ) {
    const app = await createBareServer({ tokens: { find: () => principal }, ...options });
    app.get(route, { config: { scope: "read" } }, handler);
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    onTestFinished(() => app.close());
    return { app, url };
  }
});
