import { expect, test } from "vitest";
import { createRateLimitStore } from "../../../src/http/server/rate-limit-store.ts";

test("a window starts with the first request of a key, and the next window starts when it is over", () => {
  let now = 5_000;
  const Windows = createRateLimitStore(null, () => now);
  const windows = new Windows();
  const count = (key: string) => {
    let reported: unknown;
    windows.incr(
      key,
      (_, window) => {
        reported = window;
      },
      60_000,
    );
    return reported;
  };
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
