import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { FIX_INSTRUCTION, type GenerateRequest } from "@hak2i/responder-bridge";
import { createOpenAiProvider, OpenAiError, type OpenAiProviderOptions } from "@hak2i/responder-bridge-openai";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createModelServer } from "../../../test/runtimes/model-server/server.ts";
import { outlasts } from "../../../test/support/outlasts.ts";
import { type Answer, hangUp, json, startScriptedServer } from "../../bridge-client/test/scripted-server.ts";

const request: GenerateRequest = {
  model: "small",
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Write." },
  ],
};

const completion = (content: unknown, finish_reason = "stop"): Answer =>
  json(200, { choices: [{ index: 0, message: { role: "assistant", content }, finish_reason }] });
const refusal = (status: number, message = "It said no.", code: string | null = null, headers = {}): Answer =>
  json(status, { error: { message, type: "error", code } }, headers);
const silence: Answer = () => {};

/** Creates a provider for a server with scripted responses. */
async function prepare(options: OpenAiProviderOptions, ...answers: Answer[]) {
  const { url, requests } = await startScriptedServer(...answers);
  const provider = createOpenAiProvider({ baseUrl: `${url}/v1`, apiKey: "sk-secret-1234567890", retryDelayMs: 1, ...options });
  return { provider, requests, url };
}

async function failureOf(promise: Promise<unknown>): Promise<OpenAiError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(OpenAiError);
  expect(JSON.stringify([String(error), error])).not.toContain("sk-secret");
  return error as OpenAiError;
}

describe("a request of the OpenAI provider", () => {
  test("a request of the OpenAI provider contains the model, the messages and the key", async () => {
    const { provider, requests } = await prepare({}, completion("# Document\n"));
    expect(await provider.generate({ ...request, temperature: 0.5 })).toEqual({ text: "# Document\n" });
    expect(requests).toMatchObject([{ method: "POST", target: "/v1/chat/completions" }]);
    expect(requests[0]?.headers).toMatchObject({ authorization: "Bearer sk-secret-1234567890", "content-type": "application/json" });
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual({ model: "small", messages: request.messages, temperature: 0.5 });
  });

  test("a request of the OpenAI provider contains a temperature only if one is given", async () => {
    const { provider, requests } = await prepare({}, completion("x"));
    await provider.generate(request);
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual({ model: "small", messages: request.messages });
  });

  test.each(["/v1", "/v1/", "/proxy/openai/v1//"])(
    "a request of the OpenAI provider is sent to a path below the base URL %s",
    async (path) => {
      const { requests, url } = await prepare({}, completion("x"));
      await createOpenAiProvider({ baseUrl: url + path, apiKey: null }).generate(request);
      expect(requests[0]?.target).toBe(`${path.replace(/\/+$/, "")}/chat/completions`);
      expect(requests[0]?.headers).not.toHaveProperty("authorization");
    },
  );

  test("a request of the OpenAI provider uses the URL and the key of the environment", async () => {
    const { requests, url } = await prepare({}, completion("x"));
    vi.stubEnv("OPENAI_BASE_URL", `${url}/v1`);
    vi.stubEnv("OPENAI_API_KEY", " sk-secret-of-the-environment\n");
    await createOpenAiProvider().generate(request);
    expect(requests[0]?.headers["authorization"]).toBe("Bearer sk-secret-of-the-environment");
  });

  test("a request of the OpenAI provider is sent through the proxy of the environment", async () => {
    const { url, requests } = await prepare({}, completion("x"));
    vi.stubEnv("HTTP_PROXY", url);
    for (const name of ["http_proxy", "no_proxy", "NO_PROXY"]) vi.stubEnv(name, undefined);
    await createOpenAiProvider({ baseUrl: "http://models.example/v1", apiKey: "key" }).generate(request);
    expect(requests).toMatchObject([{ target: "http://models.example/v1/chat/completions", headers: { host: "models.example" } }]);
  });

  test("a request of the OpenAI provider works with a server for chat completions", async () => {
    const model = await createModelServer();
    onTestFinished(() => model.close());
    const marker = model.scenario([{ text: "# Scripted", chunks: 3 }]);
    const provider = createOpenAiProvider({ baseUrl: `${model.url}/v1`, apiKey: "key" });
    const messages = [{ role: "user" as const, content: `${marker} ${FIX_INSTRUCTION}` }];
    expect(await provider.generate({ model: "small", messages })).toMatchObject({ text: "# Scripted", usage: { inputTokens: 130 } });
  });

  test.each([
    [
      "every count",
      {
        prompt_tokens: 130,
        completion_tokens: 30,
        prompt_tokens_details: { cached_tokens: 20 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
      { inputTokens: 130, outputTokens: 30, cacheReadTokens: 20, thinkingTokens: 5 },
    ],
    ["no details", { prompt_tokens: 130, completion_tokens: 30, prompt_tokens_details: null }, { inputTokens: 130, outputTokens: 30 }],
    ["only prompt tokens", { prompt_tokens: 130 }, undefined],
    ["no numbers", { prompt_tokens: "many", completion_tokens: -1 }, undefined],
    ["nothing", undefined, undefined],
  ])("a request of the OpenAI provider reports the usage of an API that counts %s", async (_, usage, expected) => {
    const choices = [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }];
    const { provider } = await prepare({}, json(200, { choices, usage }));
    expect((await provider.generate(request)).usage).toEqual(expected);
  });
});

describe("an invalid option is rejected", () => {
  test.each<[string, OpenAiProviderOptions, string]>([
    ["no key for OpenAI", { apiKey: null, baseUrl: undefined }, "No API key: set OPENAI_API_KEY."],
    ["an empty key", { apiKey: "  " }, "No API key: set OPENAI_API_KEY."],
    ["a key of two lines", { apiKey: "sk-secret\nx-header: 1" }, "The API key contains characters that are not allowed in a header."],
    [
      "no address",
      { apiKey: "k", baseUrl: "api.openai.com/v1" },
      "The base URL must be an http or https URL such as https://api.openai.com/v1.",
    ],
    ["a file URL", { apiKey: "k", baseUrl: "file:///v1" }, "The base URL must be an http or https URL such as https://api.openai.com/v1."],
    ["a password in the address", { apiKey: "k", baseUrl: "https://me:sk-secret@host/v1" }, "must not contain a user name, a password"],
    ["a key in the address", { apiKey: "k", baseUrl: "https://host/v1?key=sk-secret" }, "must not contain a user name, a password"],
    ["retries below 0", { apiKey: "k", retries: -1 }, "retries must be an integer from 0 to 2147483647; got -1."],
    ["a fraction of a millisecond", { apiKey: "k", timeoutMs: 0.5 }, "timeoutMs must be an integer from 0 to 2147483647; got 0.5."],
    [
      "a duration above the maximum of a timer",
      { apiKey: "k", timeoutMs: 2 ** 31 },
      "timeoutMs must be an integer from 0 to 2147483647; got 2147483648.",
    ],
  ])("%s", (_, options, message) => {
    vi.stubEnv("OPENAI_BASE_URL", undefined);
    vi.stubEnv("OPENAI_API_KEY", undefined);
    expect(() => createOpenAiProvider(options)).toThrow(message);
    expect(() => createOpenAiProvider(options)).not.toThrow("sk-secret");
  });

  test("no model", async () => {
    const { provider, requests } = await prepare({}, completion("x"));
    await expect(provider.generate({ ...request, model: "" })).rejects.toThrow("requires the name of a model");
    expect(requests).toEqual([]);
  });
});

describe("retries", () => {
  test.each<[string, Answer]>([
    ["too many requests", refusal(429)],
    ["a temporary error", refusal(503)],
    ["an HTML page of a proxy", (response) => response.writeHead(502).end("<html>")],
    ["an overload", refusal(529)],
    ["a lost connection", hangUp],
  ])("%s is retried", async (_, answer) => {
    const { provider, requests } = await prepare({}, answer, answer, completion("x"));
    expect(await provider.generate(request)).toEqual({ text: "x" });
    expect(requests).toHaveLength(3);
  });

  test.each([0, 1, 2])("retries: %i sends this many further requests", async (retries) => {
    const { provider, requests } = await prepare({ retries }, refusal(500));
    expect(await failureOf(provider.generate(request))).toMatchObject({ status: 500 });
    expect(requests).toHaveLength(retries + 1);
  });

  test("a request is retried twice by default", async () => {
    const { provider, requests } = await prepare({}, refusal(500));
    await failureOf(provider.generate(request));
    expect(requests).toHaveLength(3);
  });

  test.each<[number, string | null]>([
    [400, null],
    [401, "invalid_api_key"],
    [403, null],
    [404, "model_not_found"],
    [422, null],
    [429, "insufficient_quota"],
  ])("%i %s is not retried", async (status, code) => {
    const { provider, requests } = await prepare({}, refusal(status, "It said no.", code));
    expect((await failureOf(provider.generate(request))).message).toMatch(
      new RegExp(`^The model API returned ${status}\\. .*It said no\\.$`),
    );
    expect(requests).toHaveLength(1);
  });

  test.each<[string, () => string]>([
    ["seconds", () => "1"],
    ["a date", () => new Date(Date.now() + 2_500).toUTCString()],
  ])("a pause that the API requests in %s is kept", async (_, retryAfter) => {
    // Computed when the server responds, which may be late.
    const later: Answer = (...exchange) => refusal(429, "Later.", null, { "retry-after": retryAfter() })(...exchange);
    const { provider } = await prepare({}, later, completion("x"));
    expect(await outlasts(async () => expect(await provider.generate(request)).toEqual({ text: "x" }), 900)).toBe(true);
  });

  test("a pause of 0 seconds and a date in the past cause no pause", async () => {
    const { provider } = await prepare(
      { retryDelayMs: 30_000 },
      refusal(429, "Later.", null, { "retry-after": "0" }),
      refusal(429, "Later.", null, { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }),
      completion("x"),
    );
    expect(await provider.generate(request)).toEqual({ text: "x" });
  });

  test("a pause above the maximum fails the request", async () => {
    const { provider, requests } = await prepare({}, refusal(429, "Tomorrow.", null, { "retry-after": "86400" }));
    expect(await failureOf(provider.generate(request))).toMatchObject({ status: 429, retryAfterMs: 86_400_000 });
    expect(requests).toHaveLength(1);
  });
});

describe("a response without a complete document is an error", () => {
  test.each<[string, Answer, string]>([
    ["a truncated text", completion("# Half", "length"), "its token limit; the document is incomplete"],
    ["a filtered text", completion("# Ha", "content_filter"), "A content filter truncated the document."],
    ["an empty text", completion(""), "The model returned no text."],
    ["no text", completion(null), "The model returned no text."],
    ["a refusal", json(200, { choices: [{ message: { content: null, refusal: "I will not." } }] }), "The model refused: I will not."],
    ["no choice", json(200, { choices: [] }), "The model returned no text."],
    ["choices that are not a list", json(200, { choices: { message: { content: "x" } } }), "The model returned no text."],
    ["null", (response) => response.writeHead(200).end("null"), "The model returned no text."],
    [
      "an HTML page",
      (response) => response.writeHead(200).end("<html>"),
      "Check that the base URL is an OpenAI-compatible API and ends with /v1.",
    ],
    ["an endless response", (response) => void response.writeHead(200).end(Buffer.alloc(33 * 1024 ** 2, "x")), "exceeds 33554432 bytes"],
    ["a redirect", (response) => response.writeHead(307, { location: "http://127.0.0.1:1/" }).end(), "The model API returned 307."],
  ])("%s", async (_, answer, message) => {
    const { provider, requests } = await prepare({}, answer);
    expect((await failureOf(provider.generate(request))).message).toContain(message);
    expect(requests).toHaveLength(1);
  });

  test.each([
    ["the whole key", "Incorrect API key provided: sk-secret-1234567890."],
    ["a part of it", "Incorrect API key provided: sk-secre**********7890."],
  ])("an error message does not repeat %s", async (_, message) => {
    const { provider } = await prepare({}, refusal(401, message));
    expect((await failureOf(provider.generate(request))).message).toBe(
      "The model API returned 401. Check the API key. Incorrect API key provided: [key].",
    );
  });

  test("an API that cannot be reached", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const provider = createOpenAiProvider({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: "sk-secret", retries: 0 });
    expect((await failureOf(provider.generate(request))).message).toMatch(
      new RegExp(`^The model API at http://127\\.0\\.0\\.1:${port} cannot be reached: .*ECONNREFUSED`),
    );
  });

  test.each<[string, Answer]>([
    ["before the response", silence],
    ["within the response", (response) => void response.writeHead(200).write('{"choices":')],
  ])("an API that is silent %s", async (_, answer) => {
    const { provider, requests } = await prepare({ timeoutMs: 200, retries: 1 }, answer);
    expect((await failureOf(provider.generate(request))).message).toMatch(/did not answer within 200 ms\.$/);
    expect(requests).toHaveLength(2);
  });
});

describe("an abort rejects with its reason", () => {
  test.each<[string, Answer]>([
    ["during a request", silence],
    ["in a pause before a retry", refusal(429, "Later.", null, { "retry-after": "30" })],
  ])("%s", async (_, answer) => {
    const controller = new AbortController();
    const { provider, requests } = await prepare({}, (response) => {
      answer(response);
      setTimeout(() => controller.abort(new Error("called off")), 50);
    });
    await expect(provider.generate({ ...request, signal: controller.signal })).rejects.toThrow("called off");
    expect(requests).toHaveLength(1);
  });

  test("before the request", async () => {
    const { provider, requests } = await prepare({}, completion("x"));
    await expect(provider.generate({ ...request, signal: AbortSignal.abort(new Error("called off")) })).rejects.toThrow("called off");
    expect(requests).toEqual([]);
  });
});
