import { afterAll, describe, expect, test } from "vitest";
import { createCodexAdapter } from "../../../adapters/codex/index.ts";
import { adapterConformance } from "../../conformance/adapter.ts";
import { createModelServer } from "../../runtimes/model-server/server.ts";
import { apiSubject, endpointWith, openApi } from "../shared/model-api/api-subject.ts";

const model = await createModelServer();
afterAll(() => model.close());

const settings = { apiModel: "gpt-6.1-sol" };
const env = { PATH: "/nowhere", OPENAI_API_KEY: "sk-test-key-4711-4711", OPENAI_BASE_URL: `${model.url}/v1` };
const usage = { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20 };

adapterConformance("codex over api", apiSubject(model, createCodexAdapter, { settings, env, usage }));

const open = (changes: Record<string, string> = {}) => openApi(createCodexAdapter, { settings, env: { ...env, ...changes } });
const response = { id: "resp_1", object: "response", created_at: 1, model: "gpt-x", output: [] };
const frame = (type: string, rest: object = {}) => ({ type, sequence_number: 1, ...rest });
const item = { id: "msg_1", type: "message", role: "assistant" };
const begun = [
  frame("response.created", { response: { ...response, status: "in_progress" } }),
  frame("response.output_item.added", { output_index: 0, item: { ...item, content: [] } }),
  frame("response.output_text.delta", { item_id: "msg_1", output_index: 0, content_index: 0, delta: "Half" }),
];
const incomplete = (reason: string) =>
  frame("response.incomplete", { response: { ...response, incomplete_details: { reason }, usage: { input_tokens: 1, output_tokens: 1 } } });

test("requests disable storage at OpenAI, and a resumed conversation refers to no stored ids", async () => {
  const reasoning = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "sealed" };
  const { url, bodies } = await endpointWith({
    frames: [
      begun[0] ?? {},
      frame("response.output_item.added", { output_index: 0, item: { ...reasoning, encrypted_content: null } }),
      frame("response.output_item.done", { output_index: 0, item: reasoning }),
      frame("response.output_item.added", { output_index: 1, item: { ...item, content: [] } }),
      frame("response.output_text.delta", { item_id: "msg_1", output_index: 1, content_index: 0, delta: "Done." }),
      frame("response.output_item.done", {
        output_index: 1,
        item: { ...item, content: [{ type: "output_text", text: "Done.", annotations: [] }] },
      }),
      frame("response.completed", { response: { ...response, usage: { input_tokens: 7, output_tokens: 3 } } }),
    ],
  });
  const bench = await open({ OPENAI_BASE_URL: url, OPENAI_ORGANIZATION: "org-1" });
  const { result } = await bench.run({ message: "Begin." });
  expect(result).toMatchObject({ status: "ok", output: "Done.", model: "gpt-x", connection: "api" });
  const again = await bench.run({ message: "Go on.", ...(result.resumeToken !== undefined && { resumeToken: result.resumeToken }) });
  expect(again.result).toMatchObject({ status: "ok", resumeToken: result.resumeToken });
  for (const body of bodies) {
    expect(body).toMatchObject({ store: false, include: ["reasoning.encrypted_content"], model: "gpt-6.1-sol" });
    expect(body).not.toHaveProperty("previous_response_id");
    expect(body).not.toHaveProperty("tools");
  }
  const input = bodies[1]?.["input"] as { type?: string; role?: string; id?: string }[];
  expect(input.map(({ type, role }) => role ?? type)).toEqual(["user", "reasoning", "assistant", "user"]);
  expect(input[1]).toMatchObject({ encrypted_content: "sealed" });
  expect(JSON.stringify(input)).not.toContain("item_reference");
});

test("CODEX_API_KEY takes precedence over OPENAI_API_KEY", async () => {
  const bench = await open({ CODEX_API_KEY: "codex-key", OPENAI_ORGANIZATION: "org-1", OPENAI_PROJECT: "proj-1" });
  await bench.run({ systemPrompt: model.scenario([{ text: "Yes." }]) });
  const headers = { authorization: "Bearer codex-key", "openai-organization": "org-1", "openai-project": "proj-1" };
  expect(model.requests.at(-1)).toMatchObject({ path: "/v1/responses", headers });
});

describe("health", () => {
  test("health is healthy over api with a key and no program", async () => {
    expect(await (await open()).adapter.checkHealth()).toMatchObject({ status: "healthy", connection: "api" });
  });
  test("health is offline without a key and names the variables", async () => {
    expect(await (await open({ OPENAI_API_KEY: "" })).adapter.checkHealth()).toMatchObject({
      status: "offline",
      detail: expect.stringMatching(/api: Set OPENAI_API_KEY or CODEX_API_KEY/),
    });
  });
});

test.each([
  ["an error inside a stream", [...begun, frame("error", { code: "server_error", message: "Boom", param: null })], "model_error", /Boom/],
  [
    "a response that failed",
    [...begun, frame("response.failed", { response: { ...response, error: { code: "rate_limit_exceeded", message: "Slow down" } } })],
    "rate_limited",
    /Slow down/,
  ],
  ["a response for the content filter", [...begun, incomplete("content_filter")], "model_error", /content filter/],
  ["an answer that was cut short", [...begun, incomplete("max_output_tokens")], "output_limit", /cut off/],
  ["a stream without an end", begun, "model_error", /may be incomplete/],
] as const)("%s fails the task", async (_name, frames, errorCode, words) => {
  const { url } = await endpointWith({ frames });
  const { result } = await (await open({ OPENAI_BASE_URL: url })).run({});
  expect(result).toMatchObject({ status: "error", errorCode, error: expect.stringMatching(words) });
});

test("a broken connection fails the task, and no error reveals the key", async () => {
  const broken = await endpointWith({ frames: begun, cut: true });
  expect((await (await open({ OPENAI_BASE_URL: broken.url })).run({})).result).toMatchObject({ status: "error", errorCode: "model_error" });
  const leaking = await endpointWith({ status: 401, body: { error: { message: `Incorrect API key provided: ${env.OPENAI_API_KEY}` } } });
  const { result } = await (await open({ OPENAI_BASE_URL: leaking.url })).run({});
  expect(result).toMatchObject({ status: "error", errorCode: "authentication_required" });
  expect(JSON.stringify(result)).not.toContain("4711");
});
