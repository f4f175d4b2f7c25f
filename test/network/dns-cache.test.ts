import { describe, expect, test } from "vitest";
import { createDnsCache } from "../../src/network/dns-cache.ts";
import type { FoundAddress } from "../../src/network/dns-resolver.ts";

/** Creates a cache with a resolver that responds on command. */
function open(clock = () => 0) {
  const asked: string[] = [];
  const questions = new Map<string, PromiseWithResolvers<FoundAddress[]>>();
  const dnsCache = createDnsCache({
    clock,
    resolve(hostname) {
      asked.push(hostname);
      const question = Promise.withResolvers<FoundAddress[]>();
      questions.set(hostname, question);
      return question.promise;
    },
  });
  const answer = async (hostname: string, ttl?: number) => {
    questions.get(hostname)?.resolve([{ address: "192.0.2.1", family: 4, ...(ttl !== undefined && { ttl }) }]);
    await new Promise(setImmediate);
  };
  const fail = async (hostname: string) => {
    questions.get(hostname)?.reject(Object.assign(new Error("silent"), { code: "EAI_AGAIN" }));
    await new Promise(setImmediate);
  };
  return { dnsCache, asked, answer, fail };
}
const never = new AbortController().signal;
const nextTurn = () => new Promise(setImmediate);

describe("the DNS cache", () => {
  test.each([
    [undefined, 1000],
    [0, 1000],
    [5, 5000],
    [3600, 30_000],
  ])("the DNS cache keeps a result with a time to live of %s s for %i ms", async (ttl, ms) => {
    let now = 0;
    const { dnsCache, asked, answer } = open(() => now);
    const first = dnsCache.find("a.example");
    await answer("a.example", ttl);
    expect(await first).toMatchObject([{ address: "192.0.2.1" }]);
    now = ms - 1;
    await dnsCache.find("a.example");
    expect(asked).toHaveLength(1);
    now = ms;
    void dnsCache.find("a.example");
    expect(asked).toHaveLength(2);
  });

  test("the DNS cache caches a failure for a second", async () => {
    let now = 0;
    const { dnsCache, asked, fail } = open(() => now);
    const first = dnsCache.find("a.example");
    first.catch(() => {});
    await fail("a.example");
    now = 999;
    await expect(dnsCache.find("a.example")).rejects.toMatchObject({ code: "EAI_AGAIN" });
    expect(asked).toHaveLength(1);
    now = 1000;
    void dnsCache.find("a.example");
    expect(asked).toHaveLength(2);
  });

  test("the DNS cache sends one query for concurrent lookups of a name", () => {
    const { dnsCache, asked } = open();
    for (let count = 0; count < 9; count += 1) void dnsCache.find("a.example");
    void dnsCache.find("b.example");
    expect(asked).toEqual(["a.example", "b.example"]);
  });

  test("the DNS cache is ready for addresses and for names whose result is cached, but not while a query is in progress", async () => {
    let now = 0;
    const { dnsCache, answer } = open(() => now);
    expect(["192.0.2.1", "[2001:db8::1]", "a.example"].map((host) => dnsCache.isReady(host))).toEqual([true, true, false]);
    void dnsCache.find("a.example");
    expect(dnsCache.isReady("a.example")).toBe(false);
    await answer("a.example", 5);
    expect(dnsCache.isReady("a.example")).toBe(true);
    now = 5000;
    expect(dnsCache.isReady("a.example")).toBe(false);
  });

  test("the DNS cache removes the oldest name beyond its limit", async () => {
    const { dnsCache, asked, answer } = open();
    for (let index = 0; index < 2001; index += 1) {
      void dnsCache.find(`${index}.example`);
      await answer(`${index}.example`);
    }
    void dnsCache.find("1.example");
    void dnsCache.find("0.example");
    expect(asked.slice(2001)).toEqual(["0.example"]);
  });
});

describe("lookup slots", () => {
  test("a tenant has 64 concurrent lookups, and a tenant that waits does not delay others", async () => {
    const { dnsCache, asked, answer } = open();
    for (let index = 0; index < 200; index += 1) void dnsCache.prepare("a", `a${index}.example`, never);
    await dnsCache.prepare("b", "b.example", never);
    expect(asked).toHaveLength(65);
    expect(asked.at(-1)).toBe("b.example");
    await answer("a7.example");
    expect(asked.slice(65)).toEqual(["a64.example"]);
  });

  test("literals, cached names and names with a query in progress need no slot", async () => {
    const { dnsCache, asked, answer } = open();
    const prepared = dnsCache.prepare("a", "known.example", never);
    await answer("known.example", 10);
    await (await prepared).found;
    for (let index = 0; index < 64; index += 1) void dnsCache.prepare("a", `a${index}.example`, never);
    await (await dnsCache.prepare("a", "known.example", never)).found;
    await (await dnsCache.prepare("a", "192.0.2.1", never)).found;
    await (await dnsCache.prepare("a", "[2001:db8::1]", never)).found;
    await dnsCache.prepare("a", "a5.example", never);
    expect(asked).toHaveLength(65);
  });

  test("an aborted lookup leaves the queue", async () => {
    const { dnsCache, asked, answer } = open();
    for (let index = 0; index < 64; index += 1) void dnsCache.prepare("a", `a${index}.example`, never);
    const controller = new AbortController();
    const given = dnsCache.prepare("a", "given-up.example", controller.signal);
    void dnsCache.prepare("a", "next.example", never);
    controller.abort();
    await expect(given).rejects.toThrow("aborted");
    await expect(dnsCache.prepare("a", "too-late.example", controller.signal)).rejects.toThrow("aborted");
    await answer("a0.example");
    expect(asked.slice(64)).toEqual(["next.example"]);
  });

  test("a failed lookup releases its slot too, and a prepared name is found in the cache", async () => {
    const { dnsCache, asked, fail } = open();
    const first = dnsCache.prepare("a", "a0.example", never);
    for (let index = 1; index < 65; index += 1) void dnsCache.prepare("a", `a${index}.example`, never);
    await nextTurn();
    expect(asked).toHaveLength(64);
    await fail("a0.example");
    await (await first).found;
    await expect(dnsCache.find("a0.example")).rejects.toMatchObject({ code: "EAI_AGAIN" });
    expect(asked).toHaveLength(65);
  });
});
