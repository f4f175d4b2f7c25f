import { expect } from "vitest";
import { type CellBench, markedProcesses } from "./cell-bench.ts";

/** A real program must start, call the model and start its tool. */
const START_LIMIT_MS = 60_000;
const POLL_MS = 10;

/** Waits until a tool's command runs. */
export async function untilAtWork(bench: CellBench, command: string): Promise<void> {
  const running = () => markedProcesses(bench.dataDir).some((found) => found.command === command);
  await expect.poll(running, { message: `no process runs ${command}`, timeout: START_LIMIT_MS, interval: 50 }).toBe(true);
}

/** Waits until no process of the task is left, by its marker. */
export async function expectProcessesEnded(bench: CellBench, taskId: string): Promise<void> {
  await expect
    .poll(() => markedProcesses(bench.dataDir, taskId), { message: `processes of ${taskId} are left`, interval: POLL_MS })
    .toEqual([]);
}
