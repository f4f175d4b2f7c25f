import { describe, expect, test } from "vitest";
import { openEndpoint, type Received } from "../shared/model-api/raw-endpoint.ts";
import { openVercelFixture } from "../shared/model-api/vercel-fixture.ts";

const key = "sk-test-0123456789abcdef";
const answers = (status: number) => openEndpoint(({ response }) => void response.writeHead(status).end("{}"));

describe("the preflight", () => {
  test.each([
    ["works", 200, "healthy", "accepted"],
    ["rejects the key", 401, "degraded", "rejects the credentials"],
    ["forbids access", 403, "degraded", "rejects the credentials"],
    ["cannot list models", 404, "healthy", "not checked"],
    ["is busy", 429, "degraded", "could not be checked"],
    ["fails", 500, "degraded", "could not be checked"],
  ])("the preflight reports an endpoint that %s", async (_, status, health, words) => {
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
    // The preflight sends only requests that are free.
    expect(new Set(requests.map(({ path }) => path))).toEqual(new Set(["/v1/models"]));
  });

  test("the preflight reports an unreachable endpoint", async () => {
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

  test("the preflight sends a new request each time", async () => {
    let status = 401;
    const { url } = await openEndpoint(({ response }: Received) => void response.writeHead(status).end());
    const bench = await openVercelFixture({ baseUrl: url });
    expect((await bench.adapter.checkHealth()).status).toBe("degraded");
    status = 200;
    expect((await bench.adapter.checkHealth()).status).toBe("healthy");
  });

  test("the preflight names the setting when no endpoint is configured", async () => {
    const bench = await openVercelFixture({});
    const found = await bench.adapter.checkHealth();
    expect(found).toMatchObject({ status: "offline", detail: expect.stringContaining("BRIDGE_VERCEL_AI_BASE_URL") });
    expect((await bench.run({})).result).toMatchObject({ errorCode: "adapter_offline" });
  });
});

test("an invalid proxy URL is reported by its variable and not by its value", async () => {
  const bench = await openVercelFixture({ baseUrl: "http://127.0.0.1:9" }, { env: { https_proxy: "user:password@proxy" } });
  const words = expect.stringMatching(/HTTPS_PROXY is not a proxy URL(?!.*password)/);
  expect(await bench.adapter.checkHealth()).toMatchObject({ status: "offline", detail: words });
  expect((await bench.run({})).result).toMatchObject({ status: "error", errorCode: "adapter_offline", error: words });
});

test.each([
  ["openai-compatible", { authorization: `Bearer ${key}` }, "/chat/completions"],
  ["anthropic", { "x-api-key": key }, "/messages"],
])("over %s the key is sent in the header of the protocol", async (protocol, headers, path) => {
  const { url, requests } = await answers(400);
  const bench = await openVercelFixture({ baseUrl: url, protocol, apiKey: key }, { env: { ANTHROPIC_API_KEY: "not-this-one" } });
  await bench.run({});
  expect(requests).toMatchObject([{ path, headers }]);
});

describe("an output schema", () => {
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false };
  test.each([
    ["is sent to an endpoint that supports it", { structuredOutput: true }, {}, { type: "json_schema" }],
    ["is part of the message for any other endpoint", {}, {}, undefined],
    [
      "is part of the message if the task has tools",
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
