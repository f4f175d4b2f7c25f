import { expect, test } from "vitest";
import { createRequestRates } from "../../../src/http/wire/request-rates.ts";
import { loneRates } from "../../../src/http/wire/shared-rates.ts";

test("a window starts with the first request of a key, and the next window starts when it is over", () => {
  let now = 5_000;
  const { count } = createRequestRates({ perMinute: 9, shared: loneRates, clock: () => now });
  expect([count("a"), count("a"), count("b")]).toEqual([
    { current: 1, ttl: 60_000 },
    { current: 2, ttl: 60_000 },
    { current: 1, ttl: 60_000 },
  ]);
  now += 59_999;
  expect(count("a")).toEqual({ current: 3, ttl: 1 });
  now += 1;
  expect(count("a")).toEqual({ current: 1, ttl: 60_000 });
});
