import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { startPoll } from "../../../../src/store/engines/postgres/poll.ts";

test("any number of hints during a check cause one more check after it", async () => {
  const checks: (() => void)[] = [];
  const poll = startPoll({
    check: () => new Promise<void>((resolve) => checks.push(resolve)),
    hintsArrive: () => true,
  });
  onTestFinished(poll.close);
  for (let hint = 0; hint < 100; hint += 1) poll.now();
  expect(checks).toHaveLength(1);
  checks[0]?.();
  await nextTurn();
  expect(checks).toHaveLength(2);
  checks[1]?.();
  await nextTurn();
  expect(checks).toHaveLength(2);
  poll.now();
  expect(checks).toHaveLength(3);
});

test("hints within the least interval share one check at its end", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let checks = 0;
  const poll = startPoll({
    async check() {
      checks += 1;
    },
    hintsArrive: () => true,
    leastMs: 10,
  });
  onTestFinished(poll.close);
  poll.now();
  expect(checks).toBe(1);
  for (let ms = 1; ms < 10; ms += 1) {
    await vi.advanceTimersByTimeAsync(1);
    poll.now();
  }
  expect(checks).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(checks).toBe(2);
  await vi.advanceTimersByTimeAsync(900);
  expect(checks).toBe(2);
});

test.each([
  [true, 1_000],
  [false, 250],
])("without a hint, a check follows the last one; hints arrive: %s, after %i ms", async (hintsArrive, pauseMs) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let checks = 0;
  const poll = startPoll({
    async check() {
      checks += 1;
    },
    hintsArrive: () => hintsArrive,
  });
  onTestFinished(poll.close);
  for (const expected of [1, 2, 3]) {
    await vi.advanceTimersByTimeAsync(pauseMs - 1);
    expect(checks).toBe(expected - 1);
    await vi.advanceTimersByTimeAsync(1);
    expect(checks).toBe(expected);
  }
});
