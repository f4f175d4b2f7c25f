import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { AdapterConfig } from "#contract";
import { createDnsResolver } from "../../src/network/dns-resolver.ts";
import { createInMemoryAdapter } from "../adapters/in-memory-adapter.ts";
import { startNameServer } from "../network/name-server.ts";
import { type Bridge, startBridge, type TokenName } from "../support/start-bridge.ts";
import { startReceiver, startTcpServer } from "../support/start-receiver.ts";

/** Starts a Bridge whose name server does not respond for some hosts. */
let bridge: Bridge;
let nameServer: Awaited<ReturnType<typeof startNameServer>>;
let config: AdapterConfig;
beforeAll(async () => {
  nameServer = await startNameServer((name, kind) => (name.startsWith("silent") ? "silent" : kind === "A" ? ["127.0.0.1"] : []));
  const systemDnsConfig = { findHostAddresses: () => [], listCandidates: (name: string) => [name] };
  const adapter = createInMemoryAdapter({ provider: "watched" });
  const { initialize } = adapter;
  adapter.initialize = (given) => {
    config = given;
    return initialize(given);
  };
  bridge = await startBridge(
    { BRIDGE_CALLBACK_ALLOW: "127.0.0.1,*.example", BRIDGE_MAX_CONCURRENT: "300" },
    {
      adapters: [{ provider: "watched", adapter }],
      resolve: createDnsResolver({ isConfigured: () => false, servers: [nameServer.server], systemDnsConfig, limitMs: 60_000 }),
    },
  );
});
afterAll(async () => {
  await bridge.close();
  nameServer.close();
});

const callbackOf = async (taskId: string, token: TokenName) =>
  (await bridge.call("GET", `/api/v2/tasks/${taskId}`, { token })).body.callback;

test("name servers that do not respond for one tenant's hosts delay no callback, MCP server or model call of other tenants", async () => {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      bridge.dispatch({ taskId: `silent${index}`, callbackUrl: `https://silent${index}.example/` }, { token: "alpha" }),
    ),
  );
  await expect.poll(() => nameServer.questions.length).toBeGreaterThanOrEqual(128);
  const mcpServers = [{ name: "tools", transport: "http", url: "https://mcp.example/" }];
  const dispatched = await bridge.dispatch(
    { taskId: "other", callbackUrl: `http://receiver.example:${receiver.port}/`, mcpServers },
    { token: "beta" },
  );
  expect(dispatched.status).toBe(202);
  await expect.poll(() => callbackOf("other", "beta")).toMatchObject({ state: "delivered", attempts: 1 });
  const found = Promise.withResolvers<unknown>();
  config.lookup("model.example", { all: true }, (error, addresses) => found.resolve(error ?? addresses));
  expect(await found.promise).toMatchObject([{ address: "127.0.0.1", family: 4 }]);
  const server = createServer((_, response) => response.end("hello")).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const response = await config.fetch(`http://tools.example:${(server.address() as AddressInfo).port}/`);
  expect(await response.text()).toBe("hello");
  // None of the lookups without a response has ended.
  const callbacks = await Promise.all(["silent0", "silent63", "silent99"].map((taskId) => callbackOf(taskId, "alpha")));
  expect(callbacks.map(({ state, attempts }) => [state, attempts])).toEqual(Array(3).fill(["pending", 0]));
});

test("a receiver that sends informational responses without end is disconnected", async () => {
  const server = await startTcpServer((socket) =>
    socket.once("data", () => {
      const go = (): void => {
        while (!socket.destroyed && socket.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(500)));
      };
      socket.on("drain", go);
      go();
    }),
  );
  onTestFinished(server.close);
  await bridge.dispatch({ taskId: "hints", callbackUrl: `http://127.0.0.1:${server.port}/` });
  const cut = { state: "dead", attempts: 1, lastStatus: null, lastError: "invalid_response" };
  await expect.poll(() => callbackOf("hints", "alpha")).toMatchObject(cut);
});
