import type { KeyObject } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { Agent } from "undici";
import { describe, expect, onTestFinished, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { callbackId, createCallbackEnvelope } from "../../src/callbacks/callback-envelope.ts";
import { createDestinationGuard } from "../../src/network/destination-guard.ts";
import { createDnsCache } from "../../src/network/dns-cache.ts";
import type { Lookup } from "../../src/network/dns-resolver.ts";
import { createPoster, type PostOptions } from "../../src/posts/poster.ts";
import { readSigningKeys, signCallback } from "../../src/posts/sign.ts";
import type { DueCallback } from "../../src/store/posts/interface.ts";
import { scaled } from "../harness/machine.ts";
import { blockEventLoop } from "../support/block-event-loop.ts";
import { findFreePort } from "../support/find-free-port.ts";
import { outlasts } from "../support/outlasts.ts";
import { type Answer, startReceiver, startTcpServer } from "../support/start-receiver.ts";

const body = '{"taskId":"t1","output":"ü 😀 \\u0000"}';

function callbackTo(url: string, changes: Partial<DueCallback> = {}): DueCallback {
  return {
    task: { seq: 1, tenant: "default", taskId: "t1", parentTaskId: null, agentId: "a1", provider: "memory" },
    row: 1,
    tenant: "default",
    url,
    receiver: new URL(url).origin,
    body,
    heldLength: body.length,
    state: "pending",
    attempts: 0,
    roundAttempts: 0,
    nextAttemptAt: 0,
    lastStatus: null,
    lastError: null,
    updatedAt: 0,
    traceparent: null,
    tracestate: null,
    happenedAt: 0,
    ...changes,
  };
}

/** Makes one attempt to a permitted 127.0.0.1. Its resources are closed after the test. */
async function post(
  url: string,
  options: Partial<PostOptions<DueCallback>> & {
    lookup?: Lookup;
    callback?: Partial<DueCallback>;
    signingKeys?: readonly KeyObject[];
  } = {},
) {
  const { lookup, callback, signingKeys = [], ...rest } = options;
  const dnsCache = createDnsCache({ resolve: lookup });
  const guard = createDestinationGuard({ allow: ["127.0.0.1", "receiver.example"], dnsCache });
  const dispatcher = new Agent({ connect: guard.connector, headersTimeout: 0, bodyTimeout: 0 });
  onTestFinished(() => dispatcher.destroy());
  const shutdown = new AbortController().signal;
  const poster = createPoster({
    dispatcher,
    dnsCache,
    toEnvelope: createCallbackEnvelope(signingKeys),
    timeoutMs: 5000,
    shutdown,
    clock: Date.now,
    ...rest,
  });
  return await poster.post(callbackTo(url, callback));
}

async function receive(answer?: Answer) {
  const receiver = await startReceiver(answer);
  onTestFinished(receiver.close);
  return receiver;
}

async function serve(onSocket: Parameters<typeof startTcpServer>[0]) {
  const server = await startTcpServer(onSocket);
  onTestFinished(server.close);
  return server;
}

describe("a POST", () => {
  const secrets = [24, 32].map((size) => `whsec_${Buffer.alloc(size, size).toString("base64")}`);

  test("a POST contains the exact bytes, the documented headers, and a signature for each secret", async () => {
    const receiver = await receive();
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const result = await post(`${receiver.origin}/hook/a%20b?token=x&y#part`, {
      signingKeys: readSigningKeys(secrets),
      callback: { traceparent },
    });
    expect(result).toMatchObject({ outcome: "delivered", status: 200, error: null });
    const [sent] = receiver.posts;
    expect(sent?.path).toBe("/hook/a%20b?token=x&y");
    expect(sent?.body).toEqual(Buffer.from(body));
    expect(sent?.headers).toMatchObject({
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      "user-agent": `bridge/${packageJson.version}`,
      "idempotency-key": "t1",
      traceparent,
    });
    for (const secret of secrets) {
      expect(new Webhook(secret).verify(sent?.body ?? "", sent?.headers as Record<string, string>)).toEqual(JSON.parse(body));
    }
  });

  test("a POST has no signature without secrets, and no traceparent without a trace", async () => {
    const receiver = await receive();
    await post(receiver.origin);
    expect(receiver.posts[0]?.headers).not.toHaveProperty("webhook-signature");
    expect(receiver.posts[0]?.headers).not.toHaveProperty("traceparent");
  });

  test("a POST has an id that depends on tenant and task, has no dot, and never changes", () => {
    expect(callbackId({ tenant: "default", taskId: "t1" })).toBe("msg_958122029fd33ca79f943896e15748eb");
    expect(callbackId({ tenant: "default", taskId: "t1", seq: 7 })).toBe(callbackId({ tenant: "default", taskId: "t1", seq: 7 }));
    expect(callbackId({ tenant: "default", taskId: "t1", seq: 7 })).not.toBe(callbackId({ tenant: "default", taskId: "t1", seq: 8 }));
    const ids = [
      ["a", "bc"],
      ["ab", "c"],
      ["a", "b:c"],
      ["a:b", "c"],
    ].map(([tenant, taskId]) => callbackId({ tenant: tenant as string, taskId: taskId as string }));
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect(id).toMatch(/^msg_[0-9a-f]{32}$/);
  });
});

describe("a response", () => {
  test.each([
    [200, "delivered", null],
    [201, "delivered", null],
    [204, "delivered", null],
    [299, "delivered", null],
    [300, "failed", "redirect"],
    [304, "failed", "redirect"],
    [400, "failed", "http_400"],
    [404, "failed", "http_404"],
    [410, "gone", "http_410"],
    [429, "failed", "http_429"],
    [500, "failed", "http_500"],
    [503, "failed", "http_503"],
    [599, "failed", "http_599"],
  ])("a response with status %i is %s (%s)", async (status, outcome, error) => {
    const receiver = await receive((response) => response.writeHead(status).end());
    expect(await post(receiver.origin)).toMatchObject({ outcome, status, error, retryAfterMs: null });
  });

  test.each([301, 302, 303, 307, 308])("a response with status %i is not followed", async (status) => {
    const inner = await receive();
    const receiver = await receive((response) => response.writeHead(status, { location: `${inner.origin}/inner` }).end());
    const result = await post(receiver.origin);
    expect(result).toMatchObject({ outcome: "failed", status, error: "redirect" });
    await result.drained;
    expect(inner.connections()).toBe(0);
    expect(receiver.posts).toHaveLength(1);
  });

  const now = Date.UTC(2026, 0, 1);
  test.each([
    ["7", 7000],
    ["0", 0],
    [new Date(now + 90_000).toUTCString(), 90_000],
    [new Date(now - 90_000).toUTCString(), 0],
    ["soon", null],
    ["-5", 0],
  ])("a response is read with Retry-After: %s", async (header, retryAfterMs) => {
    const receiver = await receive((response) => response.writeHead(503, { "retry-after": header }).end());
    expect(await post(receiver.origin, { clock: () => now })).toMatchObject({ outcome: "failed", retryAfterMs });
  });

  test.each([200, 500])(
    "a response whose body drips does not change the outcome of a %i, and is aborted at the deadline",
    async (status) => {
      const receiver = await receive((response) => {
        response.writeHead(status);
        const drip = setInterval(() => response.write("."), 5);
        response.once("close", () => clearInterval(drip));
      });
      const timeoutMs = scaled(300);
      const postAndDrain = async () => {
        const result = await post(receiver.origin, { timeoutMs });
        expect(result.status).toBe(status);
        expect(result.outcome).toBe(status === 200 ? "delivered" : "failed");
        await result.drained;
      };
      expect(await outlasts(postAndDrain, timeoutMs - 50)).toBe(true);
      await expect.poll(receiver.underWay).toBe(0);
    },
  );

  test("a response that arrived in time counts although Bridge was suspended until after the deadline", async () => {
    const server = await serve((socket) =>
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
        blockEventLoop(2_000);
      }),
    );
    expect(await post(`http://127.0.0.1:${server.port}`, { timeoutMs: 500 })).toMatchObject({ outcome: "delivered", status: 200 });
  });

  test("a response with an endless body is aborted after 64 KiB, before the deadline", async () => {
    let flushed = 0;
    const server = await serve((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      const more = () => {
        while (!socket.destroyed && socket.write("x".repeat(16_384))) flushed += 16_384;
      };
      socket.on("drain", more);
      more();
    });
    const result = await post(`http://127.0.0.1:${server.port}`, { timeoutMs: 3_600_000 });
    await result.drained;
    expect(result.outcome).toBe("delivered");
    // Includes the bytes in the buffers of the sockets.
    expect(flushed).toBeLessThan(16 * 1024 * 1024);
  });

  test("a response that is reset after the headers of a 200 is delivered", async () => {
    const server = await serve((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf", () => socket.resetAndDestroy());
      });
    });
    const result = await post(`http://127.0.0.1:${server.port}`);
    await result.drained;
    expect(result).toMatchObject({ outcome: "delivered", status: 200 });
  });

  test("a response that has been read lets its connection be reused", async () => {
    const receiver = await receive((response) => response.end("thanks"));
    const dispatcher = new Agent({ connect: createDestinationGuard({ allow: ["127.0.0.1"] }).connector });
    for (let count = 0; count < 3; count += 1) {
      const result = await post(receiver.origin, { dispatcher });
      await result.drained;
      await nextTurn();
    }
    await dispatcher.destroy();
    expect(receiver.posts).toHaveLength(3);
    expect(receiver.connections()).toBe(1);
  });
});

describe("a POST without a response is classified:", () => {
  const failed = (error: string) => ({ outcome: "failed", status: null, error, retryAfterMs: null });

  test("connection refused", async () => {
    expect(await post(`http://127.0.0.1:${await findFreePort()}`)).toMatchObject(failed("connection_refused"));
  });

  test("connection reset before the headers", async () => {
    const server = await serve((socket) => socket.once("data", () => socket.resetAndDestroy()));
    expect(await post(`http://127.0.0.1:${server.port}`)).toMatchObject(failed("connection_reset"));
  });

  test("connection closed before the headers", async () => {
    const server = await serve((socket) => socket.once("data", () => socket.end()));
    expect(await post(`http://127.0.0.1:${server.port}`)).toMatchObject(failed("connection_reset"));
  });

  test("a response that is not HTTP", async () => {
    const server = await serve((socket) => socket.once("data", () => socket.end("220 mail.example ESMTP\r\n")));
    expect(await post(`http://127.0.0.1:${server.port}`)).toMatchObject(failed("invalid_response"));
  });

  test("two lengths of the body", async () => {
    const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok";
    const server = await serve((socket) => socket.once("data", () => socket.end(answer)));
    expect(await post(`http://127.0.0.1:${server.port}`)).toMatchObject(failed("invalid_response"));
  });

  test("headers too large", async () => {
    const server = await serve((socket) => socket.once("data", () => socket.end(`HTTP/1.1 200 OK\r\nx: ${"x".repeat(100_000)}\r\n\r\n`)));
    expect(await post(`http://127.0.0.1:${server.port}`)).toMatchObject(failed("invalid_response"));
  });

  test("a name that does not exist", async () => {
    const lookup: Lookup = () => Promise.reject(Object.assign(new Error("no"), { code: "ENOTFOUND" }));
    expect(await post("http://receiver.example", { lookup })).toMatchObject(failed("dns_error"));
  });

  test("a rejected destination", async () => {
    expect(await post("http://10.0.0.1")).toMatchObject(failed("destination_not_allowed"));
    expect(await post("https://receiver.example", { lookup: async () => [{ address: "169.254.169.254", family: 4 }] })).toMatchObject(
      failed("destination_not_allowed"),
    );
  });

  test("an untrusted certificate", async () => {
    const pem = readFileSync(new URL("self-signed.pem", import.meta.url));
    const server = createTlsServer({ key: pem, cert: pem }, (_, response) => response.end());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    expect(await post(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)).toMatchObject(failed("tls_error"));
  });

  test("a server without TLS", async () => {
    const receiver = await receive();
    expect(await post(`https://127.0.0.1:${receiver.port}`)).toMatchObject(failed("tls_error"));
  });

  test("a lack of file descriptors does not count as an attempt", async () => {
    const lookup: Lookup = () => Promise.reject(Object.assign(new Error("too many open files"), { code: "EMFILE" }));
    expect(await post("http://receiver.example", { lookup })).toMatchObject({ outcome: "own_fault", status: null });
  });
});

describe("the deadline covers", () => {
  async function expectTimeout(url: string, lookup?: Lookup) {
    const run = async () =>
      expect(await post(url, { timeoutMs: 150, ...(lookup && { lookup }) })).toMatchObject({
        outcome: "failed",
        status: null,
        error: "timeout",
      });
    expect(await outlasts(run, 145)).toBe(true);
  }

  test("a receiver that accepts the connection and sends nothing", async () => {
    const server = await serve(() => {});
    await expectTimeout(`http://127.0.0.1:${server.port}`);
  });

  test("a TLS handshake that never ends", async () => {
    const server = await serve(() => {});
    await expectTimeout(`https://127.0.0.1:${server.port}`);
  });

  test("headers that drip", async () => {
    const server = await serve((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const drip = setInterval(() => socket.write("x: y\r\n"), 5);
      socket.once("close", () => clearInterval(drip));
    });
    await expectTimeout(`http://127.0.0.1:${server.port}`);
  });

  test("an endless series of informational responses", async () => {
    const server = await serve((socket) => {
      const drip = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n"), 5);
      socket.once("close", () => clearInterval(drip));
    });
    await expectTimeout(`http://127.0.0.1:${server.port}`);
  });

  test("a resolver that does not respond, whose late result is not used", async () => {
    const receiver = await receive();
    const late = Promise.withResolvers<Awaited<ReturnType<Lookup>>>();
    await expectTimeout(`http://receiver.example:${receiver.port}`, () => late.promise);
    late.resolve([{ address: "127.0.0.1", family: 4 }]);
    await post(receiver.origin, { callback: { body: "{}" } });
    expect(receiver.posts.map((received) => received.body.toString())).toEqual(["{}"]);
    expect(receiver.connections()).toBe(1);
  });
});

describe("a shutdown during a POST", () => {
  test("a shutdown during a POST aborts it, and that is not an attempt", async () => {
    const receiver = await receive(() => controller.abort());
    const controller = new AbortController();
    const result = await post(receiver.origin, { shutdown: controller.signal });
    expect(result).toMatchObject({ outcome: "own_fault", status: null, error: "shutdown" });
    await expect.poll(receiver.underWay).toBe(0);
  });

  test("a shutdown during a POST that started before sends nothing", async () => {
    const receiver = await receive();
    expect(await post(receiver.origin, { shutdown: AbortSignal.abort() })).toMatchObject({ outcome: "own_fault" });
    expect(receiver.posts).toHaveLength(0);
  });

  test("a shutdown during a POST does not undo a delivery whose response body still drips", async () => {
    const controller = new AbortController();
    const receiver = await receive((response) => response.writeHead(200).write("."));
    const result = await post(receiver.origin, { shutdown: controller.signal });
    controller.abort();
    await result.drained;
    expect(result.outcome).toBe("delivered");
  });
});

describe("a long body", () => {
  const parts = ['{"output":"', "ü".repeat(700_000), "x".repeat(300_000), '"}'];
  async function* read() {
    yield* parts;
  }

  test("a long body is sent in parts, the same bytes and the same signature each time", async () => {
    const receiver = await receive();
    const signingKeys = readSigningKeys([`whsec_${Buffer.alloc(32, 7).toString("base64")}`]);
    const clock = () => 1_700_000_000_000;
    for (let attempt = 0; attempt < 2; attempt += 1)
      expect(await post(receiver.origin, { signingKeys, clock, callback: { body: "", readBody: read } })).toMatchObject({
        outcome: "delivered",
      });
    const [first, second] = receiver.posts;
    const whole = Buffer.from(parts.join(""));
    expect(first?.body.equals(whole)).toBe(true);
    expect(second?.body.equals(whole)).toBe(true);
    expect(first?.headers["content-length"]).toBe(String(whole.length));
    expect(first?.headers["webhook-signature"]).toBe(second?.headers["webhook-signature"]);
    expect(first?.headers["webhook-signature"]).toBe(
      signCallback({ id: callbackId({ tenant: "default", taskId: "t1" }), timestampSeconds: 1_700_000_000, body: whole }, signingKeys),
    );
  });

  test.each([
    ["before it is sent", 1],
    ["while it is sent", 2],
  ])("a long body that the store cannot read %s does not count as an attempt", async (_name, failingRead) => {
    const receiver = await receive();
    let reads = 0;
    async function* fail() {
      reads += 1;
      yield parts.join("");
      if (reads === failingRead) throw new Error("the disk failed");
    }
    expect(await post(receiver.origin, { callback: { body: "", readBody: fail } })).toMatchObject({
      outcome: "own_fault",
      error: "body_unreadable",
    });
    expect(receiver.posts).toEqual([]);
  });
});
