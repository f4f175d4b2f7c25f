import { lookup } from "node:dns";
import { once } from "node:events";
import { type IncomingMessage, request as sendRequest } from "node:http";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import type { HostLookup } from "#contract";
import type { LocalRoute } from "../../../../adapters/shared/model-proxy/proxy-plan.ts";
import { until } from "../../../support/until.ts";
import { call, openBench, openProxy, openTask, openVendor, SECRET, sendMessage, sendRaw } from "./proxy-bench.ts";

const LIMIT_MS = 10_000;

describe("credentials", () => {
  test.each([
    ["x-api-key", (key: string) => key],
    ["x-goog-api-key", (key: string) => key],
    ["authorization", (key: string) => `Bearer ${key}`],
  ])("the vendor gets the real key in %s, and nothing of the local one", async (header, format) => {
    const { local } = await openBench((request, response) => response.end(JSON.stringify([request.rawHeaders, request.url])));
    const { body } = await call(local, "/v1/messages", { headers: { [header]: format(local.key) } });
    expect(body.toString()).toContain(JSON.stringify([header, format(SECRET)]).slice(1, -1));
    expect(body.toString()).not.toContain("bridge-");
  });

  test("the vendor gets the real key in the query, and the rest of the query is unchanged", async () => {
    const { local } = await openBench((request, response) => response.end(request.url), { secret: "real+key" });
    const { body } = await call(local, `/v1/x?alt=sse&key=${local.key}&a=%2f%20+&&b`, { headers: {} });
    expect(body.toString()).toBe("/v1/x?alt=sse&key=real%2Bkey&a=%2f%20+&&b");
  });

  test("a route without a credential removes the local key", async () => {
    const { local } = await openBench((request, response) => response.end(JSON.stringify(request.headers)), { secret: null });
    expect(JSON.parse((await call(local, "/v1/messages")).body.toString())).not.toHaveProperty("x-api-key");
  });

  test("the headers of a route replace those of the program", async () => {
    const { local } = await openBench((request, response) => response.end(JSON.stringify(request.rawHeaders)), {
      headers: { "X-Gateway-Token": "secret-of-the-gateway" },
    });
    const { body } = await call(local, "/v1/messages", { headers: { "x-api-key": local.key, "x-gateway-token": "of-the-task" } });
    expect(body.toString()).toContain("secret-of-the-gateway");
    expect(body.toString()).not.toContain("of-the-task");
  });

  test("an unknown key gets 401 and nothing else, and the vendor no request", async () => {
    let requests = 0;
    const { local } = await openBench((_, response) => {
      requests += 1;
      response.end();
    });
    const wrong = `bridge-${"x".repeat(43)}`;
    for (const headers of [{}, { "x-api-key": wrong }, { authorization: `Bearer ${SECRET}` }, { "x-api-key": `${local.key}x` }]) {
      const { status, body, message } = await call(local, "/v1/messages", { headers });
      expect([status, body.length, message.headers.connection]).toEqual([401, 0, "close"]);
    }
    expect(requests).toBe(0);
  });

  test("a request with the keys of two tasks gets 401", async () => {
    const vendor = await openVendor((_, response) => response.end());
    const proxy = await openProxy();
    const [one, other] = [openTask(proxy, { baseUrl: vendor.url }), openTask(proxy, { baseUrl: vendor.url })];
    const headers = { "x-api-key": one.local.key, authorization: `Bearer ${other.local.key}` };
    expect((await call(one.local, "/v1/messages", { headers })).status).toBe(401);
  });

  test("a key reaches only the vendor of its route", async () => {
    const answers = ["first", "second"].map((name) =>
      openVendor((request, response) => response.end(`${name} ${request.headers["x-api-key"]}`)),
    );
    const [first, second] = await Promise.all(answers);
    const proxy = await openProxy();
    const one = openTask(proxy, { baseUrl: first?.url ?? "", secret: "key-1" });
    const other = openTask(proxy, { baseUrl: second?.url ?? "", secret: "key-2" });
    const swapped = { baseUrl: one.local.baseUrl, key: other.local.key };
    expect((await call(one.local, "/v1/models", { method: "GET" })).body.toString()).toBe("first key-1");
    expect((await call(swapped, "/v1/models", { method: "GET" })).body.toString()).toBe("second key-2");
  });

  test("requests with unknown keys lose their connection after twenty answers in one second", async () => {
    const { local } = await openBench((_, response) => response.end());
    const answers = await Promise.all(Array.from({ length: 400 }, () => sendRaw(local, "GET / HTTP/1.1\r\nhost: x\r\n\r\n")));
    const answered = answers.filter((text) => text.includes("401")).length;
    // The requests may fall into several seconds.
    expect(answered).toBeGreaterThanOrEqual(20);
    expect(answered).toBeLessThan(400);
    expect(answers.filter((text) => text === "").length).toBe(400 - answered);
  });

  test("the key of a task is invalid when the task has ended", async () => {
    const { local, lease } = await openBench((_, response) => response.end("ok"));
    expect((await call(local, "/v1/models", { method: "GET" })).status).toBe(200);
    await lease.close();
    expect((await call(local, "/v1/models", { method: "GET" })).status).toBe(401);
  });
});

describe("paths", () => {
  test("a program reaches paths below the address of the route, unchanged", async () => {
    const { local } = await openBench((request, response) => response.end(request.url), { path: "/base/" });
    expect(local.baseUrl).toMatch(/\/base$/);
    expect((await call(local, "/v1/a%20b//c?x=1&y=%2F")).body.toString()).toBe("/base/v1/a%20b//c?x=1&y=%2F");
  });

  test.each([
    "/admin",
    "/base/../admin",
    "/base/%2e%2e/admin",
    "/base/.%2E/admin",
    "/base/x%2f..%2f..%2fadmin",
    "/base/%252e%252e/admin",
    "/base\\..\\admin",
    "//base/x",
    "/basement",
    "http://127.0.0.1:1/base/x",
    "/base/%ff",
  ])("a program does not reach %s", async (target) => {
    let requests = 0;
    const { local } = await openBench(
      (_, response) => {
        requests += 1;
        response.end();
      },
      { path: "/base" },
    );
    const answer = await sendRaw(
      local,
      `POST ${target} HTTP/1.1\r\nhost: x\r\nx-api-key: ${local.key}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 40[04] /);
    expect(requests).toBe(0);
  });

  test("calls go through the HTTP proxy of Bridge's environment", async () => {
    const seen: unknown[] = [];
    const gateway = await openVendor((request, response) => {
      seen.push([request.url, request.headers["x-api-key"]]);
      sendMessage(response);
    });
    const proxy = await openProxy(lookup as HostLookup, { HTTP_PROXY: gateway.url });
    const { local, reports } = openTask(proxy, { baseUrl: "http://vendor.example:8080/a" });
    expect((await call(local, "/v1/messages", { body: "{}" })).status).toBe(200);
    expect(seen).toEqual([["http://vendor.example:8080/a/v1/messages", SECRET]]);
    expect(reports).toHaveLength(1);
  });

  test("a redirect is passed on and not followed", async () => {
    let requests = 0;
    const { local, vendor } = await openBench((_, response) => {
      requests += 1;
      response.writeHead(302, { location: `${vendor.url}/elsewhere` }).end();
    });
    const { status, message } = await call(local, "/v1/messages");
    expect([status, message.headers.location, requests]).toEqual([302, `${vendor.url}/elsewhere`, 1]);
  });

  test("batches are rejected in the vendor's own form", async () => {
    const { local } = await openBench((_, response) => response.end());
    const { status, body } = await call(local, "/v1/messages/batches", { body: "{}" });
    expect([status, JSON.parse(body.toString()).error.type]).toEqual([403, "permission_error"]);
  });
});

describe("bytes", () => {
  test("10,000 chunks arrive byte for byte, in both directions", async () => {
    const chunks = Array.from({ length: 10_000 }, (_, index) =>
      Buffer.from(`data: {"n":${index},"text":"${"ü\u0000é".repeat(index % 7)}"}\n\n`),
    );
    const { local } = await openBench(async (request, response) => {
      const received = await buffer(request);
      response.writeHead(200, { "content-type": "text/event-stream", "x-received": String(received.length) });
      for (const chunk of chunks) if (!response.write(chunk)) await once(response, "drain");
      response.end();
    });
    const { body, message } = await call(local, "/v1/messages", { body: Buffer.alloc(300_000, 7) });
    expect(message.headers["x-received"]).toBe("300000");
    expect(body.equals(Buffer.concat(chunks))).toBe(true);
  });

  test("the status text, all headers, repeated ones and trailers arrive, without those of the connection", async () => {
    const { local } = await openBench((_, response) => {
      response.sendDate = false;
      response.writeHead(418, "Short And Stout", [
        "X-Odd-CASE",
        "1",
        "set-cookie",
        "a=1",
        "set-cookie",
        "b=2",
        "Trailer",
        "x-sum",
        "Keep-Alive",
        "timeout=77",
        "X-Hop",
        "1",
        "Connection",
        "keep-alive, x-hop",
      ]);
      response.write("body");
      response.addTrailers({ "x-sum": "abc" });
      response.end();
    });
    const { message } = await call(local, "/v1/messages");
    expect([message.statusCode, message.statusMessage]).toEqual([418, "Short And Stout"]);
    expect(message.rawHeaders.join("\n")).toContain("X-Odd-CASE\n1\nset-cookie\na=1\nset-cookie\nb=2\nTrailer\nx-sum");
    expect(message.headers).not.toHaveProperty("x-hop");
    expect(message.headers["keep-alive"]).not.toBe("timeout=77");
    expect(message.headers).not.toHaveProperty("date");
    expect(message.trailers).toEqual({ "x-sum": "abc" });
  });

  test("headers of 64 KiB pass in both directions", async () => {
    const long = "h".repeat(64 * 1024);
    const { local } = await openBench((request, response) => response.writeHead(200, { "x-long": request.headers["x-long"] ?? "" }).end());
    const { message } = await call(local, "/v1/messages", { headers: { "x-api-key": local.key, "x-long": long } });
    expect(message.headers["x-long"]).toBe(long);
  });

  test("a request of 64 MiB passes", async () => {
    const { local } = await openBench(async (request, response) => {
      let length = 0;
      for await (const chunk of request) length += (chunk as Buffer).length;
      response.end(String(length));
    });
    expect((await call(local, "/v1/messages", { body: Buffer.alloc(64 * 1024 ** 2, 1) })).body.toString()).toBe(String(64 * 1024 ** 2));
  });

  test("the headers of a stream are not held back until its first byte", async () => {
    const { local } = await openBench((_, response) => response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders());
    expect((await openStream(local)).message.statusCode).toBe(200);
  });

  test("the first byte of a stream is not held back", async () => {
    const first = Promise.withResolvers<void>();
    const { local } = await openBench(async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n");
      await first.promise;
      response.end("data: 2\n\n");
    });
    const { message } = await openStream(local);
    const [chunk] = await once(message, "data");
    expect(String(chunk)).toBe("data: 1\n\n");
    first.resolve();
    await once(message, "end");
  });

  test("a client of HTTP/1.0 and a client that has closed its sending side get the whole response", async () => {
    const { local } = await openBench((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream", trailer: "x-sum" });
      response.write("data: 1\n\n");
      setImmediate(() => response.end("data: 2\n\n"));
    });
    const old = await sendRaw(local, `POST /v1/messages HTTP/1.0\r\nx-api-key: ${local.key}\r\ncontent-length: 0\r\n\r\n`);
    expect(old).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\ndata: 1\n\ndata: 2\n\n$/s);
    const half = await sendRaw(
      local,
      `POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${local.key}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`,
      { halfClose: true },
    );
    expect(half).toContain("data: 2\n\n");
  });
});

describe("bad vendors and programs", () => {
  test("a slow program slows the vendor, and the proxy keeps nothing", async () => {
    let isStopped = false;
    let written = 0;
    const { local } = await openBench(async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const chunk = Buffer.alloc(64 * 1024, 120);
      // 256 MiB are more than all buffers between the vendor and the program.
      for (; written < 256 * 1024 ** 2; written += chunk.length) {
        if (response.write(chunk)) continue;
        isStopped = true;
        await once(response, "drain");
        isStopped = false;
      }
      response.end();
    });
    const socket = connect(Number(new URL(local.baseUrl).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(`POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${local.key}\r\ncontent-length: 0\r\n\r\n`);
    await once(socket, "readable");
    let before = -1;
    expect(
      await until(() => {
        const isStill = isStopped && written === before;
        before = written;
        return isStill;
      }, LIMIT_MS),
    ).toBe(true);
    expect(written).toBeLessThan(64 * 1024 ** 2);
    socket.destroy();
  });

  test("a response of 1 GiB passes without being kept", async () => {
    const size = 1024 ** 3;
    const { local } = await openBench(async (_, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": size });
      const chunk = Buffer.alloc(1024 ** 2, 120);
      for (let sent = 0; sent < size; sent += chunk.length) if (!response.write(chunk)) await once(response, "drain");
      response.end();
    });
    const { message } = await openStream(local);
    let received = 0;
    let peak = 0;
    for await (const chunk of message) {
      received += (chunk as Buffer).length;
      peak = Math.max(peak, process.memoryUsage().external + process.memoryUsage().heapUsed);
    }
    expect(received).toBe(size);
    expect(peak).toBeLessThan(400 * 1024 ** 2);
  });

  test("a break in mid-stream reaches the program as a break", async () => {
    const { local, reports } = await openBench((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"type":"message_start","message":{"model":"m","usage":{"input_tokens":7}}}\n\n');
      setImmediate(() => response.destroy());
    });
    await expect(call(local, "/v1/messages")).rejects.toThrow();
    expect(await until(() => reports.length > 0, LIMIT_MS)).toBe(true);
    expect(reports).toMatchObject([{ model: "m", usage: { inputTokens: 7 }, call: { status: 200, incomplete: true } }]);
  });

  test.each(["reset", "end"] as const)("a vendor's %s of the connection in mid-stream reaches the program as the same", async (way) => {
    const { local } = await openBench((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n", () => (way === "reset" ? response.socket?.resetAndDestroy() : response.socket?.end()));
    });
    const socket = connect(Number(new URL(local.baseUrl).port), "127.0.0.1");
    socket.write(`POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${local.key}\r\ncontent-length: 0\r\n\r\n`);
    socket.resume();
    const seen = await Promise.race([once(socket, "end").then(() => "end"), once(socket, "error").then(() => "reset")]).catch(
      () => "reset",
    );
    expect(seen).toBe(way);
    socket.destroy();
  });

  test("an address without a server, and a vendor that closes the connection, give 502 in the vendor's own form", async () => {
    const { local, vendor } = await openBench((request) => request.socket.destroy());
    for (const _ of [1, 2]) {
      const { status, body } = await call(local, "/v1/messages", { body: Buffer.alloc(1_000_000) });
      expect([status, JSON.parse(body.toString()).type]).toEqual([502, "error"]);
    }
    const proxy = await openProxy();
    const unused = openTask(proxy, { baseUrl: vendor.url.replace(/\d+$/, "1") });
    expect((await call(unused.local, "/v1/messages", { body: "{}" })).status).toBe(502);
  });

  test("an HTML page with status 500 passes unchanged and counts nothing", async () => {
    const { local, reports } = await openBench((_, response) =>
      response.writeHead(500, { "content-type": "text/html" }).end("<h1>Oops</h1>"),
    );
    const { status, body } = await call(local, "/v1/messages");
    expect([status, body.toString()]).toEqual([500, "<h1>Oops</h1>"]);
    expect(reports).toEqual([]);
  });

  test("a program that closes the connection ends the vendor's call", async () => {
    const { local, vendor, reports } = await openBench(async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"type":"message_start","message":{"model":"m","usage":{"input_tokens":7}}}\n\n');
      while (!response.destroyed) {
        response.write("event: ping\n\n");
        await new Promise(setImmediate);
      }
    });
    const { message, request } = await openStream(local);
    await once(message, "data");
    request.destroy();
    expect(await until(() => vendor.sockets.size === 0 && reports.length === 1, LIMIT_MS)).toBe(true);
    expect(reports).toMatchObject([{ usage: { inputTokens: 7 }, call: { incomplete: true } }]);
  });

  test("the end of a task ends its calls at the vendor, and reports their usage before it resolves", async () => {
    const { local, lease, vendor, reports } = await openBench((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"type":"message_start","message":{"model":"m","usage":{"input_tokens":7}}}\n\n');
    });
    const { message } = await openStream(local);
    await once(message, "data");
    await lease.close();
    expect(reports).toMatchObject([{ usage: { inputTokens: 7 }, call: { incomplete: true } }]);
    expect(await until(() => vendor.sockets.size === 0, LIMIT_MS)).toBe(true);
  });

  test("a call whose connection is being opened ends with its task", async () => {
    const looked = Promise.withResolvers<void>();
    const proxy = await openProxy(() => looked.resolve());
    const { local, lease } = openTask(proxy, { baseUrl: "http://vendor.example" });
    const pending = call(local, "/v1/messages").catch(() => "closed");
    await looked.promise;
    await lease.close();
    expect(await pending).toBe("closed");
  });

  test("a call that hangs before its response ends with its task", async () => {
    const reached = Promise.withResolvers<void>();
    const { local, lease, vendor, reports } = await openBench(() => reached.resolve());
    const pending = call(local, "/v1/messages").catch(() => "closed");
    await reached.promise;
    await lease.close();
    expect(await pending).toBe("closed");
    expect(reports).toEqual([]);
    expect(await until(() => vendor.sockets.size === 0, LIMIT_MS)).toBe(true);
  });
});

describe("spending", () => {
  test("a call that the task may not make is refused in the vendor's own form, and does not reach the vendor", async () => {
    let requests = 0;
    const task = { mayCall: async () => ({ allowed: false as const, reason: "The budget is used up." }) };
    const { local } = await openBench(
      (_, response) => {
        requests += 1;
        response.end("{}");
      },
      {},
      task,
    );
    const { status, body } = await call(local, "/v1/messages", { body: "{}" });
    expect([status, JSON.parse(body.toString())]).toEqual([
      402,
      { type: "error", error: { type: "billing_error", message: "The budget is used up." } },
    ]);
    expect((await call(local, "/v1/messages/count_tokens", { body: "{}" })).status).toBe(200);
    expect((await call(local, "/v1/models", { method: "GET" })).status).toBe(200);
    expect(requests).toBe(2);
  });

  test("the usage of a call is reported before the task is asked about the next call", async () => {
    const order: string[] = [];
    const task = {
      onCall: () => void order.push("usage"),
      mayCall: async () => {
        order.push("ask");
        return { allowed: true as const };
      },
    };
    const { local } = await openBench((_, response) => sendMessage(response), {}, task);
    for (const _ of [1, 2]) await call(local, "/v1/messages");
    expect(order).toEqual(["ask", "usage", "ask", "usage"]);
  });

  test("the usage is reported when the last event arrives, although the vendor keeps the stream open", async () => {
    const { local, reports } = await openBench((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"type":"message_delta","usage":{"input_tokens":7,"output_tokens":3}}\n\ndata: {"type":"message_stop"}\n\n');
    });
    const { message, request } = await openStream(local);
    await once(message, "data");
    expect(reports).toMatchObject([{ usage: { inputTokens: 7, outputTokens: 3 }, call: { status: 200 } }]);
    expect(reports[0]?.call).not.toHaveProperty("incomplete");
    request.destroy();
  });

  test("a held call is forwarded after the decision, and its request is complete", async () => {
    const decision = Promise.withResolvers<{ allowed: true }>();
    const { local } = await openBench(
      async (request, response) => response.end(String((await buffer(request)).length)),
      {},
      { mayCall: () => decision.promise },
    );
    const pending = call(local, "/v1/messages", { body: Buffer.alloc(500_000) });
    decision.resolve({ allowed: true });
    expect((await pending).body.toString()).toBe("500000");
  });

  test.each([2, 300_000])("a held call with a body of %i bytes that its program gives up never reaches the vendor", async (size) => {
    const decision = Promise.withResolvers<{ allowed: true }>();
    let requests = 0;
    let asked = 0;
    const { local, lease } = await openBench(
      async (request, response) => {
        requests += 1;
        response.end(String((await buffer(request)).length));
      },
      {},
      {
        mayCall: () => {
          asked += 1;
          return decision.promise;
        },
      },
    );
    const body = Buffer.alloc(size, "x");
    for (const count of [1, 2, 3]) {
      const headers = { "x-api-key": local.key, "content-length": size };
      const request = sendRequest(`${local.baseUrl}/v1/messages`, { method: "POST", headers, agent: false });
      request.on("error", () => {});
      await new Promise<void>((sent) => request.end(body, sent));
      expect(await until(() => asked === count, LIMIT_MS)).toBe(true);
      request.destroy();
      expect(await until(() => !lease.isCalling, LIMIT_MS)).toBe(true);
    }
    const repeated = call(local, "/v1/messages", { body });
    expect(await until(() => asked === 4, LIMIT_MS)).toBe(true);
    decision.resolve({ allowed: true });
    expect((await repeated).body.toString()).toBe(String(size));
    expect(requests).toBe(1);
  });

  test("the end of a task ends a call that is held", async () => {
    const asked = Promise.withResolvers<void>();
    const { local, lease } = await openBench(
      (_, response) => response.end(),
      {},
      {
        mayCall: () => {
          asked.resolve();
          return new Promise(() => {});
        },
      },
    );
    const pending = call(local, "/v1/messages").catch(() => "closed");
    await asked.promise;
    await lease.close();
    expect(await pending).toBe("closed");
  });

  test("the limit of the last call is known until the vendor answers a later one", async () => {
    const statuses = [200, 429, 200, 529];
    const { local, lease } = await openBench((_, response) => {
      const status = statuses.shift() ?? 200;
      response.writeHead(status, { "content-type": "application/json", "retry-after": "60" }).end("{}");
    });
    const seen: (boolean | number)[][] = [];
    for (const _ of [1, 2, 3, 4]) {
      await call(local, "/v1/messages");
      seen.push([lease.answered, lease.lastLimit !== null]);
    }
    expect(seen).toEqual([
      [1, false],
      [1, true],
      [2, false],
      [2, true],
    ]);
    expect(lease.lastLimit).toEqual({ resetsAt: expect.any(Number), reason: expect.stringContaining("529") });
  });

  test("a task may have 128 open calls, and the next one gets 429", async () => {
    let open = 0;
    const { local, lease } = await openBench(() => {
      open += 1;
    });
    const pending = Array.from({ length: 128 }, () => call(local, "/v1/messages").catch(() => "closed"));
    expect(await until(() => open === 128, LIMIT_MS)).toBe(true);
    expect((await call(local, "/v1/messages")).status).toBe(429);
    await lease.close();
    expect(new Set(await Promise.all(pending))).toEqual(new Set(["closed"]));
  });
});

/** Opens a stream, and returns it when its headers have arrived. */
async function openStream({ baseUrl, key }: LocalRoute) {
  const request = sendRequest(`${baseUrl}/v1/messages`, { method: "POST", headers: { "x-api-key": key }, agent: false });
  request.on("error", () => {});
  request.end();
  const [message] = (await once(request, "response")) as [IncomingMessage];
  message.on("error", () => {});
  return { request, message };
}
