import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

test.each([
  ["alpha", { name: "alpha", tenant: "alpha", scopes: ["dispatch", "read", "approve", "manage", "metrics"], expiresAt: null }],
  ["beta", { name: "beta", tenant: "beta", scopes: ["dispatch", "read", "approve", "manage", "metrics"], expiresAt: null }],
  ["scraper", { name: "scraper", tenant: "alpha", scopes: ["metrics"], expiresAt: null }],
  ["passing", { name: "passing", tenant: "alpha", scopes: ["read"], expiresAt: "2126-01-01T00:00:00.000Z" }],
] as const)("a token of any scope can read its own identity: %s", async (token, identity) => {
  const { status, body } = await bridge.call("GET", "/api/v2/me", { token });
  expect([status, body]).toEqual([200, { ...identity, signsCallbacks: false }]);
});

test("the identity reports that Bridge signs callbacks", async () => {
  const signing = await startBridge({ BRIDGE_CALLBACK_SECRETS: `whsec_${Buffer.alloc(24, 7).toString("base64")}` });
  expect((await signing.call("GET", "/api/v2/me")).body).toMatchObject({ signsCallbacks: true });
  await signing.close();
});

test("the identity rejects unknown tokens and query parameters", async () => {
  expectProblem(await bridge.call("GET", "/api/v2/me", { token: "expired" }), "unauthenticated");
  expectProblem(await bridge.call("GET", "/api/v2/me?all=true"), "invalid_request");
});
