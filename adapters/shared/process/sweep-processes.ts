import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Candidate, findProcesses, type Marks } from "./find-processes.ts";
import { familyOf, getProcessLabels, type LabelFamily, type ProcessLabel } from "./process-labels.ts";
import { type FoundProcess, isAlive, readProcess, sendSignal } from "./process-table.ts";
import { createSweepLimit } from "./sweep-limit.ts";

/** Time from SIGTERM to SIGKILL in a sweep. */
export const SWEEP_GRACE_MS = 1_000;
const PAUSE_MS = 10;
/** The result of a sweep: the numbers of killed processes and of processes that still run. */
export interface Sweep {
  killed: number;
  left: number;
}

/** The file in the data directory that contains the family of the labels in use, and the identity of that directory. */
const FAMILY_FILE = "process-labels";

/** Identifies the processes of one task. */
export interface SweptTask {
  taskId: string;
  tmp: string;
  home: string;
  /** Null when its processes have no label. */
  label: ProcessLabel | null;
  graceMs?: number;
}

/** Kills the remaining processes of one task. Processes that left its process group or session are found by their label or marker. */
export function sweepTask(task: SweptTask): Promise<Sweep> {
  // The directories distinguish the task from a task with the same id on another Bridge of this host.
  const hasMarks = ({ marker, tmp, home }: Marks) => marker === task.taskId && (tmp === task.tmp || home === task.home);
  const isLabeled = ({ label }: Candidate) => task.label !== null && label === task.label;
  // A label stays readable during exec, unlike the environment, so the second pass checks labels only.
  return sweep((candidate) => isLabeled(candidate) || matches(candidate.marks, hasMarks), {
    graceMs: task.graceMs,
    ...(task.label === null ? {} : { confirm: isLabeled }),
  });
}

/**
 * Waits until the kernel has ended all processes of a sandbox. `group` is the process group of its first process. It contains the
 * init process, which ends last. Does not read environments, because such a read waits for the memory lock of the process, which
 * its threads can hold for seconds.
 */
export async function waitForSandbox(group: number): Promise<Sweep> {
  const isOver = createSweepLimit();
  for (;;) {
    const living = await findProcesses(({ process }) => process?.group === group);
    if (living.length === 0 || isOver()) return { killed: 0, left: living.length };
    await delay(PAUSE_MS);
  }
}

/**
 * Kills the processes that tasks of an earlier Bridge process on this data directory left behind, and records the
 * label family of the current process. Called at the start, before any task runs.
 */
export async function sweepLeftovers({ dataDir, graceMs }: { dataDir: string; graceMs?: number }): Promise<Sweep> {
  const root = path.resolve(dataDir) + path.sep;
  const isOurs = (directory: string | undefined) => directory?.startsWith(root) === true;
  const hasMarks = ({ marker, tmp, home }: Marks) => marker !== undefined && (isOurs(tmp) || isOurs(home));
  const file = path.join(dataDir, FAMILY_FILE);
  const directoryId = identifyDirectory(dataDir);
  const [labels, earlier] = [await getProcessLabels(), readFamily(file, directoryId)];
  const family = "missing" in labels ? null : labels.family;
  // Another Bridge instance in the current process recorded the same family. Its tasks may still run, so they are not leftovers.
  const isEarlier = (label: ProcessLabel) => earlier !== null && earlier !== family && familyOf(label) === earlier;
  const isLeftover = ({ label, marks }: Candidate) => matches(label, isEarlier) || matches(marks, hasMarks);
  // A task of the earlier Bridge may be an ancestor of this process, for example a shell. Killing an ancestor could also end this process.
  const ancestors = ancestorsOf(process.pid);
  const swept = await sweep((candidate) => !ancestors.has(candidate.pid) && isLeftover(candidate), { graceMs });
  if (family !== null && family !== earlier) writeFileSync(file, `${family} ${directoryId}\n`, { mode: 0o600 });
  return swept;
}

/** Reads the recorded family; null if the directory is a copy, because another Bridge may use the original right now. */
function readFamily(file: string, directoryId: string): LabelFamily | null {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const [family = "", recordedId] = text.trim().split(" ");
  return /^\d+$/.test(family) && recordedId === directoryId ? BigInt(family) : null;
}

/** Returns the device and inode of a directory. A rename does not change them; a copy has different ones. */
function identifyDirectory(directory: string): string {
  const { dev, ino } = statSync(directory, { bigint: true });
  return `${dev}:${ino}`;
}

function ancestorsOf(pid: number): Set<number> {
  const ancestors = new Set<number>();
  const readParent = (child: number): number => readProcess(child)?.parent ?? 0;
  for (let ancestor = readParent(pid); ancestor > 0 && !ancestors.has(ancestor); ancestor = readParent(ancestor)) ancestors.add(ancestor);
  return ancestors;
}

const matches = <T>(read: T | null, isWanted: (value: T) => boolean): boolean => read !== null && isWanted(read);

/** Options of a sweep. */
export interface SweepOptions {
  graceMs?: number | undefined;
  /** The filter for the pass after one that found nothing. Default: the same filter. */
  confirm?(candidate: Candidate): boolean;
}

/** Kills all matching processes, including those that start during the sweep: SIGTERM, a grace period, SIGKILL. */
export async function sweep(isWanted: (candidate: Candidate) => boolean, options: SweepOptions = {}): Promise<Sweep> {
  const { graceMs = SWEEP_GRACE_MS, confirm = isWanted } = options;
  const seen = new Map<string, FoundProcess>();
  const startedAt = performance.now();
  let emptyPasses = 0;
  const isOver = createSweepLimit();
  for (;;) {
    // A process that matched once is tracked until it ends, because it can remove its marks or lose them while it exits.
    const tracked = [...seen].filter(([, process]) => isAlive(process));
    const found = await findProcesses(emptyPasses > 0 ? confirm : isWanted);
    const living = new Map([...tracked, ...found.map((process) => [processKey(process), process] as const)]);
    const elapsedMs = performance.now() - startedAt;
    // A process shows no marks during exec, so one empty pass is not enough.
    emptyPasses = living.size === 0 ? emptyPasses + 1 : 0;
    if (emptyPasses === 2 || (elapsedMs > graceMs && isOver())) {
      return { killed: [...seen.keys()].filter((key) => !living.has(key)).length, left: living.size };
    }
    for (const [key, process] of living) {
      if (elapsedMs > graceMs) sendSignal(process, "SIGKILL");
      else if (!seen.has(key)) sendSignal(process, "SIGTERM");
      seen.set(key, process);
    }
    await delay(PAUSE_MS);
  }
}

const processKey = ({ pid, startTime }: FoundProcess): string => `${pid} ${startTime}`;
