import { getEventListeners } from "node:events";
import { sleep } from "@hak2i/async-kit";
import { expect, test } from "vitest";
import { outlasts } from "../../../test/support/outlasts.ts";

const reason = new Error("The caller aborted.");
const LONG_MS = 2 ** 30;
const countTimers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

test("sleep lasts for the duration and leaves no listener on the signal", async () => {
  const { signal } = new AbortController();
  const sleepTogether = async () => {
    const sleeps = Array.from({ length: 20 }, () => sleep(20, signal));
    expect(getEventListeners(signal, "abort")).toHaveLength(20);
    await Promise.all(sleeps);
  };
  expect(await outlasts(sleepTogether, 18)).toBe(true);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("sleep lasts for the duration without a signal", async () => {
  expect(await outlasts(() => sleep(20), 18)).toBe(true);
});

test("sleep rejects with the signal's reason as soon as the signal aborts, and leaves no timer and no listener", async () => {
  const controller = new AbortController();
  const timers = countTimers();
  const sleeping = sleep(LONG_MS, controller.signal);
  expect(countTimers()).toBe(timers + 1);
  controller.abort(reason);
  await expect(sleeping).rejects.toBe(reason);
  await expect(sleep(LONG_MS, controller.signal)).rejects.toBe(reason);
  expect(countTimers()).toBe(timers);
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});
