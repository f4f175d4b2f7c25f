import { describe, expect, onTestFinished, test } from "vitest";
import { createDnsResolver, type ResolverOptions } from "../../src/network/dns-resolver.ts";
import { startNameServer, type Zone } from "./name-server.ts";

async function open(zone: Zone, options: Partial<ResolverOptions> = {}, ttlSeconds = 60) {
  const nameServer = await startNameServer(zone, { ttlSeconds });
  onTestFinished(nameServer.close);
  const resolve = createDnsResolver({
    isConfigured: () => false,
    servers: [nameServer.server],
    systemDnsConfig: { findHostAddresses: () => [], listCandidates: (name) => [name] },
    ...options,
  });
  return { resolve, questions: nameServer.questions };
}

describe("a name", () => {
  test("a name resolves to the addresses of both families, IPv4 first, with their time to live", async () => {
    const { resolve, questions } = await open((_, kind) => (kind === "A" ? ["192.0.2.1", "192.0.2.2"] : ["2001:db8::7"]));
    expect(await resolve("a.example")).toEqual([
      { address: "192.0.2.1", family: 4, ttl: 60 },
      { address: "192.0.2.2", family: 4, ttl: 60 },
      { address: "2001:db8::7", family: 6, ttl: 60 },
    ]);
    expect(questions.map(({ kind }) => kind).sort()).toEqual(["A", "AAAA"]);
  });

  test("a name in the hosts file is resolved without a query", async () => {
    const systemDnsConfig = { findHostAddresses: () => ["10.0.0.7", "::1"], listCandidates: (name: string) => [name] };
    const { resolve, questions } = await open(() => "silent", { systemDnsConfig });
    expect(await resolve("db")).toEqual([
      { address: "10.0.0.7", family: 4 },
      { address: "::1", family: 6 },
    ]);
    expect(questions).toEqual([]);
  });

  test.each(["localhost", "api.localhost", "localhost."])("%s resolves to this host without a query", async (name) => {
    const { resolve, questions } = await open(() => ["8.8.8.8"]);
    expect((await resolve(name)).map(({ address }) => address)).toEqual(["127.0.0.1", "::1"]);
    expect(questions).toEqual([]);
  });

  test("a name is completed by the search domains in order, until one exists", async () => {
    const zone: Zone = (name, kind) => (name === "orchestrator.svc.local" && kind === "A" ? ["10.1.2.3"] : "unknown");
    const systemDnsConfig = {
      findHostAddresses: () => [],
      listCandidates: (name: string) => [`${name}.team.svc.local`, `${name}.svc.local`, name],
    };
    const { resolve, questions } = await open(zone, { systemDnsConfig });
    expect(await resolve("orchestrator")).toMatchObject([{ address: "10.1.2.3" }]);
    expect([...new Set(questions.map(({ name }) => name))]).toEqual(["orchestrator.team.svc.local", "orchestrator.svc.local"]);
  });

  test("a name is found in another search domain although one fails", async () => {
    const systemDnsConfig = { findHostAddresses: () => [], listCandidates: () => ["a.broken.example", "a.example"] };
    const { resolve } = await open((name, kind) => (name !== "a.example" ? "failed" : kind === "A" ? ["192.0.2.1"] : []), {
      systemDnsConfig,
    });
    expect(await resolve("a")).toMatchObject([{ address: "192.0.2.1" }]);
  });

  test("a name is found if the name server responds for only one address family", async () => {
    const { resolve } = await open((_, kind) => (kind === "A" ? ["192.0.2.1"] : "silent"), { limitMs: 300 });
    expect(await resolve("a.example")).toMatchObject([{ address: "192.0.2.1" }]);
  });
});

describe("a name without an address", () => {
  test.each<[what: string, zone: Zone, code: string]>([
    ["a name that does not exist", () => "unknown", "ENOTFOUND"],
    ["a name without an address", () => [], "ENOTFOUND"],
    ["a zone whose name server fails", () => "failed", "EAI_AGAIN"],
    ["a name server that is silent", () => "silent", "EAI_AGAIN"],
    ["a name that does not exist with a silence about its other kind", (_, kind) => (kind === "A" ? "unknown" : "silent"), "EAI_AGAIN"],
  ])("%s", async (_, zone, code) => {
    const { resolve } = await open(zone, { limitMs: 300 });
    await expect(resolve("a.example")).rejects.toMatchObject({ code });
  });

  test.each(["a".repeat(64), `${"a.".repeat(130)}example`])("a name without an address is rejected if it is invalid: %s", async (name) => {
    const { resolve, questions } = await open(() => ["192.0.2.1"]);
    await expect(resolve(name)).rejects.toMatchObject({ code: "ENOTFOUND" });
    expect(questions).toEqual([]);
  });

  test("a name without an address is not reported as nonexistent if the name server is unreachable", async () => {
    const nameServer = await startNameServer(() => "silent");
    nameServer.close();
    const { resolve } = await open(() => "silent", { servers: [nameServer.server], limitMs: 2000 });
    await expect(resolve("a.example")).rejects.toMatchObject({ code: "EAI_AGAIN" });
  });

  test("a name without an address has one time limit for all search domains if the name server is unresponsive", async () => {
    const systemDnsConfig = { findHostAddresses: () => [], listCandidates: () => ["a.one.example", "a.two.example", "a.three.example"] };
    const { resolve, questions } = await open(() => "silent", { systemDnsConfig, limitMs: 300 });
    await expect(resolve("a")).rejects.toMatchObject({ code: "EAI_AGAIN" });
    expect(new Set(questions.map(({ name }) => name))).toEqual(new Set(["a.one.example"]));
  });
});

test("a DNS query without a response is repeated", async () => {
  let lost = 2;
  const { resolve, questions } = await open(() => (lost-- > 0 ? "silent" : ["192.0.2.1"]));
  expect((await resolve("a.example"))[0]).toMatchObject({ address: "192.0.2.1" });
  expect(questions).toHaveLength(4);
});

test("100 unresponsive names are looked up concurrently and do not delay others", async () => {
  const { resolve, questions } = await open((name) => (name.startsWith("silent") ? "silent" : ["192.0.2.1"]));
  const settled: string[] = [];
  const silent = Array.from({ length: 100 }, (_, index) => resolve(`silent${index}.example`).catch(() => void settled.push("silent")));
  await resolve("alive.example").then(() => settled.push("alive"));
  expect(settled).toEqual(["alive"]);
  await expect.poll(() => new Set(questions.map(({ name }) => name)).size, { timeout: 4000 }).toBe(101);
  await Promise.all(silent);
});
