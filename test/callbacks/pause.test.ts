import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { pause } from "../../src/callbacks/pause.ts";
import { outlasts } from "../support/outlasts.ts";

test("lasts its time, and leaves nothing behind on the signal", async () => {
  const { signal } = new AbortController();
  const pauseTogether = async () => {
    const pauses = Array.from({ length: 20 }, () => pause(20, signal));
    expect(getEventListeners(signal, "abort")).toHaveLength(20);
    await Promise.all(pauses);
  };
  expect(await outlasts(pauseTogether, 18)).toBe(true);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("ends at once when the signal says stop, or has said so before", async () => {
  const stop = new AbortController();
  const paused = pause(2 ** 30, stop.signal);
  stop.abort();
  await paused;
  await pause(2 ** 30, stop.signal);
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
});
