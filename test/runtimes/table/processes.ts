import { expect } from "vitest";
import { until } from "../../support/until.ts";
import { type CellBench, markedProcesses } from "./cell-bench.ts";

/** A real program must start, call the model and start its tool. */
const START_LIMIT_MS = 60_000;
const POLL_MS = 10;

/** Waits until the command of the task's tool runs. If it does not run in time, reports what the task has done instead. */
export async function untilAtWork(bench: CellBench, taskId: string, command: string): Promise<void> {
  const isRunning = () => markedProcesses(bench.dataDir, taskId).some((found) => found.command === command);
  if (await until(isRunning, START_LIMIT_MS)) return;
  const [events, processes] = [await bench.events(taskId), markedProcesses(bench.dataDir, taskId)];
  expect.fail(`no process of the task runs ${command}: ${JSON.stringify({ events, processes }, null, 2)}`);
}

/** Waits until no process of the task is left, by its marker. */
export async function expectProcessesEnded(bench: CellBench, taskId: string): Promise<void> {
  await expect
    .poll(() => markedProcesses(bench.dataDir, taskId), { message: `processes of ${taskId} are left`, interval: POLL_MS })
    .toEqual([]);
}
