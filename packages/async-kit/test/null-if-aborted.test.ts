import { getEventListeners } from "node:events";
import { nullIfAborted } from "@hak2i/async-kit";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const GRACE_MS = 1_000;
const failure = new Error("The work failed.");
const doneAfter = (durationMs: number) => () => new Promise<string>((resolve) => setTimeout(() => resolve("done"), durationMs));

test.each<[what: string, abort: "before" | "after" | "never", work: () => Promise<string>, expected: PromiseSettledResult<string | null>]>([
  ["the result of the work is returned", "never", async () => "done", { status: "fulfilled", value: "done" }],
  ["an error of the work is thrown", "never", () => Promise.reject(failure), { status: "rejected", reason: failure }],
  [
    "settled work is returned, also when the signal has aborted before",
    "before",
    async () => "done",
    { status: "fulfilled", value: "done" },
  ],
  ["work that settles within the grace period is returned", "after", doneAfter(GRACE_MS - 1), { status: "fulfilled", value: "done" }],
  ["work that settles after the grace period is replaced by null", "after", doneAfter(GRACE_MS + 1), { status: "fulfilled", value: null }],
  ["work that never settles is replaced by null", "before", () => new Promise(() => {}), { status: "fulfilled", value: null }],
])("%s", async (_, abort, work, expected) => {
  const controller = new AbortController();
  if (abort === "before") controller.abort();
  const result = Promise.allSettled([nullIfAborted(work(), controller.signal, GRACE_MS)]);
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
  if (abort === "after") controller.abort();
  await vi.advanceTimersByTimeAsync(GRACE_MS);
  expect(await result).toEqual([expected]);
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(vi.getTimerCount()).toBe(0);
});

test("work that settles within the grace period leaves no timer", async () => {
  const work = Promise.withResolvers<string>();
  const controller = new AbortController();
  const result = nullIfAborted(work.promise, controller.signal, GRACE_MS);
  controller.abort();
  expect(vi.getTimerCount()).toBe(1);
  work.resolve("done");
  expect(await result).toBe("done");
  expect(vi.getTimerCount()).toBe(0);
});

test("an error of the work after the grace period is ignored", async () => {
  const work = Promise.withResolvers<string>();
  const result = nullIfAborted(work.promise, AbortSignal.abort());
  await vi.advanceTimersByTimeAsync(1);
  expect(await result).toBeNull();
  work.reject(failure);
});
