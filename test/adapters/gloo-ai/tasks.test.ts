import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import type { AdapterConfig, ExecutionRequest } from "#contract";
import { createGlooAiAdapter } from "../../../adapters/gloo-ai/index.ts";
import { type AdapterBench, openBench } from "../../conformance/adapter-bench.ts";
import { client, createGlooServer, type GlooServer } from "./gloo-server.ts";

let gloo: GlooServer;
beforeEach(async () => {
  gloo = await createGlooServer();
});
afterEach(() => gloo.close());

/** Creates an initialized adapter with these settings in addition to those of the server. */
async function open({ settings, ...config }: Partial<AdapterConfig> = {}): Promise<AdapterBench> {
  const bench = openBench({
    createAdapter: createGlooAiAdapter,
    config: { env: gloo.env, ...config, settings: { ...gloo.settings, ...settings } },
    scenarios: undefined as never,
    hasProcesses: false,
  });
  onTestFinished(() => bench.close());
  await bench.initialize();
  return bench;
}

const scripted = (text = "Grace and peace.") => ({ systemPrompt: gloo.scenario([{ text }]) });
const lastBody = () => gloo.asked.at(-1)?.body ?? {};
const chunk = (delta: object, finish_reason: string | null = null, rest: object = {}) => ({
  id: "c1",
  model: "gloo-openai-gpt-5-mini",
  choices: [{ index: 0, delta, finish_reason }],
  ...rest,
});

test.each<[string | undefined, object]>([
  [undefined, { auto_routing: true }],
  ["auto", { auto_routing: true }],
  ["family:anthropic", { model_family: "anthropic" }],
  ["family:open-source", { model_family: "open source" }],
  ["family:Open Source", { model_family: "open source" }],
  ["gloo-anthropic-claude-sonnet-4.6", { model: "gloo-anthropic-claude-sonnet-4.6" }],
])("the model %s is sent as %j only", async (model, routing) => {
  const bench = await open();
  const { result } = await bench.run({ ...scripted(), ...(model !== undefined && { model }) });
  expect(result).toMatchObject({ status: "ok", output: "Grace and peace." });
  const { model: id, auto_routing, model_family, messages } = lastBody();
  expect(JSON.parse(JSON.stringify({ model: id, auto_routing, model_family }))).toEqual(routing);
  expect(messages).toHaveLength(2);
});

test("a dispatch without a model uses the model of the settings", async () => {
  const bench = await open({ settings: { model: "family:google" } });
  await bench.run(scripted());
  expect(lastBody()).toMatchObject({ model_family: "google" });
});

test("the chosen model and its routing are reported", async () => {
  const bench = await open();
  const { result, events } = await bench.run(scripted());
  expect(result).toMatchObject({ model: "gloo-google-gemini-2.5-flash", connection: "api" });
  expect(result.usage).toEqual({ inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20 });
  expect(result.costUsd).toBeUndefined();
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "execution.progress",
      data: {
        routing: {
          model: "gloo-google-gemini-2.5-flash",
          provider: "Google",
          modelFamily: "google",
          routingMechanism: "auto_routing",
          routingTier: "tier_2",
          routingConfidence: 0.87,
        },
      },
    }),
  );
});

test("a dispatch overrides the tradition of the settings, and its other options apply only to it", async () => {
  const bench = await open({ settings: { tradition: "catholic" } });
  await bench.run(scripted());
  expect(lastBody()).toMatchObject({ tradition: "catholic" });
  expect(lastBody()).not.toHaveProperty("max_tokens");
  await bench.run({ ...scripted(), metadata: { mine: 1, gloo: { tradition: "mainline", temperature: 0.2, maxTokens: 100 } } });
  expect(lastBody()).toMatchObject({ tradition: "mainline", temperature: 0.2, max_tokens: 100 });
});

test.each<[string, Partial<ExecutionRequest>, RegExp]>([
  ["an unknown tradition", { metadata: { gloo: { tradition: "stoic" } } }, /^metadata\.gloo\.tradition: /],
  ["an unknown option", { metadata: { gloo: { top: 1 } } }, /^metadata\.gloo: .*top/],
  ["an unknown family", { model: "family:meta" }, /no model family meta\. Use one of: family:openai, .*family:open-source/],
  [
    "tools with a model that does not support them",
    { model: "gloo-deepseek-r1", tools: [{ name: "t", description: "", inputSchema: { type: "object" } }] },
    /gloo-deepseek-r1 does not support tools\. Omit tools and mcpServers/,
  ],
  [
    "MCP servers with a model that does not support tools",
    { model: "gloo-meta-llama-4-maverick", mcpServers: [{ name: "m", transport: "http", url: "http://127.0.0.1:9/" }] },
    /does not support tools/,
  ],
])("%s fails the task before any request", async (_name, changes, words) => {
  const bench = await open();
  const { result } = await bench.run({ ...scripted(), ...changes });
  expect(result).toMatchObject({ status: "error", errorCode: "adapter_error", error: expect.stringMatching(words) });
  expect([gloo.asked, gloo.tokens.minted]).toEqual([[], []]);
});

test("an error inside a stream fails the task with Gloo's message", async () => {
  const bench = await open();
  const error = { code: 2001, name: "PROVIDER_TIMEOUT", message: "The provider took too long", retryable: true };
  gloo.answerNext({ frames: [chunk({ content: "The begin" }), chunk({}, "error", { error })] });
  const { result, text } = await bench.run(scripted());
  expect(text).toBe("The begin");
  expect(result).toMatchObject({
    status: "error",
    errorCode: "model_error",
    error: "Gloo reports PROVIDER_TIMEOUT (2001): The provider took too long. A new dispatch of the same task may succeed.",
  });
  gloo.answerNext({
    frames: [chunk({}, "error", { error: { code: 2004, name: "RATE_LIMIT_EXCEEDED", message: "Slow down.", retryable: true } })],
  });
  expect((await bench.run(scripted())).result).toMatchObject({
    errorCode: "rate_limited",
    error: expect.stringContaining("Slow down. A new dispatch"),
  });
  gloo.answerNext({ frames: [chunk({}, "error", { error: { code: 2002, name: "PROVIDER_ERROR", retryable: false } })] });
  expect((await bench.run(scripted())).result).toMatchObject({ errorCode: "model_error", error: "Gloo reports PROVIDER_ERROR (2002)." });
  expect(gloo.asked).toHaveLength(3);
});

test("the text of a Gloo error is redacted and limited in length", async () => {
  const bench = await open();
  const error = { code: `E ${client.secret}`, name: `N ${client.secret} ${"x".repeat(100_000)}`, message: client.secret };
  gloo.answerNext({ frames: [chunk({}, "error", { error })] });
  const { result } = await bench.run(scripted());
  expect(result).toMatchObject({ status: "error", errorCode: "model_error", error: expect.stringContaining("N [redacted] xxx") });
  expect(result.error).not.toContain(client.secret);
  expect(result.error?.length).toBeLessThan(5_000);
});

test("an answer that the content filter stops fails the task without a retry", async () => {
  const bench = await open();
  gloo.answerNext({ frames: [chunk({ content: "Well" }), chunk({}, "content_filter")] });
  expect((await bench.run(scripted())).result).toMatchObject({
    status: "error",
    errorCode: "model_error",
    error: expect.stringMatching(/content filter/),
  });
  expect(gloo.asked).toHaveLength(1);
});

test("a stream without an end fails the task", async () => {
  const bench = await open();
  gloo.answerNext({ frames: [chunk({ content: "Half of it" })] });
  expect((await bench.run(scripted())).result).toMatchObject({ status: "error", errorCode: "model_error" });
});

test.each([
  ["1893456000", /resets at 2030-01-01T00:00:00\.000Z\.$/],
  ["30", /resets at \d{4}-.*Z\.$/],
  ["soon", /\(429\)\.$/],
])("a rate limit error names the time of its reset: %s", async (reset, words) => {
  const bench = await open();
  const limited = {
    status: 429,
    headers: { "x-ratelimit-reset": reset, "retry-after-ms": "1" },
    body: { error: "Rate limit exceeded", code: "too_many_requests" },
  };
  for (let times = 0; times < 2; times += 1) gloo.answerNext(limited);
  expect((await bench.run(scripted())).result).toMatchObject({ errorCode: "rate_limited", error: expect.stringMatching(words) });
});

test.each([
  [
    400,
    { error: { code: 1001, name: "INVALID_REQUEST", message: "No such model" } },
    "model_error",
    /INVALID_REQUEST \(1001\) with status 400: No such model\./,
  ],
  [400, { error: "Nothing to say" }, "model_error", /Nothing to say/],
  [401, {}, "authentication_required", /rejected the client's token/],
  [403, { message: "Forbidden" }, "authentication_required", /scope api\/access/],
] as const)("the status %i with %j fails the task with a message", async (status, body, errorCode, words) => {
  const bench = await open();
  for (let times = 0; times < 2; times += 1) gloo.answerNext({ status, body });
  expect((await bench.run(scripted())).result).toMatchObject({ status: "error", errorCode, error: expect.stringMatching(words) });
});

test("a revoked token is replaced without an error", async () => {
  const bench = await open();
  await bench.run(scripted());
  gloo.revoke();
  expect((await bench.run(scripted("Still here."))).result).toMatchObject({ status: "ok", output: "Still here." });
  expect(gloo.asked.map(({ token }) => token)).toEqual(["token-1", "token-1", "token-2"]);
});

test("other tasks still get the token when one task is canceled while it waits", async () => {
  const gate = Promise.withResolvers<void>();
  gloo.tokens.gate = gate.promise;
  const bench = await open();
  const [leaving, staying] = await Promise.all([bench.start(scripted()), bench.start(scripted("I stay."))]);
  await expect.poll(() => gloo.tokens.minted).toHaveLength(1);
  expect(await bench.adapter.cancel(leaving.request.taskId)).toBe(true);
  expect(await leaving.result).toMatchObject({ errorCode: "cancelled" });
  gate.resolve();
  expect(await staying.result).toMatchObject({ status: "ok", output: "I stay." });
  expect(gloo.tokens.minted).toEqual(["token-1"]);
});

test("neither the secret nor a token appears in results, logs or health", async () => {
  const lines: unknown[] = [];
  const log = (...line: unknown[]) => void lines.push(line);
  const bench = await open({ logger: { debug: log, info: log, warn: log, error: log } });
  const leak = `you sent token-1 as ${client.secret}`;
  gloo.answerNext({ status: 400, body: { error: { message: leak } } });
  gloo.answerNext({ frames: [chunk({}, "error", { error: { code: 1, name: "X", message: leak } })] });
  gloo.answerNext({ status: 400, body: leak });
  const runs = [await bench.run(scripted()), await bench.run(scripted()), await bench.run(scripted())];
  gloo.tokens.refusal = 401;
  gloo.revoke();
  runs.push(await bench.run(scripted()));
  expect(runs.map(({ result }) => result.status)).toEqual(Array(4).fill("error"));
  const text = JSON.stringify([runs, lines, await bench.adapter.checkHealth()]);
  expect(text).not.toContain(client.secret);
  expect(text).not.toContain("token-1");
});

test("health names missing variables, rejected credentials and the required scope", async () => {
  const without = await open({ env: { GLOO_CLIENT_ID: "only-half" } });
  expect(await without.adapter.checkHealth()).toMatchObject({
    status: "offline",
    detail: expect.stringContaining("GLOO_CLIENT_SECRET is not set"),
  });
  const named = await open({ env: { GLOO_AI_CLIENT_ID: client.id, GLOO_AI_CLIENT_SECRET: client.secret } });
  expect(await named.adapter.checkHealth()).toMatchObject({ status: "healthy", connection: "api" });
  const bench = await open();
  gloo.tokens.refusal = 403;
  expect(await bench.adapter.checkHealth()).toMatchObject({
    status: "degraded",
    detail: expect.stringContaining("lacks the scope api/access"),
  });
  gloo.tokens.refusal = 401;
  expect(await bench.adapter.checkHealth()).toMatchObject({
    status: "degraded",
    detail: expect.stringContaining("rejected the client's credentials"),
  });
  gloo.tokens.refusal = null;
  expect(await bench.adapter.checkHealth()).toMatchObject({ status: "healthy" });
  await gloo.close();
  expect(await bench.adapter.checkHealth()).toMatchObject({ status: "offline" });
  gloo = await createGlooServer();
});
