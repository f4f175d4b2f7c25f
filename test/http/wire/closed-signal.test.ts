import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { createClientMemory } from "../../../src/access/client-memory.ts";
import { statsRoutes } from "../../../src/http/routes/stats.ts";
import { createUsageReader } from "../../../src/queries/usage-reader.ts";
import { createBareServer } from "../bare-server.ts";

const MIB = 1024 * 1024;
const principal = { name: "a", tenant: "a", scopes: new Set(["read", "dispatch"] as const), expiresAt: null };

/** Starts a server whose connections are counted, and that logs its errors. */
async function startServer(register: (app: FastifyInstance) => Promise<void>, options: Parameters<typeof createBareServer>[0] = {}) {
  const log: string[] = [];
  const connections = new Set<Socket>();
  const app = await createBareServer({
    logger: pino({ level: "warn" }, { write: (line: string) => void log.push(line) }),
    tokens: { find: () => principal },
    ...options,
  });
  app.server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  await register(app);
  onTestFinished(() => app.close());
  const url = await app.listen({ host: "127.0.0.1", port: 0, listenTextResolver: () => "" });

  /** Sends a request on its own connection. */
  async function send(target: string, method = "GET"): Promise<Socket> {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write(`${method} ${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a\r\nContent-Length: 0\r\n\r\n`);
    return socket;
  }
  return { url, send, log, connections };
}

test.each(["reset", "close"] as const)(
  "the stats of clients that have gone (%s) are not computed, and a computation that has started stops",
  async (how) => {
    const gate = Promise.withResolvers<void>();
    let reads = 0;
    const usage = createUsageReader({
      sumUsageParts: async () => [],
      async sumUsage() {
        reads += 1;
        await gate.promise;
        return [];
      },
    });
    const { url, send, log, connections } = await startServer(async (app) => void (await app.register(statsRoutes, { usage })));
    const gone = await Promise.all(Array.from({ length: 20 }, () => send("/api/v2/stats?window=365d&by=label")));
    await vi.waitFor(() => expect(connections.size).toBe(20));
    await vi.waitFor(() => expect(reads).toBe(1));
    for (const socket of gone)
      if (how === "reset") socket.resetAndDestroy();
      else socket.destroy();
    await vi.waitFor(() => expect(connections.size).toBe(0));
    gate.resolve();
    const response = await fetch(`${url}/api/v2/stats`, { headers: { authorization: "Bearer a" } });
    expect(response.status).toBe(200);
    // One read of the first request, and the only one of a window of 24 hours.
    expect(reads).toBe(2);
    expect(log).toEqual([]);
  },
);

test("a read whose client has gone before its turn does not start, and a write does", async () => {
  const turn = Promise.withResolvers<void>();
  let waiting = 0;
  const started: string[] = [];
  const register = async (app: FastifyInstance) => {
    for (const method of ["GET", "POST"] as const)
      app.route({
        ...{ method, url: "/work", exposeHeadRoute: false, config: { scope: "read" } },
        handler: async (request) => {
          started.push(request.method);
          return { ok: true };
        },
      });
  };
  const requestTurns = {
    take() {
      waiting += 1;
      return turn.promise;
    },
  };
  const { send, connections } = await startServer(register, { requestTurns });
  const [read, write, kept] = await Promise.all([send("/work"), send("/work", "POST"), send("/work")]);
  await vi.waitFor(() => expect(waiting).toBe(3));
  read.resetAndDestroy();
  write.resetAndDestroy();
  await vi.waitFor(() => expect(connections.size).toBe(1));
  turn.resolve();
  await once(kept, "data");
  await vi.waitFor(() => expect(started.toSorted()).toEqual(["GET", "POST"]));
});

test("a read that waits for memory ends when its client has gone", async () => {
  const clientMemory = createClientMemory({ perTenantBytes: MIB });
  const outcomes: string[] = [];
  let waiting = 0;
  const register = async (app: FastifyInstance) =>
    void app.get("/work", { config: { scope: "read" } }, async (request, reply) => {
      waiting += 1;
      await request.reserve(reply, MIB / 2).then(
        () => outcomes.push("reserved"),
        (error: Error) => outcomes.push(error.message),
      );
      return { ok: true };
    });
  const { send, connections } = await startServer(register, { clientMemory });
  const other = clientMemory.open("a");
  await other.reserve(MIB / 2 + 1);
  const gone = await send("/work");
  await vi.waitFor(() => expect(waiting).toBe(1));
  gone.resetAndDestroy();
  await vi.waitFor(() => expect(connections.size).toBe(0));
  await vi.waitFor(() => expect(outcomes).toEqual(["The client disconnected before the response."]));
  // What it waited for is not reserved afterwards.
  other.release();
  await vi.waitFor(() => expect(clientMemory.isFull("a")).toBe(false));
});
