import { expect, onTestFinished, test } from "vitest";
import { createBareServer } from "../bare-server.ts";

test("all requests take turns, except probes and dispatches with a short body", async () => {
  const taken: string[] = [];
  const app = await createBareServer({
    config: { bodyLimitBytes: 8_000, corsOrigins: [] },
    tokens: { find: () => ({ name: "a", tenant: "a", scopes: new Set(["dispatch", "read"] as const), expiresAt: null }) },
    requestTurns: {
      take(tenant) {
        taken.push(tenant);
        return null;
      },
    },
  });
  onTestFinished(() => app.close());
  const answer = async () => ({ ok: true });
  app.get("/read", { config: { scope: "read" } }, answer);
  app.post("/write", { config: { scope: "dispatch" } }, answer);
  app.post("/dispatch", { config: { scope: "dispatch", shedsLoad: true } }, answer);
  app.get("/probe", { config: { public: true, isProbe: true } }, answer);
  const takes = async (method: "GET" | "POST", url: string, length = 0): Promise<number> => {
    const before = taken.length;
    const headers = { host: "localhost", authorization: "Bearer a", ...(method === "POST" && { "content-type": "application/json" }) };
    const { statusCode } = await app.inject({
      method,
      url,
      headers,
      ...(method === "POST" && { payload: JSON.stringify("x".repeat(length)) }),
    });
    expect(statusCode).toBe(200);
    return taken.length - before;
  };
  expect([
    await takes("GET", "/read"),
    await takes("POST", "/write"),
    await takes("POST", "/dispatch"),
    await takes("GET", "/probe"),
  ]).toEqual([1, 1, 0, 0]);
  // Once before the body is checked, and once before it is parsed.
  expect(await takes("POST", "/dispatch", 5_000)).toBe(2);
});
