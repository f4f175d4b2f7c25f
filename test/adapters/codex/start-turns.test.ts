import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { waitForStartTurn } from "../../../adapters/codex/start-turns.ts";

const never = new AbortController().signal;
let homes = 0;
/** A separate CODEX_HOME for each test, because all tests share the turns. */
function newHome() {
  homes += 1;
  return { CODEX_HOME: `/home-${homes}/.codex` };
}

/** Starts to wait. `ends` is empty until the turn has come. */
function wait(home: Readonly<Record<string, string>>, signal: AbortSignal = never) {
  const ends: (() => void)[] = [];
  void waitForStartTurn(home, signal).then((end) => ends.push(end));
  return ends;
}

afterEach(() => void vi.useRealTimers());

test("with one CODEX_HOME, a process starts after the start of the earlier one has ended", async () => {
  const home = newHome();
  const [first, second, third] = [wait(home), wait(home), wait(home)];
  await nextTurn();
  expect([first.length, second.length, third.length]).toEqual([1, 0, 0]);
  first[0]?.();
  // The end of a process follows the end of its start.
  first[0]?.();
  await nextTurn();
  expect([second.length, third.length]).toEqual([1, 0]);
  second[0]?.();
  await nextTurn();
  expect(third).toHaveLength(1);
});

test("processes with different values of CODEX_HOME do not wait for each other", async () => {
  const [first, second, operators] = [wait(newHome()), wait(newHome()), wait({})];
  await nextTurn();
  expect([first.length, second.length, operators.length]).toEqual([1, 1, 1]);
});

test("a canceled task stops waiting, and the next one does not wait for it", async () => {
  const home = newHome();
  const canceled = new AbortController();
  const [first, second, third] = [wait(home), wait(home, canceled.signal), wait(home)];
  canceled.abort();
  await nextTurn();
  expect([first.length, second.length, third.length]).toEqual([1, 1, 0]);
  first[0]?.();
  await nextTurn();
  expect(third).toHaveLength(1);
});

test("a process that does not start delays the next one for five seconds", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const home = newHome();
  wait(home);
  const second = wait(home);
  await vi.advanceTimersByTimeAsync(4_999);
  expect(second).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(second).toHaveLength(1);
});
