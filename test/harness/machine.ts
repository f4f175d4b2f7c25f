import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

/** The environment variable that passes the measurement to the workers of the run. */
const VARIABLE = "TEST_MACHINE_SLOWNESS";
/** The maximum factor: a hanging test must end on any machine. */
const HIGHEST = 10;

/** What an idle machine of two cores of 2024 does in `TURN_MS`. */
const LOOPS_PER_TURN = 5_000_000;
const TURN_MS = 10;
const TURNS = 10;

/** How many times longer than on an idle machine things may take now, 1 to 10. All time limits of tests are multiplied by it. */
export const slowness = (): number => Math.min(HIGHEST, Math.max(1, Number(process.env[VARIABLE] ?? 1), processesPerCore()));

/** The time limit, multiplied by the current load factor of the machine. */
export const scaled = (limitMs: number): number => Math.round(limitMs * slowness());

/** Measures how late short work and short timers end; for the start of a run, before its workers. */
export async function measureMachine(): Promise<void> {
  const startedAt = performance.now();
  for (let turn = 0; turn < TURNS; turn += 1) {
    let sum = 0;
    for (let loop = 0; loop < LOOPS_PER_TURN; loop += 1) sum = (sum * 31 + loop) | 0;
    await delay(TURN_MS + (sum & 0));
  }
  process.env[VARIABLE] = String((performance.now() - startedAt) / (TURNS * 2 * TURN_MS));
}

/** The load average of the last minute, or the number of processes that wait for a core now. */
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
