import { setTimeout as delay } from "node:timers/promises";
import { scaled } from "./harness/machine.ts";

const POLL_MS = 20;

/** Asks until the answer is yes; false when the time is over, which is meant for an idle machine. */
export async function until(condition: () => boolean | Promise<boolean>, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + scaled(limitMs);
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}
