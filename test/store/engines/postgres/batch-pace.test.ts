import { expect, test } from "vitest";
import { createBatchPace } from "../../../../src/store/engines/postgres/batch-limits.ts";

test("a busy writer begins a batch every 10 ms, and one with few operations does not wait", () => {
  let now = 1000;
  const pace = createBatchPace(() => now);
  expect(pace.pauseMs()).toBe(0);
  pace.note(3);
  expect(pace.pauseMs()).toBe(0);
  pace.note(4);
  now += 4;
  expect(pace.pauseMs()).toBe(6);
  now += 7;
  expect(pace.pauseMs()).toBe(0);
});
