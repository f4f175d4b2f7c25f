import { expect, test, vi } from "vitest";
import { createRequestRates } from "../../../src/http/wire/request-rates.ts";
import { createSharedRates } from "../../../src/http/wire/shared-rates.ts";

/** Two nodes with a common clock, and the database between them, whose minute ends at `endsAt`. */
function openNodes(endsAt: () => number) {
  const sums = new Map<string, number>();
  const database = { isAway: false };
  const add = async (counts: ReadonlyMap<string, number>) => {
    if (database.isAway) throw new Error("away");
    for (const [key, count] of counts) sums.set(key, (sums.get(key) ?? 0) + count);
    return { sums: new Map([...counts.keys()].map((key) => [key, sums.get(key) ?? 0])), endsInMs: endsAt() - performance.now() };
  };
  const open = () => {
    const { count, close } = createRequestRates({ perMinute: 9, shared: createSharedRates(add) });
    return { request: count, close };
  };
  return { database, sums, nodes: [open(), open()] as const };
}

test("each node counts the requests of all nodes after a second, until the minute of the database ends", async () => {
  vi.useFakeTimers();
  const endsAt = performance.now() + 30_000;
  const { sums, nodes } = openNodes(() => endsAt);
  const [first, second] = nodes;
  for (let count = 0; count < 5; count += 1) first.request("a");
  expect(second.request("a").current).toBe(1);
  await vi.advanceTimersByTimeAsync(1_000);
  // Each node has shared its requests; the first one did so before the second one.
  expect(second.request("a")).toEqual({ current: 7, ttl: 29_000 });
  expect(second.request("b").current).toBe(1);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(Object.fromEntries(sums)).toEqual({ a: 7, b: 1 });
  await vi.advanceTimersByTimeAsync(28_001);
  // The local window still counts the own requests.
  expect(second.request("a").current).toBe(3);
  for (const { close } of nodes) close();
  vi.useRealTimers();
});

test("a node that cannot share its requests counts its own, and shares them later", async () => {
  vi.useFakeTimers();
  const endsAt = performance.now() + 30_000;
  const { database, sums, nodes } = openNodes(() => endsAt);
  database.isAway = true;
  nodes[0].request("a");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(nodes[0].request("a").current).toBe(2);
  database.isAway = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(Object.fromEntries(sums)).toEqual({ a: 2 });
  expect(nodes[0].request("a").current).toBe(3);
  for (const { close } of nodes) close();
  vi.useRealTimers();
});

test("a node without requests sends none", async () => {
  vi.useFakeTimers();
  const add = vi.fn(async () => ({ sums: new Map(), endsInMs: 1 }));
  const { count, close } = createSharedRates(add);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(add).not.toHaveBeenCalled();
  count("a");
  await vi.advanceTimersByTimeAsync(5_000);
  expect(add).toHaveBeenCalledTimes(1);
  close();
  vi.useRealTimers();
});
