import { expect, inject, vi } from "vitest";
import { FAILURES_VARIABLE } from "./failure-list.ts";
import { scaled } from "./machine.ts";
import { PASSED_VARIABLE } from "./passed-list.ts";

/**
 * Runs before each test file and sets the time limits of its tests, hooks and waits by the current speed of the machine. A wait ends as
 * soon as its condition holds, so a long limit costs nothing but the time of a test that fails.
 */

// Runs that a test starts do not write to the lists of this run.
delete process.env[FAILURES_VARIABLE];
delete process.env[PASSED_VARIABLE];

/** Default limit of `expect.poll`, `vi.waitFor` and `vi.waitUntil`. */
const WAIT_LIMIT_MS = 15_000;

const testLimitMs = scaled(inject("testLimitMs"));
vi.setConfig({ testTimeout: testLimitMs, hookTimeout: testLimitMs });

type WaitOptions = number | { timeout?: number; interval?: number; message?: string };

function scaledOptions(options: WaitOptions = {}): Exclude<WaitOptions, number> {
  const { timeout = WAIT_LIMIT_MS, ...rest } = typeof options === "number" ? { timeout: options } : options;
  return { ...rest, timeout: scaled(timeout) };
}

/** Test files that share a worker also share these functions. */
const MARK = Symbol.for("limits are scaled");

if (!(MARK in expect)) {
  Object.defineProperty(expect, MARK, { value: true });
  const { poll } = expect;
  const { waitFor, waitUntil } = vi;
  expect.poll = (actual, options) => poll(actual, scaledOptions(options));
  vi.waitFor = (callback, options) => waitFor(callback, scaledOptions(options));
  vi.waitUntil = (callback, options) => waitUntil(callback, scaledOptions(options));
}
