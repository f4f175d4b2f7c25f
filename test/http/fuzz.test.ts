import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { errorCodes } from "../../src/errors.ts";
import { anyCharacter } from "../support/any-character.ts";
import { type Bridge, startBridge } from "../support/start-bridge.ts";

// Sends thousands of almost valid requests. Every response must be documented.
let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge({ BRIDGE_QUEUE_LIMIT: "1000000" });
});
afterAll(() => bridge.close());

const documented = new Set<number>([200, 202, ...Object.values(errorCodes).map(({ httpStatus }) => httpStatus)]);
documented.delete(500);

const whole = {
  taskId: "t",
  provider: "memory",
  agentId: "fuzzed",
  message: "Hello.",
  stdin: "input",
  systemPrompt: "Be brief.",
  model: "small",
  tools: [
    { type: "function", function: { name: "a", parameters: {} } },
    { name: "b", input_schema: {} },
  ],
  mcpServers: [{ name: "m", transport: "http", url: "https://8.8.8.8/", headers: { a: "b" } }],
  files: [{ path: "notes/a.md", content: "a", encoding: "utf8" }],
  timeoutSeconds: 5,
  timeout: 5,
  outputStrategy: { type: "structured", schema: { type: "object" } },
  outputSchema: { type: "object" },
  resumeToken: "r",
  profile: "modify",
  approvals: "allow",
  onInterrupt: "retry",
  callbackUrl: "https://receiver.example/hook",
  callbackConversation: false,
  metadata: { cwd: ".", a: [1, { b: null }] },
  bridgeInput: { a: 1 },
  bridge_input: { a: 1 },
  responderInput: {},
};

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
const hostileText = fc.oneof(
  fc.constantFrom(
    "",
    "\0",
    "\ud800",
    "\u202e",
    "../../etc/passwd",
    "/",
    "a\r\nb: c",
    "__proto__",
    "constructor",
    "-1",
    "NaN",
    "'; DROP TABLE task; --",
    "%00",
    "🧵".repeat(200),
    "x".repeat(5_000),
  ),
  fc.string({ unit: anyCharacter, maxLength: 40 }),
);
/** JSON text, so that it can contain values that JavaScript cannot represent. */
const hostileJson = fc.oneof(
  hostileText.map((text) => JSON.stringify(text)),
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
  fc.constantFrom(
    "null",
    "true",
    "[]",
    "{}",
    "1e400",
    "-0",
    "123456789012345678901234567890",
    "1e-7",
    '{"__proto__":{"a":1}}',
    '{"constructor":{"prototype":{}}}',
    '"\\ud83d"',
    "[[[[]]]]",
    "[null]",
  ),
  fc.constantFrom(99, 101, 2_000).map(nested),
);
const fieldName = fc.oneof({ arbitrary: fc.constantFrom(...Object.keys(whole)), weight: 6 }, { arbitrary: hostileText, weight: 1 });

/** A dispatch with a few valid fields and up to three mutations. */
const body = fc
  .record({
    kept: fc.subarray(Object.keys(whole) as (keyof typeof whole)[], { maxLength: 4 }),
    wrong: fc.array(fc.tuple(fieldName, hostileJson), { maxLength: 3 }),
    missing: fc.subarray(["agentId", "message", "provider"] as const, { maxLength: 1 }),
  })
  .map(({ kept, wrong, missing }) => {
    const base = ["agentId", "message", "provider", ...kept].filter((name) => !(missing as readonly string[]).includes(name));
    const members = [...base.map((name) => [name, JSON.stringify(whole[name as keyof typeof whole])]), ...wrong];
    return `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;
  });

const run = async (act: () => Promise<{ status: number }>) => {
  const { status } = await act();
  expect([...documented]).toContain(status);
  expect(status === 503 || status < 500).toBe(true);
  return status;
};

test("1200 mutated dispatches never cause an internal error", async () => {
  const seen = new Map<number, number>();
  const headers = fc.dictionary(
    fc.constantFrom("idempotency-key", "prefer", "traceparent", "tracestate", "x-request-id", "accept", "content-encoding"),
    fc.oneof(
      fc.constantFrom("wait=1", "a b", '"q"', "gzip", ""),
      fc.string({ maxLength: 30 }).filter((text) => /^[\x21-\x7e]*$/.test(text)),
    ),
    { maxKeys: 2 },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(body, headers), { minLength: 30, maxLength: 30 }), async (requests) => {
      const statuses = await Promise.all(
        requests.map(([sent, extra]) =>
          run(() => bridge.call("POST", "/api/v2/dispatch", { body: sent, headers: extra["prefer"] === "wait=1" ? {} : extra })),
        ),
      );
      for (const status of statuses) seen.set(status, (seen.get(status) ?? 0) + 1);
    }),
    { numRuns: 40, endOnFailure: true },
  );
  // The test covers little if all requests fail the same check.
  for (const status of [202, 400, 422]) expect(seen.get(status) ?? 0).toBeGreaterThan(20);
});

test("250 almost-JSON bodies never cause an internal error", async () => {
  const text = fc.oneof(
    { arbitrary: hostileJson, weight: 6 },
    { arbitrary: fc.string({ unit: anyCharacter, maxLength: 200 }), weight: 6 },
    { arbitrary: fc.constantFrom("[".repeat(100_000), nested(100_000), `"${"x".repeat(1_000_000)}"`), weight: 1 },
  );
  const routes = [
    "/api/v2/dispatch",
    "/api/v2/tasks/t/cancel",
    "/api/v2/callbacks/redeliver",
    "/api/v2/callbacks/t/redeliver",
    "/api/v2/webhooks/w/deliveries/msg_1/redeliver",
    "/api/v2/webhooks/w/redeliver",
    "/api/v2/attention/acknowledge",
    "/api/v2/events/ticket",
  ];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...routes), text, (route, sent) =>
      run(async () => {
        const { status } = await bridge.call("POST", route, { body: sent });
        return { status: status === 201 ? 200 : status };
      }).then(() => {}),
    ),
    { numRuns: 250, endOnFailure: true },
  );
});

test("600 mutated queries and paths never cause an internal error", async () => {
  const name = fc.oneof(
    fc.constantFrom("limit", "cursor", "state", "provider", "agentId", "parentTaskId", "after", "ticket", "__proto__", "limit[]"),
    hostileText,
  );
  const value = fc.oneof(fc.constantFrom("1", "200", "queued", "dead", "memory", "NQ", "fuzzed", "-1", "1e3", "MQ"), hostileText);
  const encode = (text: string) => encodeURIComponent(text.toWellFormed());
  const query = fc
    .array(fc.tuple(name, value), { maxLength: 3 })
    .map((pairs) => pairs.map(([key, text]) => `${encode(key)}=${encode(text)}`).join("&"));
  await bridge.dispatch({ taskId: "kept" });
  const target = fc.oneof(
    fc.constantFrom(
      "/api/v2/tasks/kept/files",
      "/api/v2/tasks",
      "/api/v2/callbacks",
      "/api/v2/webhooks",
      "/api/v2/webhooks/w/deliveries",
      "/api/v2/attention",
      "/api/v2/stats",
      "/api/v2/adapters",
      "/api/v2/workspaces",
      "/",
      "/healthz",
      "/readyz",
      "/metrics",
    ),
    hostileText.map((text) => `/api/v2/tasks/${encode(text).slice(0, 2_000)}`),
    hostileText.map((text) => `/api/v2/tasks/${encode(text).slice(0, 2_000)}/events`),
    hostileText.map((text) => `/api/v2/callbacks/${encode(text).slice(0, 2_000)}`),
    hostileText.map((text) => `/api/v2/tasks/${encode(text).slice(0, 2_000)}/diff`),
    hostileText.map((text) => `/api/v2/tasks/${encode(text).slice(0, 2_000)}/patch`),
    hostileText.map((text) => `/api/v2/tasks/kept/files/${encode(text).slice(0, 2_000)}`),
    hostileText.map((text) => `/${encode(text).slice(0, 2_000)}`),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(target, query), { minLength: 30, maxLength: 30 }), async (requests) => {
      await Promise.all(requests.map(([path, text]) => run(() => bridge.call("GET", `${path}?${text}`))));
    }),
    { numRuns: 20, endOnFailure: true },
  );
});

test("300 writes and deletions at mutated paths never leave the workspace", async () => {
  const encode = (text: string) => encodeURIComponent(text.toWellFormed());
  const path = fc
    .array(fc.oneof(hostileText, fc.constantFrom("a", "b", "..", ".", ".git", "a/b", "x".repeat(256))), { minLength: 1, maxLength: 4 })
    .map((names) =>
      names
        .map(encode)
        .join("/")
        .slice(0, 2_000)
        .replace(/%[0-9A-F]?$/, ""),
    );
  const headers = fc.dictionary(
    fc.constantFrom("if-match", "if-none-match", "content-encoding"),
    fc.constantFrom("*", '"a"', 'W/"a"', "a", "identity", "gzip"),
    {
      maxKeys: 2,
    },
  );
  const target = fc.oneof(
    path.map((text) => `/api/v2/workspaces/fuzzed/files/${text}`),
    hostileText.map((text) => `/api/v2/workspaces/${encode(text).slice(0, 2_000)}/files/a`),
    hostileText.map((text) => `/api/v2/tasks/${encode(text).slice(0, 2_000)}`),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom("PUT", "DELETE"), target, headers, hostileText), { minLength: 30, maxLength: 30 }),
      async (requests) => {
        await Promise.all(
          requests.map(([method, at, extra, content]) =>
            run(async () => {
              const body = method === "PUT" ? { body: content.toWellFormed() } : {};
              const { status } = await bridge.call(method, at, { headers: extra, ...body });
              return { status: [201, 204].includes(status) ? 200 : status };
            }),
          ),
        );
      },
    ),
    { numRuns: 10, endOnFailure: true },
  );
});

test("the fuzzed requests log no errors", () => {
  expect(bridge.log.filter((line) => line.includes('"level":50') && line.includes("request failed"))).toEqual([]);
});
