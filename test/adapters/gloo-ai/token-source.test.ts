import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createAuthorizedFetch } from "../../../adapters/gloo-ai/authorized-fetch.ts";
import { createTokenSource, type TokenClient } from "../../../adapters/gloo-ai/token-source.ts";
import type { ModelFetch } from "../../../adapters/shared/model-api/model-endpoint.ts";
import { createModelHttp } from "../../../adapters/shared/model-api/model-http.ts";
import { client, createGlooServer, type GlooServer } from "./gloo-server.ts";

let gloo: GlooServer;
let at = 1_000_000;
beforeEach(async () => {
  gloo = await createGlooServer();
});
afterEach(() => gloo.close());

const source = (changes: Partial<TokenClient> = {}) =>
  createTokenSource({
    tokenUrl: gloo.settings["tokenUrl"] ?? "",
    clientId: client.id,
    clientSecret: client.secret,
    fetch,
    shutdownSignal: new AbortController().signal,
    now: () => at,
    ...changes,
  });
const going = () => new AbortController().signal;

test("a token is used until a minute before it expires", async () => {
  const tokens = source();
  expect(await tokens.getToken(going())).toBe("token-1");
  at += (3600 - 61) * 1000;
  expect(await tokens.getToken(going())).toBe("token-1");
  at += 1000;
  expect(await tokens.getToken(going())).toBe("token-2");
  expect(gloo.tokens.minted).toHaveLength(2);
});

test("a short-lived token is used for half of its lifetime", async () => {
  gloo.tokens.seconds = 10;
  const tokens = source();
  expect(await tokens.getToken(going())).toBe("token-1");
  at += 4_999;
  expect(await tokens.getToken(going())).toBe("token-1");
  at += 1;
  expect(await tokens.getToken(going())).toBe("token-2");
});

test("concurrent callers share one token request, also after a rejected token", async () => {
  const tokens = source();
  expect(await Promise.all([tokens.getToken(going()), tokens.getToken(going()), tokens.getToken(going())])).toEqual(
    Array(3).fill("token-1"),
  );
  expect(await Promise.all([tokens.getToken(going(), "token-1"), tokens.getToken(going(), "token-1")])).toEqual(Array(2).fill("token-2"));
  expect(await tokens.getToken(going(), "token-1")).toBe("token-2");
});

test("an aborted caller does not cancel the token request of the others", async () => {
  const gate = Promise.withResolvers<void>();
  gloo.tokens.gate = gate.promise;
  const tokens = source();
  const leaving = new AbortController();
  const left = tokens.getToken(leaving.signal);
  const stays = tokens.getToken(going());
  leaving.abort(new Error("cancelled"));
  await expect(left).rejects.toThrow("cancelled");
  await expect(tokens.getToken(leaving.signal)).rejects.toThrow("cancelled");
  gate.resolve();
  expect(await stays).toBe("token-1");
  expect(gloo.tokens.minted).toHaveLength(1);
});

test("a shutdown of the adapter cancels the token request", async () => {
  gloo.tokens.gate = new Promise(() => {});
  const closing = new AbortController();
  const waiting = source({ shutdownSignal: closing.signal }).getToken(undefined);
  await expect.poll(() => gloo.tokens.minted).toHaveLength(1);
  closing.abort();
  await expect(waiting).rejects.toMatchObject({ errorCode: "model_error", message: expect.stringContaining("cannot be reached") });
});

test.each([
  [400, 1, "authentication_required", /GLOO_CLIENT_SECRET/],
  [401, 1, "authentication_required", /GLOO_CLIENT_SECRET/],
  [403, 1, "authentication_required", /lacks the scope api\/access/],
  [429, 3, "rate_limited", /429/],
  [500, 3, "model_error", /500/],
] as const)(
  "a token request with status %i fails after %i requests, reveals no secret and is not cached",
  async (refusal, requests, errorCode, words) => {
    gloo.tokens.refusal = refusal;
    const tokens = source();
    const error = await tokens.getToken(going()).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ errorCode, message: expect.stringMatching(words) });
    expect(JSON.stringify([error, (error as Error).message, (error as Error).stack, (error as Error).cause])).not.toContain(client.secret);
    gloo.tokens.refusal = null;
    expect(await tokens.getToken(going())).toBe(`token-${requests + 1}`);
  },
);

test("a token request is retried after a temporary failure", async () => {
  const failing: ModelFetch = (...request) => {
    gloo.tokens.refusal = gloo.tokens.minted.length === 0 ? 503 : null;
    return fetch(...request);
  };
  expect(await source({ fetch: failing }).getToken(going())).toBe("token-2");
});

test("an unreachable token endpoint fails with a message", async () => {
  const tokens = source({ tokenUrl: "http://127.0.0.1:9/oauth2/token" });
  await expect(tokens.getToken(going())).rejects.toMatchObject({
    errorCode: "model_error",
    message: expect.stringContaining("cannot be reached"),
  });
});

describe("a token endpoint that answers", () => {
  const json = { "content-type": "application/json" };
  const huge = gzipSync(Buffer.alloc(64 * 1024 ** 2, " "));
  async function open(answer: (response: ServerResponse) => unknown) {
    let asked = 0;
    const server = createServer((_, response) => {
      asked += 1;
      answer(response);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked };
  }

  test.each<[string, (response: ServerResponse, elsewhere: string) => unknown, RegExp]>([
    ["with a redirect elsewhere", (response, elsewhere) => response.writeHead(307, { location: elsewhere }).end(), /cannot be reached/],
    [
      "with a compressed bomb",
      (response) => response.writeHead(200, { ...json, "content-encoding": "gzip" }).end(huge),
      /cannot be reached/,
    ],
    ["with a page", (response) => response.end("<html>"), /returned no token/],
    ["with null", (response) => response.end("null"), /returned no token/],
    ["with a token that is not a string", (response) => response.end('{"access_token":5}'), /returned no token/],
    ["with a token that is not valid in a header", (response) => response.end('{"access_token":"a\\r\\nx: y"}'), /returned no token/],
    ["with a negative lifetime", (response) => response.end('{"access_token":"a","expires_in":-5}'), /returned no token/],
  ])("%s fails with a message, and the secret is sent to no other server", async (_, answer, words) => {
    const elsewhere = await open((response) => response.end('{"access_token":"stolen"}'));
    const { url } = await open((response) => answer(response, elsewhere.url));
    const http = createModelHttp({ env: {} } as Parameters<typeof createModelHttp>[0]);
    onTestFinished(() => http.close());
    await expect(source({ tokenUrl: url, fetch: http.fetch }).getToken(going())).rejects.toThrow(words);
    expect(elsewhere.asked()).toBe(0);
  });
});

test("a rejected token is replaced once, and the request is sent once more", async () => {
  const call = createAuthorizedFetch(source(), fetch);
  const ask = () =>
    call(`${gloo.settings["baseUrl"]}/chat/completions`, { method: "POST", body: JSON.stringify({ messages: ["m"], model: "x" }) });
  gloo.answerNext({ body: { answer: "first" } });
  expect(await (await ask()).json()).toEqual({ answer: "first" });
  gloo.revoke();
  gloo.answerNext({ body: { answer: "second" } });
  expect(await (await ask()).json()).toEqual({ answer: "second" });
  expect(gloo.asked.map(({ token }) => token)).toEqual(["token-1", "token-1", "token-2"]);
  // A second status 401 is returned; there is no third request.
  const alwaysRejected = createAuthorizedFetch({ currentToken: "", getToken: async () => "never good" }, fetch);
  expect((await alwaysRejected(`${gloo.settings["baseUrl"]}/chat/completions`, { method: "POST", body: "{}" })).status).toBe(401);
  expect(gloo.asked).toHaveLength(5);
});
