import { type Attention, type BridgeClient, BridgeClientError } from "bridge-client";
import { expect, test } from "vitest";
import { checkDeadCallbacks } from "../../src/doctor/check-dead-callbacks.ts";

const { signal } = new AbortController();
const check = (list: () => Promise<Attention>) =>
  checkDeadCallbacks({ attention: { list } } as unknown as Pick<BridgeClient, "attention">, signal);
const report = (callback: number, origins: Record<string, number>) =>
  check(async () => ({
    data: [],
    counts: { approval: 0, failure: 0, callback, delivery: 2, adapter: 0 },
    receivers: [
      { kind: "delivery" as const, receiver: "oncall", count: 2 },
      ...Object.entries(origins).map(([receiver, count]) => ({ kind: "callback" as const, receiver, count })),
    ],
  }));

test("only the first origins of dead callbacks are named, and a count that Bridge has capped is a lower bound", async () => {
  const origins = { "https://a.example": 900, "https://b.example": 50, "https://c.example": 40, "https://d.example": 10 };
  expect(await report(1000, origins)).toMatchObject([
    {
      result: "warning",
      detail:
        "Bridge no longer retries at least 1000 callback(s): https://a.example (900), https://b.example (50), https://c.example (40) and 1 other(s).",
      remedy: expect.stringContaining("--origin <url>, or acknowledge them"),
    },
  ]);
});

test("an origin with characters of the shell is quoted in the remedy", async () => {
  const [first] = await report(1, { "http://a;$(b)'": 1 });
  expect(first?.remedy).toContain(String.raw`--origin 'http://a;$(b)'\''', or`);
});

test("dead deliveries of webhooks are no dead callbacks, and a Bridge without the route is not checked", async () => {
  expect(await report(0, {})).toMatchObject([{ result: "ok" }]);
  const missing = async () => Promise.reject(new BridgeClientError("not_found", "Not found.", { status: 404, requestId: null }));
  expect(await check(missing)).toEqual([]);
});
