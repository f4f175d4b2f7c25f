import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createRequestTurns } from "../../../src/http/wire/request-turns.ts";

/** Turns with a clock that only the requests of the test advance. */
function createTurns() {
  let now = 0;
  const requestTurns = createRequestTurns(() => now);
  const started: string[] = [];
  /** Takes a turn for a request that then takes this long. */
  const request = async (tenant: string, ms: number): Promise<void> => {
    const turn = requestTurns.take(tenant);
    if (turn !== null) await turn;
    started.push(tenant);
    now += ms;
  };
  return { request, started };
}

test("requests start at once while the turn of the event loop has time", () => {
  const { request, started } = createTurns();
  for (let count = 0; count < 100; count += 1) void request("a", 0.1);
  expect(started).toHaveLength(100);
});

test("a turn of the event loop starts no further request when 10 ms are used", async () => {
  const { request, started } = createTurns();
  const all = Array.from({ length: 20 }, () => request("a", 4));
  expect(started).toHaveLength(3);
  let before = started.length;
  while (started.length < 20) {
    await nextTurn();
    expect(started.length - before).toBeLessThanOrEqual(3);
    before = started.length;
  }
  await Promise.all(all);
});

test("a tenant with one request waits for one request of each other tenant at most", async () => {
  const { request, started } = createTurns();
  const many = Array.from({ length: 500 }, () => request("many", 20));
  await request("other", 1);
  expect(started.filter((tenant) => tenant === "many").length).toBeLessThanOrEqual(2);
  await Promise.all(many);
  expect(started).toHaveLength(501);
});
