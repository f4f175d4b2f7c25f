import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import packageJson from "../../../package.json" with { type: "json" };
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

const open = (target: string, headers: Record<string, string> = {}) => bridge.call("GET", target, { token: null, headers });

test.each([undefined, "*/*", "application/json", "application/json, text/html;q=0", "text/plain"])(
  "the root returns the service information as JSON without a token: Accept %s",
  async (accept) => {
    const { status, headers, body } = await open("/", accept === undefined ? {} : { accept });
    expect([status, headers.get("content-type"), headers.get("vary")]).toEqual([200, "application/json; charset=utf-8", "accept"]);
    expect(body).toEqual({
      name: "Bridge",
      version: packageJson.version,
      description: expect.any(String),
      callbackRetries: { retries: 0, seconds: 0 },
      links: expect.objectContaining({
        console: "/ui/",
        docs: "/docs",
        openapi: "/openapi.json",
        openapiYaml: "/openapi.yaml",
        health: "/health",
      }),
    });
  },
);

test("every link of the root is an existing route", async () => {
  const { links } = (await open("/")).body as { links: Record<string, string> };
  for (const link of Object.values(links)) {
    const { status } = await bridge.call("GET", link, { headers: { accept: "application/json" } });
    // Some routes require another method or a WebSocket, but none is unknown.
    expect([200, 302, 405, 406, 426], link).toContain(status);
  }
});

test.each(["text/html", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "application/xhtml+xml, TEXT/HTML ;q=0.5"])(
  "a browser is redirected to the console: Accept %s",
  async (accept) => {
    const { status, headers, text } = await open("/", { accept });
    expect([status, headers.get("location"), headers.get("vary"), text]).toEqual([302, "ui/", "accept", ""]);
  },
);

test("the root rejects parameters and other methods", async () => {
  expectProblem(await open("/?token=x&a=b"), "invalid_request");
  const refused = await bridge.call("POST", "/");
  expectProblem(refused, "method_not_allowed");
  expect(refused.headers.get("allow")).toBe("GET, HEAD");
});

test("the OpenAPI document is also served as YAML", async () => {
  const { status, headers, text } = await open("/openapi.yaml");
  expect([status, headers.get("content-type")]).toEqual([200, "application/yaml; charset=utf-8"]);
  expect(parse(text)).toEqual((await open("/openapi.json")).body);
  expect(text).toBe(readFileSync(path.resolve(import.meta.dirname, "../../../openapi.yaml"), "utf8"));
});

test("the log line with the address contains the URL of the documentation", () => {
  const line = bridge.log.map((text) => JSON.parse(text)).find(({ msg }) => msg === "listening");
  expect(line).toMatchObject({ address: bridge.url, docs: `${bridge.url}/docs` });
});
