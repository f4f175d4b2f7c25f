import { afterAll, describe, expect, test } from "vitest";
import { createGeminiAdapter } from "../../../adapters/gemini/index.ts";
import { adapterConformance } from "../../conformance/adapter.ts";
import { createModelServer } from "../../runtimes/model-server/server.ts";
import { apiSubject, endpointWith, openApi } from "../shared/model-api/api-subject.ts";

const model = await createModelServer();
afterAll(() => model.close());

const settings = { apiModel: "gemini-pro-latest" };
const env = { PATH: "/nowhere", GEMINI_API_KEY: "AIza-test-key-4711", GOOGLE_GEMINI_BASE_URL: model.url };
// The Gemini API counts candidates and thoughts separately.
const usage = { inputTokens: 130, outputTokens: 35, thinkingTokens: 5, cacheReadTokens: 20 };

adapterConformance("gemini over api", apiSubject(model, createGeminiAdapter, { settings, env, usage }));

const open = (changes: Record<string, string> = {}) => openApi(createGeminiAdapter, { settings, env: { ...env, ...changes } });
const frame = (parts: object[], rest: object = {}) => ({
  candidates: [{ index: 0, content: { role: "model", parts }, ...rest }],
  modelVersion: "gemini-x-001",
});
const begun = frame([{ text: "Half" }]);

test("thinking is sent back in the conversation and is not part of the answer", async () => {
  const { url, bodies } = await endpointWith({
    frames: [frame([{ text: "Hm.", thought: true }]), frame([{ text: "Done.", thoughtSignature: "c2lnbmVk" }], { finishReason: "STOP" })],
  });
  const bench = await open({ GOOGLE_GEMINI_BASE_URL: url });
  const { result } = await bench.run({ message: "Begin." });
  expect(result).toMatchObject({ status: "ok", output: "Done.", connection: "api" });
  await bench.run({ message: "Go on.", ...(result.resumeToken !== undefined && { resumeToken: result.resumeToken }) });
  expect(bodies[1]).toMatchObject({ contents: [{ role: "user" }, { role: "model" }, { role: "user", parts: [{ text: "Go on." }] }] });
  expect(JSON.stringify(bodies[1])).toContain('"thoughtSignature":"c2lnbmVk"');
});

test("the key is sent as a header and not in the URL", async () => {
  const bench = await open({ GEMINI_API_KEY: "", GOOGLE_API_KEY: "other-key" });
  await bench.run({ systemPrompt: model.scenario([{ text: "Yes." }]) });
  expect(model.requests.at(-1)).toMatchObject({
    path: "/v1beta/models/gemini-pro-latest:streamGenerateContent?alt=sse",
    headers: { "x-goog-api-key": "other-key" },
  });
});

describe("health", () => {
  test("health is healthy over api with a key and no program", async () => {
    expect(await (await open()).adapter.checkHealth()).toMatchObject({ status: "healthy", connection: "api" });
  });
  test.each([
    [{ GEMINI_API_KEY: "" }, /api: Set GEMINI_API_KEY or GOOGLE_API_KEY/],
    [{ GOOGLE_GENAI_USE_VERTEXAI: "true" }, /GOOGLE_GENAI_USE_VERTEXAI is set/],
  ])("health is offline with %j and names the variable", async (changes, words) => {
    expect(await (await open(changes)).adapter.checkHealth()).toMatchObject({ status: "offline", detail: expect.stringMatching(words) });
  });
});

const badKey = {
  status: 400,
  body: { error: { code: 400, message: "API key not valid.", status: "INVALID_ARGUMENT", details: [{ reason: "API_KEY_INVALID" }] } },
};

test("an invalid key, which the API reports as status 400, is authentication_required", async () => {
  const { url } = await endpointWith(badKey);
  const bench = await open({ GOOGLE_GEMINI_BASE_URL: url });
  expect(await bench.adapter.checkHealth()).toMatchObject({
    status: "degraded",
    detail: expect.stringContaining("rejects the credentials"),
  });
  expect((await bench.run({})).result).toMatchObject({
    errorCode: "authentication_required",
    error: expect.stringContaining("GEMINI_API_KEY"),
  });
});

test.each([
  [
    "an error inside a stream",
    [begun, { error: { code: 503, message: "Overloaded", status: "UNAVAILABLE" } }],
    "model_error",
    /Overloaded/,
  ],
  ["an answer that is withheld", [begun, frame([], { finishReason: "SAFETY" })], "model_error", /content filter/],
  ["a prompt that is withheld", [{ promptFeedback: { blockReason: "SAFETY" } }], "model_error", /content filter/],
  ["an answer that was cut short", [begun, frame([], { finishReason: "MAX_TOKENS" })], "output_limit", /cut off/],
  ["a stream without an end", [begun], "model_error", /may be incomplete/],
] as const)("%s fails the task", async (_name, frames, errorCode, words) => {
  const { url } = await endpointWith({ frames });
  const { result } = await (await open({ GOOGLE_GEMINI_BASE_URL: url })).run({});
  expect(result).toMatchObject({ status: "error", errorCode, error: expect.stringMatching(words) });
});

test.each(["../files?x=", "models/../files", "a:generateContent#", "a b", ""])(
  "no request is sent for the invalid model name %j",
  async (name) => {
    const { url, bodies } = await endpointWith({ body: {} });
    const { result } = await (await open({ GOOGLE_GEMINI_BASE_URL: url })).run({ model: name });
    expect(result).toMatchObject({ errorCode: "adapter_error", error: expect.stringContaining("not a valid model name") });
    expect(bodies).toEqual([]);
  },
);

test("a broken connection fails the task", async () => {
  const { url } = await endpointWith({ frames: [begun], cut: true });
  expect((await (await open({ GOOGLE_GEMINI_BASE_URL: url })).run({})).result).toMatchObject({ status: "error", errorCode: "model_error" });
});
