import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createDestinationGuard } from "../../src/network/destination-guard.ts";
import { createDnsCache } from "../../src/network/dns-cache.ts";
import { createGuardedFetch } from "../../src/network/guarded-fetch.ts";

async function open(allow: readonly string[]) {
  const paths: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    paths.push(url);
    if (url === "/away") response.writeHead(302, { location: "/" });
    response.end("hello");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const guarded = createGuardedFetch(
    createDestinationGuard({ allow, dnsCache: createDnsCache({ resolve: async () => [{ address: "127.0.0.1", family: 4 }] }) }),
  );
  onTestFinished(async () => {
    await guarded.close();
    server.close();
    server.closeAllConnections();
  });
  return { ...guarded, server, paths, port: (server.address() as AddressInfo).port };
}

test("a guarded fetch reaches permitted hosts", async () => {
  const { fetch, port } = await open(["127.0.0.1"]);
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("hello");
});

test.each(["127.0.0.1", "mcp.example", "[::ffff:127.0.0.1]", "2130706433"])(
  "guardedFetch does not connect to %s when its address is not",
  async (host) => {
    const { fetch, port, paths } = await open([]);
    await expect(fetch(`http://${host}:${port}/`)).rejects.toMatchObject({ cause: { code: "destination_not_allowed" } });
    expect(paths).toEqual([]);
  },
);

test("a guarded fetch follows no redirect, whatever its caller requests", async () => {
  const { fetch, port, paths } = await open(["127.0.0.1"]);
  await expect(fetch(`http://127.0.0.1:${port}/away`, { redirect: "follow" })).rejects.toThrow();
  expect(paths).toEqual(["/away"]);
});

test("a closed guarded fetch holds no connection", async () => {
  const { fetch, port, server, close } = await open(["127.0.0.1"]);
  const connected = once(server, "connection");
  await (await fetch(`http://127.0.0.1:${port}/`)).text();
  const [socket] = await connected;
  const gone = once(socket, "close");
  await close();
  await gone;
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
});
