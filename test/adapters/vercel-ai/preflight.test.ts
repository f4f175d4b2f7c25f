import { describe, expect, test } from "vitest";
import { openEndpoint, type Received } from "../shared/model-api/raw-endpoint.ts";
import { openVercelFixture } from "../shared/model-api/vercel-fixture.ts";

const key = "sk-test-0123456789abcdef";
const answers = (status: number) => openEndpoint(({ response }) => void response.writeHead(status).end("{}"));

describe("the preflight", () => {
  test.each([
    ["is well", 200, "healthy", "accepted"],
    ["refuses the key", 401, "degraded", "rejects the credentials"],
    ["forbids it", 403, "degraded", "rejects the credentials"],
    ["has no list of models", 404, "healthy", "not checked"],
    ["is busy", 429, "degraded", "could not be checked"],
    ["is broken", 500, "degraded", "could not be checked"],
  ])("of an endpoint that %s", async (_, status, health, words) => {
    const { url, requests } = await answers(status);
    const bench = await openVercelFixture({ baseUrl: `${url}/v1/`, apiKey: key });
    const found = await bench.adapter.checkHealth();
    expect(found).toMatchObject({ status: health, connection: "in-process" });
    expect(found.preflight.map(({ step, ok }) => [step, ok])).toEqual([
      ["primary connection", true],
      ["authentication", health === "healthy"],
      ["multi-agent capability", true],
      ["timeout", true],
    ]);
    expect(found.preflight[1]?.detail).toContain(words);
    expect(JSON.stringify(found)).not.toContain(key);
    // Nothing was asked that costs anything.
    expect(new Set(requests.map(({ path }) => path))).toEqual(new Set(["/v1/models"]));
  });

  test("of an endpoint that is not there, and of the same once it is", async () => {
    const { url, requests } = await answers(200);
    const bench = await openVercelFixture({ baseUrl: "http://127.0.0.1:9/v1" });
    const found = await bench.adapter.checkHealth();
    expect(found).toMatchObject({
      status: "offline",
      connection: null,
      detail: expect.stringMatching(/127\.0\.0\.1:9 cannot be reached: .*base URL/),
    });
    expect([url, requests.length]).toEqual([url, 0]);
  });

  test("asks anew each time", async () => {
    let status = 401;
    const { url } = await openEndpoint(({ response }: Received) => void response.writeHead(status).end());
    const bench = await openVercelFixture({ baseUrl: url });
    expect((await bench.adapter.checkHealth()).status).toBe("degraded");
    status = 200;
    expect((await bench.adapter.checkHealth()).status).toBe("healthy");
  });

  test("without an endpoint says which setting names one", async () => {
    const bench = await openVercelFixture({});
    const found = await bench.adapter.checkHealth();
    expect(found).toMatchObject({ status: "offline", detail: expect.stringContaining("BRIDGE_VERCEL_AI_BASE_URL") });
    expect((await bench.run({})).result).toMatchObject({ errorCode: "adapter_offline" });
  });
});

test("a proxy that is no URL is told by the name of its variable, and by nothing of its value", async () => {
  const bench = await openVercelFixture({ baseUrl: "http://127.0.0.1:9" }, { env: { https_proxy: "user:password@proxy" } });
  const words = expect.stringMatching(/HTTPS_PROXY is not a proxy URL(?!.*password)/);
  expect(await bench.adapter.checkHealth()).toMatchObject({ status: "offline", detail: words });
  expect((await bench.run({})).result).toMatchObject({ status: "error", errorCode: "adapter_offline", error: words });
});

test("cost tracking is claimed where there is a table of prices", async () => {
  const plain = await openVercelFixture({ baseUrl: "http://127.0.0.1:9" });
  const priced = await openVercelFixture({ baseUrl: "http://127.0.0.1:9", prices: {} });
  expect([plain, priced].map((bench) => bench.adapter.capabilities().costTracking)).toEqual([false, true]);
});

test.each([
  ["openai-compatible", { authorization: `Bearer ${key}` }, "/chat/completions"],
  ["anthropic", { "x-api-key": key }, "/messages"],
])("over %s the key goes where the protocol has it", async (protocol, headers, path) => {
  const { url, requests } = await answers(400);
  const bench = await openVercelFixture({ baseUrl: url, protocol, apiKey: key }, { env: { ANTHROPIC_API_KEY: "not-this-one" } });
  await bench.run({});
  expect(requests).toMatchObject([{ path, headers }]);
});

describe("an output schema", () => {
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false };
  test.each([
    ["is left to an endpoint that takes one", { structuredOutput: true }, {}, { type: "json_schema" }],
    ["stays in the message for any other", {}, {}, undefined],
    [
      "stays in the message beside tools",
      { structuredOutput: true },
      { tools: [{ name: "t", description: "", inputSchema: {} }] },
      undefined,
    ],
  ])("%s", async (_, settings, changes, format) => {
    const { url, requests } = await answers(400);
    const bench = await openVercelFixture({ baseUrl: url, ...settings });
    await bench.run({ ...changes, outputStrategy: { type: "structured", schema } });
    const sent = requests[0]?.body["response_format"] as { type: string; json_schema: { schema: unknown } } | undefined;
    if (format === undefined) expect(sent).toBeUndefined();
    else expect(sent).toMatchObject({ ...format, json_schema: { schema } });
  });
});
