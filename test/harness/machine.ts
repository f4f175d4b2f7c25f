import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

/** Environment variable that passes the measurement of the run to its workers. */
const VARIABLE = "TEST_MACHINE_SLOWNESS";
/** Upper limit, so that a hang ends on any machine. */
const HIGHEST = 10;

/** Loops that an idle machine with two cores of 2024 completes in `TURN_MS`. */
const LOOPS_PER_TURN = 5_000_000;
const TURN_MS = 10;
const TURNS = 10;

/** Returns the current factor of all time limits of tests, from 1 (an idle machine) to 10. */
export const slowness = (): number => Math.min(HIGHEST, Math.max(1, Number(process.env[VARIABLE] ?? 1), processesPerCore()));

/** Multiplies a time limit by the current factor. */
export const scaled = (limitMs: number): number => Math.round(limitMs * slowness());

/** Measures the delay of short work and short timers, at the start of a run, before its workers start. */
export async function measureMachine(): Promise<void> {
  const startedAt = performance.now();
  for (let turn = 0; turn < TURNS; turn += 1) {
    let sum = 0;
    for (let loop = 0; loop < LOOPS_PER_TURN; loop += 1) sum = (sum * 31 + loop) | 0;
    await delay(TURN_MS + (sum & 0));
  }
  process.env[VARIABLE] = String((performance.now() - startedAt) / (TURNS * 2 * TURN_MS));
}

/** Returns the runnable processes per core: the larger of the mean of the last minute and the current number. */
function processesPerCore(): number {
  const [lastMinute = 0] = loadavg();
  return Math.max(lastMinute, readRunnable()) / availableParallelism();
}

function readRunnable(): number {
  try {
    return Number(/(\d+)\/\d+/.exec(readFileSync("/proc/loadavg", "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
