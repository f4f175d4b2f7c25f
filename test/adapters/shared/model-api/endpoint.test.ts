import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { ModelLimit } from "#contract";
import { beginStream, openEndpoint, type Received, sendChunk } from "./raw-endpoint.ts";
import { openVercelFixture } from "./vercel-fixture.ts";

const apiKey = "sk-test-0123456789abcdef";
const json = ({ response }: Received, status: number, body: unknown, headers: Record<string, string> = {}) =>
  void response
    .writeHead(status, { "content-type": "application/json", ...headers })
    .end(typeof body === "string" ? body : JSON.stringify(body));
const streamed = (chunks: [delta: object, finish?: string][]) => async (request: Received) => {
  const response = beginStream(request.response);
  for (const [delta, finish] of chunks) sendChunk(response, delta, finish ?? null);
  response.end("data: [DONE]\n\n");
};

describe("an endpoint that ends an answer with a failure", () => {
  test.each<[string, (request: Received) => unknown, object]>([
    [
      "in the middle",
      streamed([[{ content: "Half" }]]),
      { errorCode: "model_error", error: expect.stringMatching(/not complete|without a finish reason|before its end/) },
    ],
    ["before it began", (request) => void beginStream(request.response).end(), { errorCode: "model_error" }],
    [
      "by closing the connection",
      async ({ response }) => {
        sendChunk(beginStream(response), { content: "Half" });
        await setImmediate();
        response.destroy();
      },
      { errorCode: "model_error", error: expect.stringMatching(/ended before the answer was complete: \w+$/) },
    ],
    [
      "at the token limit",
      streamed([[{ content: "Half" }, "length"]]),
      { errorCode: "output_limit", error: expect.stringContaining("cut off") },
    ],
    [
      "by its filter",
      streamed([[{ content: "Ha" }, "content_filter"]]),
      { errorCode: "model_error", error: expect.stringContaining("filter") },
    ],
    [
      "with an error in the stream",
      (request) =>
        void beginStream(request.response).end(
          `data: ${JSON.stringify({ error: { message: `overloaded, key ${apiKey}`, code: 529 } })}\n\n`,
        ),
      { errorCode: "model_error", error: expect.stringContaining("overloaded") },
    ],
    [
      "with a chunk of another format",
      streamed([[{ tool_calls: [{ index: 0, id: "c1", function: { name: "look", arguments: { path: "." } } }] }]]),
      {
        errorCode: "model_error",
        error:
          "The model's endpoint sent data in an unknown format: choices.0.delta.tool_calls.0.function.arguments: Invalid input: expected string, received object.",
      },
    ],
    ["with invalid JSON", (request) => void beginStream(request.response).end("data: {oops\n\n"), { errorCode: "model_error" }],
    [
      "with a page",
      (request) => void request.response.writeHead(200, { "content-type": "text/html" }).end("<html>Welcome</html>"),
      { errorCode: "model_error" },
    ],
    [
      "with 400",
      (request) => json(request, 400, { error: { message: "no such parameter" } }),
      { errorCode: "model_error", error: expect.stringContaining("400: no such parameter") },
    ],
    [
      "with 401",
      (request) => json(request, 401, { error: { message: `Incorrect API key provided: ${apiKey}` } }),
      { errorCode: "authentication_required", error: expect.stringContaining("[redacted]") },
    ],
    ["with 402", (request) => json(request, 402, { error: { message: "no credit" } }), { errorCode: "user_action_required" }],
    ["with 403", (request) => json(request, 403, "forbidden"), { errorCode: "authentication_required" }],
    [
      "with a redirect",
      (request) => json(request, 307, "", { location: "http://127.0.0.1:9/" }),
      { errorCode: "adapter_offline", error: expect.stringContaining("redirect") },
    ],
  ])("%s", async (_, answer, expected) => {
    const { url, requests } = await openEndpoint(answer as (request: Received) => void);
    const fixture = await openVercelFixture({ baseUrl: url, apiKey });
    const { result } = await fixture.run({});
    expect(result).toMatchObject({ status: "error", ...expected });
    expect(JSON.stringify(result)).not.toContain(apiKey);
    expect(requests[0]?.headers.authorization).toBe(`Bearer ${apiKey}`);
  });

  test.each([429, 500, 503])("an endpoint that ends an answer with a failure with %i, twice", async (status) => {
    const { url, requests } = await openEndpoint((request) =>
      json(request, status, { error: { message: "later" } }, { "retry-after-ms": "1" }),
    );
    const fixture = await openVercelFixture({ baseUrl: url });
    const { result } = await fixture.run({});
    expect(result).toMatchObject({
      status: "error",
      errorCode: status === 429 ? "rate_limited" : "model_error",
      error: expect.stringContaining(`${status}: later`),
    });
    expect(requests).toHaveLength(2);
  });

  test.each<[string, Record<string, string>, object, number | null]>([
    ["a header", { "retry-after": "7200" }, { message: "later" }, 7_200],
    ["the body", {}, { message: "later", resets_in_seconds: 3_600 }, 3_600],
    ["no field", {}, { message: "later" }, null],
  ])("an adapter reports a limit whose end is in %s", async (_, headers, error, seconds) => {
    const { url } = await openEndpoint((request) => json(request, 429, { error }, { "retry-after-ms": "1", ...headers }));
    const limits: ModelLimit[] = [];
    const fixture = await openVercelFixture({ baseUrl: url }, { onModelLimited: (limit) => void limits.push(limit) });
    const startedAt = Date.now();
    expect((await fixture.run({})).result).toMatchObject({ errorCode: "rate_limited" });
    expect(limits).toMatchObject([{ taskId: fixture.lastTask().request.taskId, reason: expect.stringContaining("429") }]);
    const { resetsAt = null } = limits[0] as ModelLimit;
    if (seconds === null) expect(resetsAt).toBeNull();
    else expect(resetsAt).toBeGreaterThanOrEqual(startedAt + seconds * 1_000);
  });

  test("an endpoint that cannot be reached", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const fixture = await openVercelFixture({ baseUrl: `http://127.0.0.1:${port}` });
    const { result } = await fixture.run({});
    expect(result).toMatchObject({ status: "error", errorCode: "adapter_offline", error: expect.stringContaining("ECONNREFUSED") });
  });
});

describe("over the protocol of Anthropic an answer", () => {
  const message = {
    id: "m1",
    type: "message",
    role: "assistant",
    model: "raw",
    content: [],
    stop_reason: null,
    usage: { input_tokens: 9, output_tokens: 1 },
  };
  const begun = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Half" } },
  ];
  const ends = (stop_reason: string) => [
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ];
  test.each<[string, object[], object]>([
    ["that is complete is a success", ends("end_turn"), { status: "ok", output: "Half", usage: { inputTokens: 9, outputTokens: 5 } }],
    ["that is truncated is a failure", [], { status: "error", errorCode: "model_error" }],
    ["that is truncated between two blocks is a failure", ends("end_turn").slice(0, 1), { status: "error", errorCode: "model_error" }],
    ["that reaches the token limit is a failure", ends("max_tokens"), { status: "error", errorCode: "output_limit" }],
    ["that is refused is a failure", ends("refusal"), { status: "error", errorCode: "model_error" }],
    [
      "that contains an error is a failure",
      [{ type: "error", error: { type: "overloaded_error", message: `Overloaded ${apiKey}` } }],
      { status: "error", errorCode: "model_error", error: expect.stringContaining("Overloaded") },
    ],
  ])("%s", async (_, rest, expected) => {
    const { url } = await openEndpoint(({ response }) => {
      beginStream(response);
      for (const event of [...begun, ...rest])
        response.write(`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`);
      response.end();
    });
    const fixture = await openVercelFixture({ protocol: "anthropic", baseUrl: url, apiKey });
    const { result } = await fixture.run({});
    expect(result).toMatchObject(expected);
    expect(JSON.stringify(result)).not.toContain(apiKey);
  });
});

test("an answer with an unknown finish reason is a success", async () => {
  const { url } = await openEndpoint(streamed([[{ content: "All of it." }, "eos"]]));
  const fixture = await openVercelFixture({ baseUrl: url });
  expect((await fixture.run({})).result).toMatchObject({ status: "ok", output: "All of it." });
});

test("a canceled task closes its connection at once", async () => {
  const { url, requests } = await openEndpoint(({ response }) => void sendChunk(beginStream(response), { content: "I begin." }));
  const fixture = await openVercelFixture({ baseUrl: url });
  const task = await fixture.start({});
  await task.working;
  const hungUp = once(requests[0]?.response as Received["response"], "close");
  await fixture.adapter.cancel(task.request.taskId);
  expect(await task.result).toMatchObject({ status: "error", errorCode: "cancelled", output: "I begin." });
  await fixture.within("the end of the connection", hungUp);
});

test("the error of a task without a model names the setting", async () => {
  const fixture = await openVercelFixture({ baseUrl: "http://127.0.0.1:9", model: undefined });
  expect((await fixture.run({})).result).toMatchObject({
    status: "error",
    errorCode: "adapter_error",
    error: expect.stringContaining("model"),
  });
  const named = await fixture.run({ model: "some-model" });
  expect(named.result.errorCode).toBe("adapter_offline");
});

test("reasoning is reported as progress without its text, and its size is limited", async () => {
  const { url } = await openEndpoint(async ({ response }) => {
    beginStream(response);
    const closed = once(response, "close");
    const thought = "x".repeat(1024 ** 2);
    while (!response.destroyed) {
      if (!sendChunk(response, { reasoning_content: thought })) await Promise.race([once(response, "drain"), closed]);
      await setImmediate();
    }
  });
  const fixture = await openVercelFixture({ baseUrl: url });
  const { result, events } = await fixture.run({});
  expect(result).toMatchObject({ status: "error", errorCode: "output_limit" });
  expect(events.length).toBeGreaterThan(10);
  expect(JSON.stringify(events)).not.toContain("xxx");
});

test("a model that exceeds the text limit is stopped", async () => {
  const { url } = await openEndpoint(async ({ response }) => {
    beginStream(response);
    const closed = once(response, "close");
    while (!response.destroyed) {
      if (!sendChunk(response, { content: "0123456789abcdef".repeat(65_536) })) await Promise.race([once(response, "drain"), closed]);
      await setImmediate();
    }
  });
  const fixture = await openVercelFixture({ baseUrl: url });
  const { result } = await fixture.run({});
  expect(result).toMatchObject({ status: "error", errorCode: "output_limit" });
});

describe("an endpoint that sends endless data is stopped", () => {
  test.each<[string, number, string, string]>([
    ["an error", 500, "application/json", ""],
    ["an event", 200, "text/event-stream", "data: "],
    ["the lines of an event", 200, "text/event-stream", "\ndata: "],
  ])("%s", async (_, status, type, begin) => {
    const { url } = await openEndpoint(async ({ response }) => {
      response.writeHead(status, { "content-type": type });
      const closed = once(response, "close");
      const piece = begin + "x".repeat(1024 ** 2);
      while (!response.destroyed) {
        if (!response.write(piece)) await Promise.race([once(response, "drain"), closed]);
        await setImmediate();
      }
    });
    const fixture = await openVercelFixture({ baseUrl: url });
    const { result } = await fixture.run({});
    expect(result).toMatchObject({
      status: "error",
      errorCode: "output_limit",
      error: expect.stringContaining("more than 32 MiB in one event"),
    });
  });
});

test("a model that calls tools forever ends at the maximum number of steps", async () => {
  let calls = 0;
  const { url } = await openEndpoint(async ({ response }) => {
    beginStream(response);
    calls += 1;
    sendChunk(response, {
      tool_calls: [{ index: 0, id: `call_${calls}`, type: "function", function: { name: "no_such_tool", arguments: "{}" } }],
    });
    sendChunk(response, {}, "tool_calls");
    response.end("data: [DONE]\n\n");
  });
  const fixture = await openVercelFixture({ baseUrl: url, maxSteps: 3 });
  const { result } = await fixture.run({});
  expect(result).toMatchObject({ status: "error", errorCode: "max_turns", error: expect.stringContaining("BRIDGE_MODEL_MAX_STEPS") });
  expect(calls).toBe(3);
});

test("usage is the sum of the steps, or unknown if the endpoint does not report it", async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  let calls = 0;
  const { url } = await openEndpoint(async ({ response, body }) => {
    calls += 1;
    beginStream(response);
    if (calls % 2 === 1)
      sendChunk(response, { tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "nothing", arguments: "{}" } }] });
    sendChunk(response, {}, calls % 2 === 1 ? "tool_calls" : "stop");
    expect(body["stream_options"]).toEqual({ include_usage: true });
    if (calls !== 4) response.write(`data: ${JSON.stringify({ id: "c1", created: 1, model: "raw", choices: [], usage })}\n\n`);
    response.end("data: [DONE]\n\n");
  });
  const fixture = await openVercelFixture({ baseUrl: url });
  const first = await fixture.run({});
  expect(first.result).toMatchObject({ status: "ok", usage: { inputTokens: 20, outputTokens: 10 }, model: "raw" });
  expect(first.events.flatMap(({ type, data }) => (type === "usage.reported" ? [data] : []))).toMatchObject([
    { model: "raw", usage: { inputTokens: 10, outputTokens: 5 }, call: { status: 200 } },
    { model: "raw", usage: { inputTokens: 10, outputTokens: 5 }, call: { status: 200 } },
  ]);
  const second = await fixture.run({});
  expect(second.result.status).toBe("ok");
  expect(second.result).not.toHaveProperty("usage");
});

test.each(["gzip", "gzip, gzip"])("a compressed answer (%s) counts with its decompressed size", async (encoding) => {
  const spaces = gzipSync(Buffer.alloc(64 * 1024 ** 2, " "));
  const { url } = await openEndpoint(({ response }) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": encoding });
    response.end(encoding === "gzip" ? spaces : gzipSync(spaces));
  });
  const fixture = await openVercelFixture({ baseUrl: url });
  const { result } = await fixture.run({});
  expect(result).toMatchObject({ status: "error", errorCode: "output_limit" });
});
