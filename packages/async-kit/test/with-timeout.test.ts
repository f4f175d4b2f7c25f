import { withTimeout } from "@hak2i/async-kit";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const LIMIT_MS = 1_000;
const late = () => "late";
const fail = (): never => {
  throw new Error("The limit has passed.");
};
const settleAfter = (durationMs: number, act: () => string) =>
  new Promise<string>((resolve, reject) => {
    setTimeout(() => {
      try {
        resolve(act());
      } catch (error) {
        reject(error);
      }
    }, durationMs);
  });
const refuse = (): never => {
  throw new Error("The work failed.");
};

test.each<[what: string, work: () => Promise<string>, onTimeout: () => string, expected: PromiseSettledResult<string>]>([
  ["settled work is returned", async () => "done", late, { status: "fulfilled", value: "done" }],
  ["settled work is returned, also with a limit of 0 ms", async () => "done", fail, { status: "fulfilled", value: "done" }],
  ["work within the limit is returned", () => settleAfter(999, () => "done"), late, { status: "fulfilled", value: "done" }],
  [
    "an error within the limit is thrown",
    () => settleAfter(999, refuse),
    late,
    { status: "rejected", reason: new Error("The work failed.") },
  ],
  [
    "late work is replaced by the result of onTimeout",
    () => settleAfter(1_001, () => "done"),
    late,
    { status: "fulfilled", value: "late" },
  ],
  [
    "work that never settles is replaced by an error of onTimeout",
    () => new Promise(() => {}),
    fail,
    { status: "rejected", reason: new Error("The limit has passed.") },
  ],
  ["a late error is ignored", () => settleAfter(1_001, refuse), late, { status: "fulfilled", value: "late" }],
])("%s", async (what, work, onTimeout, expected) => {
  const result = Promise.allSettled([withTimeout(work(), what.endsWith("0 ms") ? 0 : LIMIT_MS, onTimeout)]);
  await vi.advanceTimersByTimeAsync(LIMIT_MS);
  expect(await result).toEqual([expected]);
  await vi.advanceTimersByTimeAsync(1);
  expect(vi.getTimerCount()).toBe(0);
});

test("work that settles before the limit leaves no timer", async () => {
  expect(await withTimeout(Promise.resolve("done"), LIMIT_MS, late)).toBe("done");
  expect(vi.getTimerCount()).toBe(0);
  await expect(withTimeout(Promise.reject(new Error("The work failed.")), LIMIT_MS, late)).rejects.toThrow("The work failed.");
  expect(vi.getTimerCount()).toBe(0);
});

test("onTimeout is called only after the limit", async () => {
  const onTimeout = vi.fn();
  const result = withTimeout(new Promise<void>(() => {}), LIMIT_MS, onTimeout);
  await vi.advanceTimersByTimeAsync(LIMIT_MS - 1);
  expect(onTimeout).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(onTimeout).toHaveBeenCalledOnce();
  await result;
});
