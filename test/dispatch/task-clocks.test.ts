import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createTaskClocks } from "../../src/dispatch/task-clocks.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => vi.useRealTimers());

function start(timeoutSeconds = 10, idleSeconds = 3) {
  const told: string[] = [];
  const clocks = createTaskClocks({
    onTimeout: (seconds) => told.push(`timeout ${seconds}`),
    onIdle: (seconds) => told.push(`idle ${seconds}`),
  });
  clocks.start({ timeoutSeconds, idleSeconds });
  return { clocks, told };
}

const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

test("tell the end of the whole time, and silence", () => {
  const { clocks, told } = start();
  pass(2);
  clocks.touch();
  pass(2);
  expect(told).toEqual([]);
  pass(1);
  expect(told).toEqual(["idle 3"]);
  pass(5);
  expect(told).toEqual(["idle 3", "timeout 10"]);
});

test("stand still while somebody holds them, until the last one lets go", () => {
  const { clocks, told } = start();
  pass(2);
  const [first, second] = [clocks.hold(), clocks.hold()];
  pass(100);
  clocks.touch();
  expect(clocks.remainingMs()).toBe(8_000);
  first();
  first();
  pass(100);
  expect(told).toEqual([]);
  second();
  expect(clocks.remainingMs()).toBe(8_000);
  pass(2.9);
  expect(told).toEqual([]);
  pass(0.1);
  expect(told).toEqual(["idle 3"]);
  pass(5);
  expect(told).toEqual(["idle 3", "timeout 10"]);
});

test("closed, they tell nothing, whoever lets them go", () => {
  const { clocks, told } = start();
  const release = clocks.hold();
  clocks.close();
  release();
  pass(100);
  expect(told).toEqual([]);
});

test("without a limit of silence only the whole time counts", () => {
  const { told } = start(10, 0);
  pass(9.9);
  expect(told).toEqual([]);
  pass(0.1);
  expect(told).toEqual(["timeout 10"]);
});
