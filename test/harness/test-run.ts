import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { type FoundProcess, readProc, readProcess } from "../../adapters/shared/process/process-table.ts";
import { findProcesses, sweep } from "../../adapters/shared/process/sweep-processes.ts";
import { hasLabel, labelThisProcess, type RunLabel } from "./run-label.ts";

/** One run of the tests. */
export interface TestRun {
  /** The file that identifies the owner for the next run: the process id, its start time, and the label. */
  name: string;
  /** The label of all its processes. */
  label: RunLabel | null;
  /** For its temporary files. */
  directory: string;
  /** The same on a real disk. */
  diskDirectory: string;
}

const NAME = /^(\d+)-(\d+)-(\d+)$/;
const RUNS = `bridge-tests-${userInfo().uid}`;
/** Linux has a file system in memory here. */
const MEMORY = "/dev/shm";
const MIN_MEMORY_BYTES = 1024 ** 3;
const [onDisk, inMemory] = [path.join(tmpdir(), RUNS), path.join(MEMORY, RUNS)];
/** A file system may need a moment until a directory is empty. */
const REMOVE_RETRIES = 10;

/**
 * Begins a run that belongs to this process. Its files are in memory, if that is wanted and possible: tests store so much that they mostly wait for the
 * disk, and none cuts the power.
 */
export function beginRun({ wantsMemory }: { wantsMemory: boolean }): TestRun {
  const label = labelThisProcess();
  const name = `${process.pid}-${readProcess(process.pid)?.startTime ?? 0}-${label ?? 0}`;
  const diskDirectory = path.join(onDisk, name);
  const directory = wantsMemory && hasMemory() ? path.join(inMemory, name) : diskDirectory;
  for (const one of [directory, diskDirectory]) mkdirSync(one, { recursive: true });
  return { name, label, directory, diskDirectory };
}

/** Containers often have little of it, or may not run programs from there, which tests do. */
function hasMemory(): boolean {
  const program = path.join(MEMORY, `bridge-tests-${process.pid}.sh`);
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < MIN_MEMORY_BYTES) return false;
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o700, flag: "wx" });
    execFileSync(program, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(program, { force: true });
  }
}

/** Kills the processes that the run has started, all but the calling one, and removes its directories. */
export async function removeRun(name: string): Promise<void> {
  const label = Number(NAME.exec(name)?.[3]);
  if (label > 0) await sweep((pid) => hasLabel(pid, label), { graceMs: 0 });
  await removeDirectories(name);
}

/** Removes the directories of a run. */
export async function removeDirectories(name: string): Promise<void> {
  for (const directory of [onDisk, inMemory])
    await rm(path.join(directory, name), { recursive: true, force: true, maxRetries: REMOVE_RETRIES });
}

/** Removes what is left of runs whose process, and the reaper of it, were killed. */
export async function removeDeadRuns(): Promise<void> {
  for (const name of [onDisk, inMemory].flatMap(namesIn)) if (NAME.test(name) && !isRunning(name)) await removeRun(name);
}

/** Whether the process of the run still runs. Without /proc there is no time of its start, only its number. */
export function isRunning(name: string): boolean {
  const [, pid = "", startTime] = NAME.exec(name) ?? [];
  if (startTime !== "0") return readProcess(Number(pid))?.startTime === startTime;
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}

/** The processes of the run that still run and are none of its tools: those are the calling process and its children. */
export async function findLeftProcesses({ label }: Pick<TestRun, "label">): Promise<FoundProcess[]> {
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
