import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLimitWatch } from "../../../../adapters/shared/agent-program/limit-watch.ts";
import type { CallLimit } from "../../../../adapters/shared/model-api/call-limit.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const HOUR_MS = 3_600_000;

function open({ waitMs = HOUR_MS as number | null } = {}) {
  const state = { limit: { resetsAt: waitMs === null ? null : Date.now() + waitMs, reason: "429" } as CallLimit | null, isBusy: false };
  const watch = createLimitWatch({ lastLimit: () => state.limit, isBusy: () => state.isBusy });
  watch.start();
  const isStoppedAfter = (seconds: number): boolean => {
    vi.advanceTimersByTime(seconds * 1_000);
    return watch.signal.aborted;
  };
  return { state, watch, isStoppedAfter };
}

test("a program that waits for a limit of an hour is stopped after ten seconds", () => {
  const { isStoppedAfter } = open();
  expect([isStoppedAfter(9), isStoppedAfter(1)]).toEqual([false, true]);
});

test("a program that calls its model or runs a tool is not stopped until it has waited for ten seconds", () => {
  const { state, isStoppedAfter } = open();
  state.isBusy = true;
  expect(isStoppedAfter(600)).toBe(false);
  state.isBusy = false;
  expect([isStoppedAfter(5), isStoppedAfter(5)]).toEqual([false, true]);
});

test("a tool between two checks starts the wait again", () => {
  const { state, isStoppedAfter } = open();
  expect(isStoppedAfter(5)).toBe(false);
  state.isBusy = true;
  expect(isStoppedAfter(5)).toBe(false);
  state.isBusy = false;
  expect([isStoppedAfter(5), isStoppedAfter(5)]).toEqual([false, true]);
});

test("a program is not stopped for a limit that ends soon, whose end is unknown, or after which a call was answered", () => {
  expect(open({ waitMs: 60_000 }).isStoppedAfter(600)).toBe(false);
  expect(open({ waitMs: null }).isStoppedAfter(600)).toBe(false);
  const { state, isStoppedAfter } = open();
  state.limit = null;
  expect(isStoppedAfter(600)).toBe(false);
});

test("a closed watch stops nothing", () => {
  const { watch, isStoppedAfter } = open();
  watch.close();
  expect(isStoppedAfter(600)).toBe(false);
});
