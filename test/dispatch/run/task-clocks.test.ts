import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createTaskClocks } from "../../../src/dispatch/run/task-clocks.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "clearImmediate", "performance"] });
  const running = performance.now.bind(performance);
  pausedMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => running() + pausedMs);
});
afterEach(() => vi.useRealTimers());

/** Duration of a suspension of Bridge: time passes and no timer runs. */
let pausedMs = 0;

function start(timeoutSeconds = 10, idleSeconds = 3, isToolOpen = () => false) {
  const reported: string[] = [];
  const clocks = createTaskClocks({
    onTimeout: (seconds) => reported.push(`timeout ${seconds}`),
    onIdle: (seconds) => reported.push(`idle ${seconds}`),
    isToolOpen,
  });
  clocks.start({ timeoutSeconds, idleSeconds });
  return { clocks, reported };
}

const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);
/** Runs the timers of this event-loop turn, and the reads before its immediates. */
const read = () => pass(0.001);

test("the clocks report the timeout and the idle timeout", () => {
  const { clocks, reported } = start();
  pass(2);
  clocks.touch();
  pass(2);
  expect(reported).toEqual([]);
  pass(1);
  read();
  expect(reported).toEqual(["idle 3"]);
  pass(5);
  expect(reported).toEqual(["idle 3", "timeout 10"]);
});

test("the clocks are paused until the last pause ends", () => {
  const { clocks, reported } = start();
  pass(2);
  const [first, second] = [clocks.pause(), clocks.pause()];
  pass(100);
  clocks.touch();
  expect(clocks.remainingMs()).toBe(8_000);
  first();
  first();
  pass(100);
  expect(reported).toEqual([]);
  second();
  expect(clocks.remainingMs()).toBe(8_000);
  pass(2.9);
  expect(reported).toEqual([]);
  pass(0.1);
  read();
  expect(reported).toEqual(["idle 3"]);
  pass(5);
  expect(reported).toEqual(["idle 3", "timeout 10"]);
});

test("closed clocks report nothing when a pause ends", () => {
  const { clocks, reported } = start();
  const release = clocks.pause();
  clocks.close();
  release();
  pass(100);
  expect(reported).toEqual([]);
});

test("without an idle limit, only the timeout applies", () => {
  const { reported } = start(10, 0);
  pass(9.9);
  expect(reported).toEqual([]);
  pass(0.1);
  expect(reported).toEqual(["timeout 10"]);
});

test("a suspension of Bridge does not count as idle time, and output that arrived meanwhile is read first", () => {
  const { clocks, reported } = start(100, 4);
  pass(1);
  pausedMs += 6_000;
  pass(0.5);
  clocks.touch();
  pass(3.9);
  expect(reported).toEqual([]);
  pass(0.1);
  read();
  expect(reported).toEqual(["idle 4"]);
});

test("after a suspension longer than the idle limit, output is read before the task is stopped", () => {
  const { reported, clocks } = start(100, 4);
  pass(3.9);
  pausedMs += 6_000;
  pass(0.2);
  expect(reported).toEqual([]);
  clocks.touch();
  pass(3.9);
  pausedMs += 6_000;
  pass(0.1);
  expect(reported).toEqual([]);
  pass(1);
  read();
  expect(reported).toEqual(["idle 4"]);
});

test("a suspension of about an eighth of the idle limit counts only in part", () => {
  const { reported } = start(1_000, 80);
  pass(5);
  // The next check is due in five seconds, so five seconds of the suspension count.
  pausedMs += 60_000;
  pass(5);
  pass(64);
  expect(reported).toEqual([]);
  pass(7);
  read();
  expect(reported).toEqual(["idle 80"]);
});

test("output that waits in a pipe at the idle limit counts as activity", () => {
  const { clocks, reported } = start(100, 4);
  // Timers run before the reads of their turn, immediates after them.
  setTimeout(() => setImmediate(clocks.touch), 3_999);
  pass(4);
  expect(reported).toEqual([]);
  pass(4);
  read();
  expect(reported).toEqual(["idle 4"]);
});

test("a task that may have ended while Bridge was suspended gets one second more than its timeout", () => {
  const { reported } = start(10, 0);
  pass(9);
  pausedMs += 5_000;
  pass(1.9);
  expect(reported).toEqual([]);
  pass(0.1);
  expect(reported).toEqual(["timeout 10"]);
});

test("silence during an open tool call is not idle time, and the timeout still applies", () => {
  let isOpen = true;
  const { clocks, reported } = start(100, 3, () => isOpen);
  pass(50);
  expect(reported).toEqual([]);
  isOpen = false;
  clocks.touch();
  pass(2.9);
  expect(reported).toEqual([]);
  isOpen = true;
  pass(47.1);
  read();
  expect(reported).toEqual(["timeout 100"]);
});

test("after an open tool call has ended, the idle limit applies again", () => {
  let isOpen = true;
  const { clocks, reported } = start(100, 3, () => isOpen);
  pass(50);
  isOpen = false;
  clocks.touch();
  pass(3);
  read();
  expect(reported).toEqual(["idle 3"]);
});
