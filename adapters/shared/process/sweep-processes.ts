import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { familyOf, getProcessLabels, type LabelFamily, type ProcessLabel, readLabel } from "./process-labels.ts";
import { type FoundProcess, hasEnded, isAlive, listPids, readProc, readProcess, sendSignal } from "./process-table.ts";

/** The environment variable that marks every process of a task and its descendants. */
export const TASK_MARKER = "BRIDGE_TASK_ID";

/** Time from SIGTERM to SIGKILL in a sweep. */
export const SWEEP_GRACE_MS = 1_000;
/** How long a sweep continues after SIGKILL. Processes that remain then cannot be killed, or start faster than the sweep kills them. */
const LIMIT_MS = 4_000;
const PAUSE_MS = 10;
/** Number of processes that a sweep checks per turn of the event loop: small, because many tasks can end at once, each with a sweep. */
const SLICE_SIZE = 10;

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
  const isLabeled = (pid: number) => task.label !== null && readLabel(pid) === task.label;
  const isMarked = (pid: number) => matches(readMarks(pid), hasMarks);
  // A label stays readable during exec, unlike the environment, so the second pass checks labels only.
  return sweep((pid) => isLabeled(pid) || isMarked(pid), {
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
  const startedAt = performance.now();
  for (;;) {
    const living = await findProcesses((pid) => readProcess(pid)?.group === group);
    if (living.length === 0 || performance.now() - startedAt > LIMIT_MS) return { killed: 0, left: living.length };
    await delay(PAUSE_MS);
  }
}

/**
 * Kills the processes that tasks of an earlier Bridge process on this data directory left behind, and records the
 * label family of the current process. Called at the start, before any task runs.
 */
export async function sweepLeftovers({ dataDir }: { dataDir: string }): Promise<Sweep> {
  const root = path.resolve(dataDir) + path.sep;
  const isOurs = (directory: string | undefined) => directory?.startsWith(root) === true;
  const hasMarks = ({ marker, tmp, home }: Marks) => marker !== undefined && (isOurs(tmp) || isOurs(home));
  const file = path.join(dataDir, FAMILY_FILE);
  const directoryId = identifyDirectory(dataDir);
  const [labels, earlier] = [await getProcessLabels(), readFamily(file, directoryId)];
  const family = "missing" in labels ? null : labels.family;
  // Another Bridge instance in the current process recorded the same family. Its tasks may still run, so they are not leftovers.
  const isEarlier = (label: ProcessLabel) => earlier !== null && earlier !== family && familyOf(label) === earlier;
  const isLeftover = (pid: number) => matches(readLabel(pid), isEarlier) || matches(readMarks(pid), hasMarks);
  // A task of the earlier Bridge may be an ancestor of this process, for example a shell. Killing an ancestor could also end this process.
  const ancestors = ancestorsOf(process.pid);
  const swept = await sweep((pid) => !ancestors.has(pid) && isLeftover(pid));
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

/** The markers in the environment of a process. */
interface Marks {
  marker: string | undefined;
  tmp: string | undefined;
  home: string | undefined;
}

const matches = <T>(read: T | null, isWanted: (value: T) => boolean): boolean => read !== null && isWanted(read);

/** Options of a sweep. */
export interface SweepOptions {
  graceMs?: number | undefined;
  /** The filter for the pass after one that found nothing. Default: the same filter. */
  confirm?(pid: number): boolean;
}

/** Kills all matching processes, including those that start during the sweep: SIGTERM, a grace period, SIGKILL. */
export async function sweep(isWanted: (pid: number) => boolean, options: SweepOptions = {}): Promise<Sweep> {
  const { graceMs = SWEEP_GRACE_MS, confirm = isWanted } = options;
  const seen = new Map<string, FoundProcess>();
  const startedAt = performance.now();
  let emptyPasses = 0;
  for (;;) {
    // A process that matched once is tracked until it ends, because it can remove its marks or lose them while it exits.
    const tracked = [...seen].filter(([, process]) => isAlive(process));
    const found = await findProcesses(emptyPasses > 0 ? confirm : isWanted);
    const living = new Map([...tracked, ...found.map((process) => [processKey(process), process] as const)]);
    const elapsedMs = performance.now() - startedAt;
    // A process shows no marks during exec, so one empty pass is not enough.
    emptyPasses = living.size === 0 ? emptyPasses + 1 : 0;
    if (emptyPasses === 2 || elapsedMs > graceMs + LIMIT_MS) {
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

/** Returns the matching processes. */
export async function findProcesses(isWanted: (pid: number) => boolean): Promise<FoundProcess[]> {
  const found: FoundProcess[] = [];
  for (const [index, pid] of listPids().entries()) {
    if (index % SLICE_SIZE === SLICE_SIZE - 1) await new Promise(setImmediate);
    if (!isWanted(pid)) continue;
    const process = readProcess(pid);
    // A zombie keeps its limits, and so its label, but has ended.
    if (process !== null && !hasEnded(process)) found.push(process);
  }
  return found;
}

function readMarks(pid: number): Marks | null {
  const environment = readProc(() => readFileSync(`/proc/${pid}/environ`, "utf8"));
  if (environment === null || !environment.includes(TASK_MARKER)) return null;
  const entries = environment.split("\0");
  const read = (name: string) => entries.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1);
  return { marker: read(TASK_MARKER), tmp: read("TMPDIR"), home: read("HOME") };
}
