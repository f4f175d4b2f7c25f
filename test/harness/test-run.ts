import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { findProcesses } from "../../adapters/shared/process/find-processes.ts";
import { type FoundProcess, readProc, readProcess } from "../../adapters/shared/process/process-table.ts";
import { sweep } from "../../adapters/shared/process/sweep-processes.ts";
import { hasLabel, labelThisProcess, type RunLabel } from "./run-label.ts";

/** One run of the tests. */
export interface TestRun {
  /** Records the owner for the next run: the process, its start time, and the label. */
  name: string;
  /** The label of all its processes. */
  label: RunLabel | null;
  /** Directory for temporary files. */
  directory: string;
  /** Directory for temporary files on a real disk. */
  diskDirectory: string;
}

const NAME = /^(\d+)-(\d+)-(\d+)$/;
const RUNS = `bridge-tests-${userInfo().uid}`;
/** Linux has an in-memory file system here. */
const MEMORY = "/dev/shm";
const MIN_MEMORY_BYTES = 1024 ** 3;
const [onDisk, inMemory] = [path.join(tmpdir(), RUNS), path.join(MEMORY, RUNS)];
/** A file system may need a moment until a directory is empty. */
const REMOVE_RETRIES = 10;

/**
 * Starts a run that this process owns. Its files are in memory if requested and possible: otherwise tests mostly wait for the disk, and no
 * test depends on files surviving a power failure.
 */
export function beginRun({ wantsMemory }: { wantsMemory: boolean }): TestRun {
  const label = labelThisProcess();
  const name = `${process.pid}-${readProcess(process.pid)?.startTime ?? 0}-${label ?? 0}`;
  const diskDirectory = path.join(onDisk, name);
  const directory = wantsMemory && hasMemory() ? path.join(inMemory, name) : diskDirectory;
  for (const one of [directory, diskDirectory]) mkdirSync(one, { recursive: true });
  return { name, label, directory, diskDirectory };
}

/** Whether the in-memory file system is large enough and can execute programs, which is not the case in many containers. */
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

/** Kills all processes of the run except the calling one, and removes its directories. */
export async function removeRun(name: string): Promise<void> {
  const label = Number(NAME.exec(name)?.[3]);
  if (label > 0) await sweep(({ pid }) => hasLabel(pid, label), { graceMs: 0 });
  await removeDirectories(name);
}

/** Removes the directories of a run. */
export async function removeDirectories(name: string): Promise<void> {
  for (const directory of [onDisk, inMemory])
    await rm(path.join(directory, name), { recursive: true, force: true, maxRetries: REMOVE_RETRIES });
}

/** Removes the processes and directories of runs whose process and reaper were killed. */
export async function removeDeadRuns(): Promise<void> {
  for (const name of [onDisk, inMemory].flatMap(namesIn)) if (NAME.test(name) && !isRunning(name)) await removeRun(name);
}

/** Whether the process of the run still runs. Without /proc, compares only its id, not its start time. */
export function isRunning(name: string): boolean {
  const [, pid = "", startTime] = NAME.exec(name) ?? [];
  if (startTime !== "0") return readProcess(Number(pid))?.startTime === startTime;
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}

/** Returns the running processes of the run, except the calling process and its children, which are its tools. */
export async function findLeftProcesses({ label }: Pick<TestRun, "label">): Promise<FoundProcess[]> {
  if (label === null) return [];
  const labeled = await findProcesses(({ pid }) => hasLabel(pid, label));
  return labeled.filter(({ parent }) => parent !== process.pid);
}

/** Returns the command line of a process, for messages. */
export const commandOf = ({ pid }: FoundProcess): string =>
  (readProc(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? "").replaceAll("\0", " ").slice(0, 200);

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
