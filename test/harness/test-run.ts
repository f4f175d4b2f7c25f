import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { type FoundProcess, readProc, readProcess } from "../../adapters/process/process-table.ts";
import { findProcesses, sweep } from "../../adapters/process/sweep-processes.ts";
import { hasLabel, labelThisProcess, type RunLabel } from "./run-label.ts";

/** What belongs to one run of the tests: a directory for all its temporary files, and the label of its processes. */
export interface TestRun {
  directory: string;
  label: RunLabel | null;
}

/** Where each run has its directory. Its name tells the next run whose it is: the process, the time of its start, and the label. */
const runsDirectory = path.join(tmpdir(), `bridge-tests-${userInfo().uid}`);
const NAME = /^(\d+)-(\d+)-(\d+)$/;
/** A file system may need a moment until a directory is empty. */
const REMOVE_RETRIES = 10;

/** Begins a run that belongs to this process. */
export function beginRun(): TestRun {
  const label = labelThisProcess();
  const directory = path.join(runsDirectory, `${process.pid}-${readProcess(process.pid)?.startTime ?? 0}-${label ?? 0}`);
  mkdirSync(directory, { recursive: true });
  return { directory, label };
}

/** Kills the processes that the run has started, all but the calling one, and removes its directory. */
export async function removeRun({ directory, label }: TestRun): Promise<void> {
  if (label !== null) await sweep((pid) => hasLabel(pid, label), { graceMs: 0 });
  await rm(directory, { recursive: true, force: true, maxRetries: REMOVE_RETRIES });
}

/** Removes what is left of runs whose process, and the reaper of it, were killed. */
export async function removeDeadRuns(): Promise<void> {
  for (const name of namesIn(runsDirectory)) {
    const directory = path.join(runsDirectory, name);
    if (NAME.test(name) && !isRunning(directory)) await removeRun({ directory, label: Number(NAME.exec(name)?.[3]) || null });
  }
}

/** Whether the process of the run with that directory still runs. Without /proc there is no time of its start, only its number. */
export function isRunning(directory: string): boolean {
  const [, pid = "", startTime] = NAME.exec(path.basename(directory)) ?? [];
  if (startTime !== "0") return readProcess(Number(pid))?.startTime === startTime;
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}

/** The processes of the run that still run and are none of its tools: those are the calling process and its children. */
export async function findLeftProcesses({ label }: TestRun): Promise<FoundProcess[]> {
  if (label === null) return [];
  const labeled = await findProcesses((pid) => hasLabel(pid, label));
  return labeled.filter(({ parent }) => parent !== process.pid);
}

/** The command line of a process, for a message. */
export const commandOf = ({ pid }: FoundProcess): string =>
  (readProc(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? "").replaceAll("\0", " ").slice(0, 200);

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
