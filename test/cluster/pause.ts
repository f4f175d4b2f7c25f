import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/**
 * Lets time pass, at most until the signal is aborted: a fault lasts for a part of a lease, and a scenario has its load between its faults.
 */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, signal && { signal }).catch((error: unknown) => {
    if (signal?.aborted !== true) throw error;
  });
}

/** Seconds since the boot of the machine: the clock of the journals of runtimes. */
export const secondsSinceBoot = (): number => Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
