import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBridgeApp } from "../../support/bridge-app.ts";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { startReceiver } from "../../support/start-receiver.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

interface Description {
  paths: Record<string, Record<string, { requestBody: { content: Record<string, { example: object }> } }>>;
  webhooks: {
    taskEnded: {
      post: { parameters: { name: string; required: boolean }[]; requestBody: { content: Record<string, { schema: object }> } };
    };
  };
  components: object;
}

describe("the page at /docs", () => {
  let bridge: Bridge;
  beforeAll(async () => {
    bridge = await startBridge();
  });
  afterAll(() => bridge.close());

  test("the page has the name of the product and no other logo", async () => {
    const { text: page } = await bridge.call("GET", "/docs", { token: null });
    expect(page).toContain("<title>Bridge API</title>");
    expect(page).toContain('href="./docs/static/theme/favicon.svg"');
    expect(page).not.toContain("favicon-32x32.png");
    const { text: script } = await bridge.call("GET", "/docs/static/swagger-initializer.js", { token: null });
    expect(script).toContain('"layout":"BaseLayout"');
    const icons = ["/docs/static/theme/favicon.svg", "/favicon.ico"];
    for (const icon of await Promise.all(icons.map((target) => bridge.call("GET", target, { token: null }))))
      expect([icon.status, icon.headers.get("content-type")]).toEqual([200, expect.stringContaining("image/svg+xml")]);
  });

  test("the document of the page differs from /openapi.json only in its server, which is relative", async () => {
    const [served, ofPage] = await Promise.all(
      ["/openapi.json", "/docs/json"].map((target) => bridge.call("GET", target, { token: null })),
    );
    expect(ofPage?.body).toEqual({ ...(served?.body as object), servers: [{ url: ".." }] });
  });

  test("the page loads nothing from other origins", async () => {
    for (const target of ["/docs", "/docs/static/swagger-initializer.js", "/docs/static/theme/favicon.svg"]) {
      const { text } = await bridge.call("GET", target, { token: null });
      expect([...text.matchAll(/https?:\/\/[^\s"'<>)]+/g)].map(([url]) => url).filter((url) => !/w3\.org|stackoverflow/.test(url))).toEqual(
        [],
      );
    }
  });
});

test("every documented path responds to every other method with the documented 405", async () => {
  const bridge = await startBridge();
  try {
    const { paths } = (await bridge.call("GET", "/openapi.json")).body as Description;
    const templates = Object.entries(paths).map(([path, operations]) => ({
      target: path.replaceAll(/\{\w+\}/g, "x1"),
      pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
      methods: Object.keys(operations),
    }));
    // The target of one template can match another: `/callbacks/redeliver` is also the callback of a task with this id.
    const filled = templates.map(
      ({ target }) => [target, templates.flatMap(({ pattern, methods }) => (pattern.test(target) ? methods : []))] as const,
    );
    expect(filled.length).toBeGreaterThan(20);
    for (const [target, described] of filled)
      for (const method of ["get", "post", "put", "patch", "delete"]) {
        if (described.includes(method)) continue;
        // `call` compares the response and its headers with the OpenAPI document.
        const { status } = await bridge.call(method.toUpperCase(), target);
        expect([method, target, status]).toEqual([method, target, 405]);
      }
  } finally {
    await bridge.close();
  }
});

test("the rate limit headers are documented for the responses that have them", async () => {
  const bridge = await startBridge({ BRIDGE_RATE_LIMIT: "2" });
  try {
    for (const expected of [202, 202, 429]) {
      const { status, headers } = await bridge.dispatch({});
      expect([status, headers.get("x-ratelimit-limit")]).toEqual([expected, "2"]);
    }
  } finally {
    await bridge.close();
  }
});

test("a Bridge with default settings completes the documented example dispatch", async () => {
  const bridge = await startBridgeApp(await temporaryDirectory());
  const description = (await (await bridge.call("GET", "/openapi.json")).json()) as Description;
  const example = description.paths["/api/v2/dispatch"]?.["post"]?.requestBody.content["application/json"]?.example;
  const dispatch = async () => {
    const answer = await bridge.call("POST", "/api/v2/dispatch", example, { prefer: "wait=30" });
    return [answer.status, ((await answer.json()) as { state?: string }).state];
  };
  // The adapter is offline until its first health check after the start.
  await expect.poll(dispatch).toEqual([200, "completed"]);
});

test("a callback matches the documented webhook, including its headers", async () => {
  const receiver = await startReceiver();
  const bridge = await startBridge({ BRIDGE_CALLBACK_SECRETS: `whsec_${Buffer.alloc(32).toString("base64")}` });
  try {
    const { webhooks, components } = (await bridge.call("GET", "/openapi.json")).body as Description;
    const { parameters, requestBody } = webhooks.taskEnded.post;
    const schema = requestBody.content["application/json"]?.schema;
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile({ ...schema, components });
    const described = parameters.map(({ name }) => name);
    const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);

    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const callbackUrl = `${receiver.origin}/results`;
    for (const message of ["look", "fail"])
      await bridge.dispatch({ message, callbackUrl, metadata: { a: 1 } }, { headers: { traceparent, tracestate: "a=1" } });
    await expect.poll(() => receiver.posts.length).toBe(2);
    for (const { headers, body } of receiver.posts) {
      expect(Object.keys(headers)).toEqual(expect.arrayContaining([...required, "webhook-signature", "traceparent", "tracestate"]));
      const ofHttp = ["host", "connection", "content-type", "content-length"];
      expect(Object.keys(headers).filter((name) => !described.includes(name) && !ofHttp.includes(name))).toEqual([]);
      validate(JSON.parse(body.toString()));
      expect(validate.errors).toBeNull();
    }
  } finally {
    await bridge.close();
    await receiver.close();
  }
});

test("the API description is compressed for clients that accept gzip, and not sent again to clients that have it", async () => {
  const bridge = await startBridge();
  try {
    for (const [target, other] of [
      ["/openapi.json", "/openapi.json"],
      ["/docs/json", "/docs/json"],
      ["/openapi.yaml", "/docs/yaml"],
    ] as const) {
      const plain = await bridge.call("GET", target, { token: null, headers: { "accept-encoding": "identity" } });
      const compressed = await bridge.call("GET", other, { token: null, headers: { "accept-encoding": "gzip" } });
      const etag = plain.headers.get("etag") as string;
      expect([plain.headers.get("content-encoding"), compressed.headers.get("content-encoding")]).toEqual([null, "gzip"]);
      expect([compressed.text, compressed.headers.get("etag")]).toEqual([plain.text, etag]);
      const known = await bridge.call("GET", target, { token: null, headers: { "if-none-match": etag } });
      expect([known.status, known.text]).toEqual([304, ""]);
      expect((await bridge.call("GET", target, { token: null, headers: { "if-none-match": '"another"' } })).status).toBe(200);
    }
  } finally {
    await bridge.close();
  }
});
