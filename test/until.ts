import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 20;

/** Asks until the answer is yes; false when the time is over. */
export async function until(condition: () => boolean | Promise<boolean>, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}
