import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { RouteHandlerMethod } from "fastify";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ClientMemory, createClientMemory, MAX_BYTES_PER_TENANT, type Reservation } from "../../../src/access/client-memory.ts";
import { HELD_WHILE_READ_BYTES } from "../../../src/store/tasks/long-texts.ts";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { createBareServer } from "../bare-server.ts";

const MIB = 1024 ** 2;
/** More than the buffers of a connection whose client does not read. */
const OUTPUT_BYTES = 12 * MIB;
/** Requests of clients that read. */
const CONCURRENT = 11;
const ADMITTED = Math.floor(MAX_BYTES_PER_TENANT / OUTPUT_BYTES);
const ADMITTED_IN_PARTS = Math.floor(MAX_BYTES_PER_TENANT / HELD_WHILE_READ_BYTES);

/** Opens a connection that sends a request and reads nothing until `resume`. */
function askWithoutReading(port: number, head: string): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.pause();
  socket.write(head);
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Reads to the end and returns the status, `Retry-After` and the number of bytes. */
async function readAll(socket: Socket): Promise<{ status: number; retryAfter: string | undefined; bytes: number }> {
  let bytes = 0;
  let head = "";
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (head.length < 4096) head += chunk.toString("latin1");
  });
  socket.resume();
  await once(socket, "close");
  return { status: Number(head.split(" ")[1]), retryAfter: /retry-after: (\d+)/i.exec(head)?.[1], bytes };
}

/** An adapter with large results: `outputs` are built in memory, and a long `output` is streamed. */
const largeAdapter = (field: "output" | "outputs") => {
  const text = "x".repeat(OUTPUT_BYTES);
  const adapter = createInMemoryAdapter({
    run: async () => (field === "output" ? { output: text } : { outputs: { text } }),
    provider: "large",
  });
  return { provider: adapter.provider, adapter };
};

async function bridgeWithLargeResults(field: "output" | "outputs"): Promise<Bridge> {
  const bridge = await startBridge({}, { adapters: [largeAdapter(field)] });
  onTestFinished(() => bridge.close());
  for (const token of ["alpha", "beta"] as const) {
    const { status, body } = await bridge.dispatch({ taskId: "t", provider: "large" }, { token, headers: { prefer: "wait=60" } });
    expect([status, body.state]).toEqual([200, "completed"]);
  }
  return bridge;
}

const taskRequest = (token: string) =>
  `GET /api/v2/tasks/t HTTP/1.1\r\nHost: bridge\r\nAuthorization: Bearer secret-${token}\r\nConnection: close\r\n\r\n`;

describe("unread responses", () => {
  test.each([
    ["that are built in memory", "outputs", 24, ADMITTED],
    ["that are streamed from the store", "output", ADMITTED_IN_PARTS + 9, ADMITTED_IN_PARTS],
  ] as const)("unread responses %s are limited per tenant and do not affect other tenants", async (_, field, count, admitted) => {
    const bridge = await bridgeWithLargeResults(field);
    const stalled = Array.from({ length: count }, () => askWithoutReading(bridge.port, taskRequest("alpha")));
    await Promise.all(stalled.map(async (socket) => await Promise.race([once(socket, "readable"), once(socket, "close")])));
    // The other tenant is served while the responses are unread.
    expect((await bridge.call("GET", "/api/v2/tasks/t", { token: "beta" })).text.length).toBeGreaterThan(OUTPUT_BYTES);
    const answers = await Promise.all(stalled.map(readAll));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(admitted);
    const others = answers.filter(({ status }) => status !== 200);
    expect(new Set(others.map(({ status, retryAfter }) => `${status} ${retryAfter}`))).toEqual(new Set(["503 5"]));
    // After they are read, memory is available again.
    expect((await bridge.call("GET", "/api/v2/tasks/t")).status).toBe(200);
  });
});

const principal = { name: "tester", tenant: "default", scopes: new Set(["read", "dispatch"] as const), expiresAt: null };

/** The memory of a tenant of at most 8 MiB, which records the most bytes that all tenants have occupied at once. */
function createRecordedMemory(maxWaitMs: number) {
  const memory = createClientMemory({ perTenantBytes: 8 * MIB, maxWaitMs });
  const reservations = new Set<Reservation>();
  let mostBytes = 0;
  const open: ClientMemory["open"] = (tenant) => {
    const reservation = memory.open(tenant);
    const { set } = reservation;
    reservations.add(reservation);
    reservation.set = (bytes) => {
      set(bytes);
      mostBytes = Math.max(
        mostBytes,
        [...reservations].reduce((sum, held) => sum + held.bytes, 0),
      );
    };
    return reservation;
  };
  return { ...memory, open, mostBytes: () => mostBytes };
}

async function startSmallServer(options: { maxWaitMs?: number; stalledReaderMs?: number } = {}) {
  const clientMemory = createRecordedMemory(options.maxWaitMs ?? 600_000);
  const app = await createBareServer({
    config: { bodyLimitBytes: 8 * MIB, corsOrigins: [] },
    tokens: { find: (token) => ({ ...principal, tenant: token }) },
    clientMemory,
    ...(options.stalledReaderMs !== undefined && { timeouts: { stalledReaderMs: options.stalledReaderMs } }),
  });
  app.get("/api/large", { config: { scope: "read" } }, async () => "y".repeat(OUTPUT_BYTES));
  const arrived = Promise.withResolvers<void>();
  let missing = CONCURRENT;
  app.get("/api/reserved", { config: { scope: "read" } }, async (request, reply) => {
    missing -= 1;
    if (missing === 0) arrived.resolve();
    await request.reserve(reply, 3 * MIB);
    // The first responses occupy memory until the last request waits for it.
    await arrived.promise;
    return "y".repeat(3 * MIB);
  });
  app.post("/api/echo", { config: { scope: "dispatch" } }, async () => ({ ok: true }));
  const url = await app.listen({ host: "127.0.0.1", port: 0, listenTextResolver: () => "" });
  onTestFinished(() => app.close());
  return { clientMemory, port: Number(new URL(url).port), url };
}

test("a client that stops reading is disconnected, and its bytes are released", async () => {
  const { clientMemory, port } = await startSmallServer({ stalledReaderMs: 50 });
  const stalled = askWithoutReading(port, "GET /api/large HTTP/1.1\r\nHost: bridge\r\nAuthorization: Bearer a\r\n\r\n");
  // On a busy machine, the client can be disconnected before the test looks, so the test does not wait for full memory.
  await expect.poll(clientMemory.mostBytes).toBe(OUTPUT_BYTES);
  await expect.poll(() => clientMemory.isFull("a")).toBe(false);
  expect((await readAll(stalled)).bytes).toBeLessThan(OUTPUT_BYTES);
});

test("clients that read get their responses one after the other: each of many concurrent requests waits until there is memory", async () => {
  const { clientMemory, url } = await startSmallServer();
  const read = async () => {
    const response = await fetch(`${url}/api/reserved`, { headers: { authorization: "Bearer a" } });
    return [response.status, (await response.text()).length];
  };
  const answers = await Promise.all(Array.from({ length: CONCURRENT }, read));
  expect(answers).toEqual(Array.from({ length: CONCURRENT }, () => [200, 3 * MIB]));
  expect(clientMemory.mostBytes()).toBe(6 * MIB);
});

test("slow request bodies are limited for a tenant: the next is rejected before it is read", async () => {
  const { clientMemory, port, url } = await startSmallServer({ maxWaitMs: 50 });
  const head = (token: string, bytes: number) =>
    `POST /api/echo HTTP/1.1\r\nHost: bridge\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\nConnection: close\r\n\r\n`;
  const trickling = askWithoutReading(port, `${head("a", 8 * MIB)}"`);
  await expect.poll(() => clientMemory.isFull("a")).toBe(true);
  const refused = await readAll(askWithoutReading(port, `${head("a", 100_000)}"`));
  expect([refused.status, refused.retryAfter]).toEqual([503, "5"]);
  const body = JSON.stringify("z".repeat(100_000));
  const post = (token: string) =>
    fetch(`${url}/api/echo`, { method: "POST", body, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" } });
  expect((await post("b")).status).toBe(200);
  trickling.destroy();
  await expect.poll(() => clientMemory.isFull("a")).toBe(false);
  expect((await post("a")).status).toBe(200);
});

test("the memory of the values of a body is released when its handler sends no response", async () => {
  const handled: string[] = [];
  const { post } = await startValuesServer(async (_request, reply) => {
    handled.push("lost");
    reply.hijack();
    reply.raw.destroy();
  });
  await expect(post("/api/tested")).rejects.toThrow();
  expect(handled).toEqual(["lost"]);
  expect((await post("/api/echo")).status).toBe(200);
});

test.each(["application/json", "application/octet-stream"])(
  "the memory of a body (%s) stays reserved while its handler works for a client that has disconnected",
  async (type) => {
    const started = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const { app, post } = await startValuesServer(async () => {
      started.resolve();
      await gate.promise;
      return { ok: true };
    });
    const controller = new AbortController();
    const first = post("/api/tested", { type, signal: controller.signal });
    await started.promise;
    const closed = once(app.server, "connection-closed");
    controller.abort();
    await expect(first).rejects.toThrow();
    await closed;
    expect((await post("/api/echo", { type })).status).toBe(503);
    gate.resolve();
    await expect.poll(async () => (await post("/api/echo", { type })).status).toBe(200);
  },
);

/** Starts a server that has memory for the values of one body. */
async function startValuesServer(handler: RouteHandlerMethod) {
  const app = await createBareServer({
    config: { bodyLimitBytes: 8 * MIB, corsOrigins: [] },
    tokens: { find: (token) => ({ ...principal, tenant: token }) },
    clientMemory: createClientMemory({ perTenantBytes: MIB, maxWaitMs: 50 }),
  });
  app.addContentTypeParser("application/octet-stream", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.post("/api/tested", { config: { scope: "dispatch" } }, handler);
  app.post("/api/echo", { config: { scope: "dispatch" } }, async () => ({ ok: true }));
  app.server.on("connection", (socket) => socket.once("close", () => app.server.emit("connection-closed")));
  const url = await app.listen({ host: "127.0.0.1", port: 0, listenTextResolver: () => "" });
  onTestFinished(() => app.close());
  const post = (target: string, { type = "application/json", signal = null }: { type?: string; signal?: AbortSignal | null } = {}) =>
    fetch(`${url}${target}`, {
      method: "POST",
      body: JSON.stringify("z".repeat(900_000)),
      headers: { authorization: "Bearer a", "content-type": type },
      signal,
    });
  return { app, post };
}
