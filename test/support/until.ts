import { setTimeout as delay } from "node:timers/promises";
import { scaled } from "../harness/machine.ts";

const POLL_MS = 20;

/** Polls until the condition is true. Returns false when the limit, which is scaled to the speed of the machine, has passed. */
export async function until(condition: () => boolean | Promise<boolean>, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + scaled(limitMs);
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}

/** Repeats the request until the response meets the condition, and returns the response. Limited only by the time limit of the test. */
export async function askUntil<T>(ask: () => Promise<T>, condition: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (condition(answer)) return answer;
    await delay(POLL_MS);
  }
}
