import { afterAll, describe, expect, test } from "vitest";
import { createClaudeAdapter } from "../../../adapters/claude/index.ts";
import { adapterConformance } from "../../conformance/adapter.ts";
import { createModelServer } from "../../runtimes/model-server/server.ts";
import { apiSubject, endpointWith, openApi } from "../shared/model-api/api-subject.ts";

const model = await createModelServer();
afterAll(() => model.close());

const settings = { apiModel: "claude-opus-5-5" };
const env = { PATH: "/nowhere", ANTHROPIC_API_KEY: "sk-ant-test-key-4711", ANTHROPIC_BASE_URL: model.url };
// 120 fresh, 20 read from the cache and 10 written to it; 30 answered, 5 of them thinking.
const usage = { inputTokens: 150, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20, cacheWriteTokens: 10 };

adapterConformance("claude over api", apiSubject(model, createClaudeAdapter, { settings, env, usage }));

const open = (changes: Record<string, string> = {}, more: object = {}) =>
  openApi(createClaudeAdapter, { settings: { ...settings, ...more }, env: { ...env, ...changes } });
const frame = (type: string, rest: object = {}) => ({ type, ...rest });
const begun = [
  frame("message_start", {
    message: { id: "m", type: "message", role: "assistant", model: "claude-x", content: [], usage: { input_tokens: 1, output_tokens: 1 } },
  }),
  frame("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
  frame("content_block_delta", { index: 0, delta: { type: "text_delta", text: "Half" } }),
];
const stopped = (stop_reason: string) => [
  ...begun,
  frame("content_block_stop", { index: 0 }),
  frame("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 4 } }),
  frame("message_stop"),
];

test("the request names the dispatch's model, or else that of the setting, and carries the key", async () => {
  const bench = await open();
  const scripted = { systemPrompt: model.scenario([{ text: "Yes." }]) };
  expect((await bench.run(scripted)).result).toMatchObject({ status: "ok", output: "Yes.", model: "claude-opus-5-5", connection: "api" });
  expect(model.requests.at(-1)).toMatchObject({
    path: "/v1/messages",
    headers: { "x-api-key": env.ANTHROPIC_API_KEY },
    body: { model: "claude-opus-5-5" },
  });
  expect(model.requests.at(-1)?.body).not.toHaveProperty("tools");
  await bench.run({ ...scripted, model: "claude-haiku-5-5" });
  expect(model.requests.at(-1)).toMatchObject({ body: { model: "claude-haiku-5-5" } });
});

test("ANTHROPIC_AUTH_TOKEN is sent as a bearer token", async () => {
  const bench = await open({ ANTHROPIC_API_KEY: "", ANTHROPIC_AUTH_TOKEN: "tok-1", ANTHROPIC_BASE_URL: `${model.url}/` });
  await bench.run({ systemPrompt: model.scenario([{ text: "Yes." }]) });
  expect(model.requests.at(-1)?.headers).toMatchObject({ authorization: "Bearer tok-1" });
  expect(model.requests.at(-1)?.headers).not.toHaveProperty("x-api-key");
});

describe("health", () => {
  test("health is healthy over api with a key and no program, and lists the failed connections", async () => {
    const health = await (await open()).adapter.checkHealth();
    expect(health).toMatchObject({ status: "healthy", connection: "api", version: null });
    expect(health.preflight.slice(0, 3).map(({ ok }) => ok)).toEqual([false, false, true]);
  });
  test.each([
    [{ ANTHROPIC_API_KEY: "" }, /ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN/],
    [{ CLAUDE_CODE_USE_BEDROCK: "1" }, /CLAUDE_CODE_USE_BEDROCK is set/],
  ])("health is offline with %j and names the variable", async (changes, words) => {
    expect(await (await open(changes)).adapter.checkHealth()).toMatchObject({ status: "offline", detail: expect.stringMatching(words) });
  });
  test("health is degraded when the API rejects the key", async () => {
    const { url } = await endpointWith({ status: 401 });
    expect(await (await open({ ANTHROPIC_BASE_URL: url })).adapter.checkHealth()).toMatchObject({
      status: "degraded",
      detail: expect.stringContaining("rejects the credentials"),
    });
  });
});

test.each([
  [
    "an error inside a stream",
    [...begun, frame("error", { error: { type: "overloaded_error", message: "Overloaded" } })],
    "model_error",
    /Overloaded/,
  ],
  ["a refusal", stopped("refusal"), "model_error", /content filter/],
  ["an answer that was cut short", stopped("max_tokens"), "output_limit", /cut off/],
  ["a stream without an end", begun, "model_error", /may be incomplete/],
] as const)("%s fails the task", async (_name, frames, errorCode, words) => {
  const { url } = await endpointWith({ frames });
  const { result } = await (await open({ ANTHROPIC_BASE_URL: url })).run({});
  expect(result).toMatchObject({ status: "error", errorCode, error: expect.stringMatching(words) });
});

test("a broken connection fails the task, and no error reveals the key", async () => {
  const broken = await endpointWith({ frames: begun, cut: true });
  expect((await (await open({ ANTHROPIC_BASE_URL: broken.url })).run({})).result).toMatchObject({
    status: "error",
    errorCode: "model_error",
  });
  const leaking = await endpointWith({
    status: 400,
    body: { type: "error", error: { type: "x", message: `bad ${env.ANTHROPIC_API_KEY}` } },
  });
  const { result } = await (await open({ ANTHROPIC_BASE_URL: leaking.url })).run({});
  expect(result).toMatchObject({ status: "error", errorCode: "model_error" });
  expect(JSON.stringify(result)).not.toContain("4711");
});
