import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listInputs } from "#contract";
import { catalog } from "../../adapters/index.ts";
import { BridgeError, MAX_FIELD_ERRORS } from "../../src/errors.ts";
import { createDispatchParser, type DispatchContext } from "../../src/requests/parse-dispatch.ts";

const minimal = { agentId: "writer", message: "Say hello." };
const parseDispatch = createDispatchParser(listInputs(catalog));
const parse = (body: unknown, context: Partial<DispatchContext> = {}) => parseDispatch(body, { defaultProfile: "inspect", ...context });

test("a minimal dispatch gets the defaults", () => {
  expect(parse(minimal)).toEqual({
    taskId: null,
    provider: null,
    agentId: "writer",
    request: { message: "Say hello.", outputStrategy: { type: "stream" }, profile: "inspect", approvals: "deny", onInterrupt: "fail" },
    repository: null,
    fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    canonicalLength: '{"agentId":"writer","message":"Say hello."}'.length,
  });
});

test("all fields of a dispatch are kept", () => {
  const request = {
    message: "m",
    stdin: "s",
    systemPrompt: "p",
    model: "large",
    mcpServers: [
      { name: "files", transport: "stdio" as const, command: "mcp-files", args: ["-v"], env: { LEVEL: "1" } },
      { name: "web", transport: "sse" as const, url: "https://mcp.example/sse", headers: { "x-key": "k" } },
    ],
    timeoutSeconds: 30,
    outputStrategy: { type: "structured" as const, schema: { type: "object" } },
    resumeToken: "session-1",
    profile: "modify" as const,
    approvals: "ask" as const,
    onInterrupt: "retry" as const,
    callbackUrl: "https://receiver.example/hook?x=1",
    callbackConversation: false,
    metadata: { z: 1, cwd: "sub/directory", a: [null, { deep: "é\u0000" }] },
    bridgeInput: { a: 1 },
    responderInput: { b: 2 },
  };
  const parsed = parse({ ...request, taskId: "order:1_a-B", provider: "memory", agentId: "writer", tools: [{ name: "look" }] });
  expect(parsed).toMatchObject({ taskId: "order:1_a-B", provider: "memory", agentId: "writer" });
  expect(parsed.request).toEqual({ ...request, tools: [{ name: "look", description: "", inputSchema: { type: "object" } }] });
  expect(JSON.stringify(parsed.request.metadata)).toBe(JSON.stringify(request.metadata));
});

describe("profile and approvals", () => {
  const file = { type: "file", path: "out.md" };
  test.each([
    [{}, "inspect", "inspect", "deny"],
    [{}, "modify", "modify", "allow"],
    [{ profile: "modify" }, "inspect", "modify", "allow"],
    [{ profile: "inspect" }, "modify", "inspect", "deny"],
    [{ outputStrategy: file }, "inspect", "modify", "allow"],
    [{ outputStrategy: file, profile: "modify" }, "inspect", "modify", "allow"],
    [{ profile: "modify", approvals: "deny" }, "inspect", "modify", "deny"],
    [{ approvals: "ask" }, "inspect", "inspect", "ask"],
  ] as const)("%j with default %s", (fields, defaultProfile, profile, approvals) => {
    expect(parse({ ...minimal, ...fields }, { defaultProfile }).request).toMatchObject({ profile, approvals });
  });

  test("a file output is rejected with the profile inspect", () => {
    const error = refusal({ ...minimal, outputStrategy: file, profile: "inspect" });
    expect([error.code, error.httpStatus, error.errors[0]?.path]).toEqual(["profile_conflict", 422, "profile"]);
  });
});

describe("aliases", () => {
  const schema = { type: "object", required: ["a"] };
  test.each([
    [{ timeout: 30 }, { timeoutSeconds: 30 }],
    [{ timeout: 30, timeoutSeconds: 30 }, { timeoutSeconds: 30 }],
    [{ bridge_input: { a: 1, b: 2 } }, { bridgeInput: { b: 2, a: 1 } }],
    [{ bridge_input: { a: 1, b: 2 }, bridgeInput: { b: 2, a: 1 } }, { bridgeInput: { a: 1, b: 2 } }],
    [{ outputSchema: schema }, { outputStrategy: { type: "structured", schema } }],
    [{ outputSchema: schema, outputStrategy: { type: "structured", schema } }, { outputStrategy: { type: "structured", schema } }],
  ])("%j is %j", (aliased, plain) => {
    expect(parse({ ...minimal, ...aliased })).toEqual(parse({ ...minimal, ...plain }));
  });

  test.each([
    [{ timeout: 30, timeoutSeconds: 31 }, "timeout"],
    [{ bridge_input: { a: 1 }, bridgeInput: { a: 2 } }, "bridge_input"],
    [{ outputSchema: schema, outputStrategy: { type: "structured", schema: {} } }, "outputSchema"],
    [{ outputSchema: schema, outputStrategy: { type: "stream" } }, "outputSchema"],
  ])("%j is rejected", (fields, path) => {
    expect(refusal({ ...minimal, ...fields }).errors.map((fault) => fault.path)).toEqual([path]);
  });
});

describe("Idempotency-Key", () => {
  test.each([
    ["order-1", undefined, "order-1"],
    ['"order-1"', undefined, "order-1"],
    ["order-1", "order-1", "order-1"],
    [undefined, "order-1", "order-1"],
    [undefined, undefined, null],
  ])("%s with taskId %s is %s", (idempotencyKey, taskId, expected) => {
    expect(parse({ ...minimal, ...(taskId === undefined ? {} : { taskId }) }, { idempotencyKey }).taskId).toBe(expected);
  });

  test.each([
    ["order-2", "order-1"],
    ["order 1", undefined],
    ["", undefined],
    ["x".repeat(129), undefined],
    ["a, b", undefined],
  ])("%s with taskId %s is rejected", (idempotencyKey, taskId) => {
    const error = refusal({ ...minimal, ...(taskId === undefined ? {} : { taskId }) }, { idempotencyKey });
    expect([error.code, error.errors[0]?.path]).toEqual(["invalid_request", "Idempotency-Key"]);
  });
});

describe("the fingerprint", () => {
  const fingerprint = (body: unknown, context?: Partial<DispatchContext>) => parse(body, context).fingerprint;

  test("the fingerprint ignores the order of keys, the taskId and the header", () => {
    const one = fingerprint({ ...minimal, metadata: { a: 1, b: { c: [1, 2], d: "x" } } });
    expect(fingerprint({ metadata: { b: { d: "x", c: [1, 2] }, a: 1 }, message: "Say hello.", agentId: "writer", taskId: "t1" })).toBe(one);
    expect(
      fingerprint({ ...minimal, metadata: { a: 1, b: { c: [1, 2], d: "x" } } }, { idempotencyKey: "k", defaultProfile: "modify" }),
    ).toBe(one);
  });

  const different = [
    minimal,
    { ...minimal, message: "Say hello" },
    { ...minimal, agentId: "reader" },
    { ...minimal, profile: "inspect" },
    { ...minimal, metadata: {} },
    { ...minimal, metadata: { a: [1, 2] } },
    { ...minimal, metadata: { a: [2, 1] } },
    { ...minimal, metadata: { a: null } },
    { ...minimal, metadata: { a: "null" } },
    { ...minimal, metadata: { 'a":1,"b': 1 } },
    { ...minimal, metadata: { a: 1, b: 1 } },
    { ...minimal, message: "\ud800" },
    { ...minimal, message: "\ufffd" },
  ];
  test.each(different)("the fingerprint distinguishes %j from every other", (body) => {
    expect(different.filter((other) => fingerprint(other) === fingerprint(body))).toEqual([body]);
  });

  test("the fingerprint is unchanged after any JSON in metadata is stored and read", () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string().filter((key) => key !== "__proto__" && key !== "cwd"),
          fc.jsonValue({ maxDepth: 6 }),
        ),
        (metadata) => {
          const sent = JSON.parse(JSON.stringify({ ...minimal, metadata }), (key, value: unknown) =>
            key === "__proto__" ? undefined : value,
          ) as typeof minimal;
          const parsed = parse(sent);
          expect(JSON.parse(JSON.stringify(parsed.request.metadata))).toEqual((sent as unknown as { metadata: unknown }).metadata);
          expect(fingerprint(JSON.parse(JSON.stringify(sent)))).toBe(parsed.fingerprint);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("limits", () => {
  const emoji = "🧵";
  test.each([
    { message: "x".repeat(1_000_000) },
    { message: emoji.repeat(1_000_000) },
    { message: "\0" },
    { stdin: "" },
    { stdin: "x".repeat(1_000_000) },
    { timeoutSeconds: 1 },
    { timeoutSeconds: 86_400 },
    { agentId: "a".repeat(128) },
    { taskId: "t".repeat(128) },
    { systemPrompt: "" },
    { tools: [] },
    { mcpServers: [] },
    { metadata: { cwd: "a/../b" } },
    { callbackUrl: "http://localhost:1/x" },
    { responderInput: {} },
  ])("limits accept case %# at the limit", (fields) => {
    expect(parse({ ...minimal, ...fields }).request).toMatchObject(
      Object.fromEntries(Object.entries(fields).filter(([key]) => !["agentId", "taskId"].includes(key))),
    );
  });

  test.each<[string, Record<string, unknown>, string[]]>([
    ["message", { message: "" }, ["message"]],
    ["message", { message: "x".repeat(1_000_001) }, ["message"]],
    ["message", { message: emoji.repeat(1_000_001) }, ["message"]],
    ["message", { message: null }, ["message"]],
    ["message", { message: 5 }, ["message"]],
    ["stdin", { stdin: "x".repeat(1_000_001) }, ["stdin"]],
    ["timeoutSeconds", { timeoutSeconds: 0 }, ["timeoutSeconds"]],
    ["timeoutSeconds", { timeoutSeconds: 86_401 }, ["timeoutSeconds"]],
    ["timeoutSeconds", { timeoutSeconds: "5" }, ["timeoutSeconds"]],
    ["timeoutSeconds", { timeoutSeconds: Number.POSITIVE_INFINITY }, ["timeoutSeconds"]],
    ["timeout", { timeout: -1 }, ["timeout"]],
    ["agentId", { agentId: "" }, ["agentId"]],
    ["agentId", { agentId: "a".repeat(129) }, ["agentId"]],
    ["agentId", { agentId: "../x" }, ["agentId"]],
    ["agentId", { agentId: "a:b" }, ["agentId"]],
    ["agentId", { agentId: "a\n" }, ["agentId"]],
    ["agentId", { agentId: "a\0" }, ["agentId"]],
    ["taskId", { taskId: "" }, ["taskId"]],
    ["taskId", { taskId: "t".repeat(129) }, ["taskId"]],
    ["taskId", { taskId: "a/b" }, ["taskId"]],
    ["taskId", { taskId: "ä" }, ["taskId"]],
    ["provider", { provider: "" }, ["provider"]],
    ["model", { model: "a\0b" }, ["model"]],
    ["resumeToken", { resumeToken: "" }, ["resumeToken"]],
    ["resumeToken", { resumeToken: "a\r\nb" }, ["resumeToken"]],
    ["profile", { profile: "admin" }, ["profile"]],
    ["approvals", { approvals: "yes" }, ["approvals"]],
    ["onInterrupt", { onInterrupt: true }, ["onInterrupt"]],
    ["outputStrategy", { outputStrategy: { type: "file" } }, ["outputStrategy.path"]],
    ["outputStrategy", { outputStrategy: { type: "xml" } }, ["outputStrategy.type"]],
    ["outputStrategy", { outputStrategy: { type: "structured", schema: [] } }, ["outputStrategy.schema"]],
    ["outputStrategy", { outputStrategy: { type: "stream", path: "x" } }, ["outputStrategy.path"]],
    ["outputSchema", { outputSchema: "object" }, ["outputSchema"]],
    ["callbackUrl", { callbackUrl: "/relative" }, ["callbackUrl"]],
    ["callbackUrl", { callbackUrl: "" }, ["callbackUrl"]],
    ["callbackUrl", { callbackUrl: "https://a.example/\nx" }, ["callbackUrl"]],
    ["callbackUrl", { callbackUrl: `https://a.example/${"x".repeat(8192)}` }, ["callbackUrl"]],
    ["metadata", { metadata: [] }, ["metadata"]],
    ["metadata", { metadata: "x" }, ["metadata"]],
    ["metadata.cwd", { metadata: { cwd: "/etc" } }, ["metadata.cwd"]],
    ["metadata.cwd", { metadata: { cwd: 5 } }, ["metadata.cwd"]],
    ["metadata.cwd", { metadata: { cwd: "" } }, ["metadata.cwd"]],
    ["metadata.cwd", { metadata: { cwd: "a\0" } }, ["metadata.cwd"]],
    ["metadata", { metadata: { deep: nested(200) } }, ["metadata.deep.0"]],
    ["metadata", { metadata: { big: [1, Number.POSITIVE_INFINITY] } }, ["metadata.big.1"]],
    ["metadata", { metadata: JSON.parse('{"a":{"__proto__":{"admin":true}}}') as unknown }, ["metadata.a.__proto__"]],
    ["mcpServers", { mcpServers: {} }, ["mcpServers"]],
    ["mcpServers", { mcpServers: [{ name: "a", transport: "stdio" }] }, ["mcpServers.0.command"]],
    ["mcpServers", { mcpServers: [{ name: "a", transport: "pipe" }] }, ["mcpServers.0.transport"]],
    ["mcpServers", { mcpServers: [{ name: "a", transport: "http", url: "nowhere" }] }, ["mcpServers.0.url"]],
    ["mcpServers", { mcpServers: [{ name: "a", transport: "http", url: "http://a", command: "x" }] }, ["mcpServers.0.command"]],
    [
      "mcpServers",
      { mcpServers: [{ name: "a", transport: "http", url: "http://a", headers: { "x y": "1" } }] },
      ["mcpServers.0.headers.x y"],
    ],
    [
      "mcpServers",
      { mcpServers: [{ name: "a", transport: "http", url: "http://a", headers: { x: "1\r\ny: 2" } }] },
      ["mcpServers.0.headers.x"],
    ],
    ["mcpServers", { mcpServers: [{ name: "a", transport: "stdio", command: "c", args: ["a\0"] }] }, ["mcpServers.0.args.0"]],
    ["mcpServers", { mcpServers: [{ name: "a", transport: "stdio", command: "c", env: { "A=B": "c" } }] }, ["mcpServers.0.env.A=B"]],
    [
      "mcpServers",
      {
        mcpServers: [
          { name: "a", transport: "sse", url: "http://a" },
          { name: "a", transport: "sse", url: "http://b" },
        ],
      },
      ["mcpServers.1.name"],
    ],
    ["tools", { tools: "none" }, ["tools"]],
    ["tools", { tools: [{ name: "a" }, { name: "a" }] }, ["tools.1.name"]],
    ["bridgeInput", { bridgeInput: "x" }, ["bridgeInput"]],
    ["an unknown field", { timeoutseconds: 5 }, ["timeoutseconds"]],
    ["two unknown fields and a wrong one", { a: 1, "b.c": 2, stdin: 3 }, ["stdin", "a", "b.c"]],
  ])("limits reject %s: case %#", (_, fields, paths) => {
    const error = refusal({ ...minimal, ...fields });
    expect(error.code).toBe("invalid_request");
    expect(error.errors.map(({ path }) => path)).toEqual(paths);
    for (const { message } of error.errors) expect(message).toMatch(/^(must|is|differs) /);
  });

  test.each([null, undefined, "text", 5, [], [minimal], true])("limits reject %j as a body", (body) => {
    expect(refusal(body).code).toBe("invalid_request");
  });

  test("limits report a missing agent and a missing message together", () => {
    expect(refusal({}).errors.map(({ path }) => path)).toEqual(["agentId", "message"]);
    expect(parse({ agentId: "writer", bridgeInput: {} }).request.message).toBe("");
    expect(parse({ agentId: "writer", bridge_input: {} }).request.message).toBe("");
    expect(parse({ agentId: "writer", responderInput: {} }).request.message).toBe("");
  });

  test("limits reject a body with too many nesting levels", () => {
    expect(refusal({ ...minimal, metadata: { a: nested(1_000_000) } }).code).toBe("invalid_request");
  });
});

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

function refusal(body: unknown, context: Partial<DispatchContext> = {}): BridgeError {
  try {
    parse(body, context);
  } catch (error) {
    if (error instanceof BridgeError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

test.each([
  ["in the dispatch", (fields: object) => ({ ...minimal, ...fields })],
  ["in a tool", (fields: object) => ({ ...minimal, tools: [{ name: "look", ...fields }] })],
])("a dispatch with too many unknown fields %s is rejected with the first of them", (_, body) => {
  const fields = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`field${index}`, 0]));
  const { code, errors } = refusal(body(fields));
  expect(code).toBe("invalid_request");
  expect(errors).toHaveLength(MAX_FIELD_ERRORS);
});
