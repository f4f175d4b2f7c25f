import { afterEach, expect, test, vi } from "vitest";
import { startWallClockTimer } from "../../src/timers/wall-clock-timer.ts";

afterEach(() => void vi.useRealTimers());

test("the timer follows changes of the system clock and can be canceled", () => {
  vi.useFakeTimers();
  let offset = 0;
  const clock = () => Date.now() + offset;
  const calls: string[] = [];
  const hour = 3_600_000;
  startWallClockTimer(clock() + 10 * hour, clock, () => calls.push("expired"));
  startWallClockTimer(clock() + 10 * hour, clock, () => calls.push("canceled")).cancel();
  vi.advanceTimersByTime(hour);
  expect(calls).toEqual([]);
  offset = 9 * hour;
  vi.advanceTimersByTime(60_000);
  expect(calls).toEqual(["expired"]);
});
