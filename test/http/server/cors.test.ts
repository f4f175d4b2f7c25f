import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";

const origin = "https://app.example";
const allowed = "access-control-allow-origin";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge({ BRIDGE_CORS_ORIGINS: `${origin},http://localhost:5173` });
});
afterAll(() => bridge.close());

/** The preflight request of a dispatch. */
const preflight = (from: string, target = "/api/v2/dispatch"): Promise<Response> =>
  fetch(bridge.url + target, {
    method: "OPTIONS",
    headers: { origin: from, "access-control-request-method": "POST", "access-control-request-headers": "authorization,content-type" },
  });

describe("with BRIDGE_CORS_ORIGINS", () => {
  test("preflight requests need no token and allow everything that the API supports", async () => {
    const { status, headers } = await preflight(origin);
    expect(status).toBe(204);
    expect(headers.get(allowed)).toBe(origin);
    expect(headers.get("access-control-allow-methods")).toContain("POST");
    expect(headers.get("access-control-allow-headers")).toBe("authorization,content-type");
    expect(headers.get("access-control-max-age")).toBe("600");
    expect(headers.get("access-control-allow-credentials")).toBeNull();
    expect(headers.get("vary")).toContain("Origin");
  });

  test("a page of a listed origin can read responses, errors and streams", async () => {
    const answers = [
      await bridge.dispatch({}, { headers: { origin } }),
      await bridge.call("GET", "/api/v2/tasks", { headers: { origin }, token: null }),
      await bridge.call("GET", "/nowhere", { headers: { origin } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 401, 404]);
    expect(answers.map(({ headers }) => headers.get(allowed))).toEqual([origin, origin, origin]);
    expect(answers[0]?.headers.get("access-control-expose-headers")).toBe(
      "x-request-id, retry-after, location, idempotent-replayed, preference-applied, etag, content-range, content-disposition",
    );

    const stop = new AbortController();
    const headers = { origin: "http://localhost:5173", authorization: "Bearer secret-alpha", accept: "text/event-stream" };
    const stream = await fetch(`${bridge.url}/api/events`, { headers, signal: stop.signal });
    stop.abort();
    expect(stream.headers.get(allowed)).toBe("http://localhost:5173");
  });

  test.each(["https://evil.example", "https://app.example.evil.example", "http://app.example", "null"])(
    "the origin %s is not allowed",
    async (from) => {
      expect((await preflight(from)).headers.get(allowed)).toBeNull();
      const answer = await bridge.call("GET", "/api/v2/tasks", { headers: { origin: from } });
      expect(answer.headers.get(allowed)).toBeNull();
      expect(answer.headers.get("vary")).toContain("Origin");
    },
  );

  test("an unknown path results in 404, and OPTIONS without a preflight is rejected with a problem", async () => {
    expect((await bridge.call("GET", "/nowhere")).body.code).toBe("not_found");
    expect((await bridge.call("DELETE", "/api/v2/dispatch")).body.code).toBe("method_not_allowed");
    expect((await bridge.call("OPTIONS", "/api/v2/dispatch")).body.code).toBe("method_not_allowed");
    expect((await bridge.call("OPTIONS", "/nowhere", { headers: { origin } })).body.code).toBe("not_found");
  });
});

test("without the setting, no other origin is allowed", async () => {
  const closed = await startBridge();
  try {
    const answer = await closed.call("OPTIONS", "/api/v2/dispatch", {
      headers: { origin, "access-control-request-method": "POST" },
    });
    expect(answer.status).toBe(405);
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
    expect((await closed.call("GET", "/api/v2/tasks", { headers: { origin } })).headers.get(allowed)).toBeNull();
  } finally {
    await closed.close();
  }
});

test("the value * allows all origins", async () => {
  const open = await startBridge({ BRIDGE_CORS_ORIGINS: "*" });
  try {
    expect((await open.call("GET", "/api/v2/tasks", { headers: { origin: "https://any.example" } })).headers.get(allowed)).toBe("*");
  } finally {
    await open.close();
  }
});
