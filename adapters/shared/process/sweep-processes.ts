import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { familyOf, type LabelFamily, type ProcessLabel, processLabels, readLabel } from "./process-labels.ts";
import { type FoundProcess, isAlive, isOver, listPids, readProc, readProcess, signal } from "./process-table.ts";

/** The environment variable that marks every process of a task and its descendants. */
export const TASK_MARKER = "BRIDGE_TASK_ID";

/** Time from SIGTERM to SIGKILL in a sweep. */
export const SWEEP_GRACE_MS = 1_000;
/** How long a sweep continues after SIGKILL. After that, the processes cannot be killed, or start faster than they are killed. */
const LIMIT_MS = 4_000;
const PAUSE_MS = 10;
/** Number of processes that are checked per turn of the event loop. */
const SLICE_SIZE = 100;

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
  // Unlike an environment, a label never disappears for a moment, so the second pass checks labels only.
  return sweep((pid) => isLabeled(pid) || isMarked(pid), {
    graceMs: task.graceMs,
    ...(task.label === null ? {} : { confirm: isLabeled }),
  });
}

/**
 * Waits until the kernel has ended all processes of a sandbox. The group of its first process contains its init, which
 * ends last. Does not read environments, because that waits for the memory lock of a process, which its threads can
 * hold for seconds.
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
 * Kills the processes that tasks of an earlier Bridge process on this data directory left behind, and records the label
 * family of this one. Called at the start, before any task runs.
 */
export async function sweepLeftovers({ dataDir }: { dataDir: string }): Promise<Sweep> {
  const root = path.resolve(dataDir) + path.sep;
  const isOurs = (directory: string | undefined) => directory?.startsWith(root) === true;
  const hasMarks = ({ marker, tmp, home }: Marks) => marker !== undefined && (isOurs(tmp) || isOurs(home));
  const file = path.join(dataDir, FAMILY_FILE);
  const place = identify(dataDir);
  const [labels, earlier] = [await processLabels(), readFamily(file, place)];
  const family = "missing" in labels ? null : labels.family;
  // The family of this process: another Bridge instance in this process has used the directory and may still run tasks.
  const isEarlier = (label: ProcessLabel) => earlier !== null && earlier !== family && familyOf(label) === earlier;
  const isLeftover = (pid: number) => matches(readLabel(pid), isEarlier) || matches(readMarks(pid), hasMarks);
  // A task of the earlier Bridge may have started this one, from a shell or a terminal multiplexer. Killing these would end the start.
  const ancestors = ancestorsOf(process.pid);
  const swept = await sweep((pid) => !ancestors.has(pid) && isLeftover(pid));
  if (family !== null && family !== earlier) writeFileSync(file, `${family} ${place}\n`, { mode: 0o600 });
  return swept;
}

/** The recorded family; null if the directory is a copy, because another Bridge may use the original right now. */
function readFamily(file: string, place: string): LabelFamily | null {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const [family = "", recordedPlace] = text.trim().split(" ");
  return /^\d+$/.test(family) && recordedPlace === place ? BigInt(family) : null;
}

/** The device and inode of a directory. They stay when it is renamed, and its copy has others. */
function identify(directory: string): string {
  const { dev, ino } = statSync(directory, { bigint: true });
  return `${dev}:${ino}`;
}

function ancestorsOf(pid: number): Set<number> {
  const ancestors = new Set<number>();
  for (let at = readProcess(pid)?.parent ?? 0; at > 0 && !ancestors.has(at); at = readProcess(at)?.parent ?? 0) ancestors.add(at);
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
  const met = new Map<string, FoundProcess>();
  const startedAt = performance.now();
  let emptyLooks = 0;
  for (;;) {
    // A process that matched once is tracked until it ends, because it can remove its marks or lose them while it exits.
    const followed = [...met].filter(([, process]) => isAlive(process));
    const found = await findProcesses(emptyLooks > 0 ? confirm : isWanted);
    const living = new Map([...followed, ...found.map((process) => [nameOf(process), process] as const)]);
    const elapsedMs = performance.now() - startedAt;
    // A process shows no marks during exec, so one empty pass is not enough.
    emptyLooks = living.size === 0 ? emptyLooks + 1 : 0;
    if (emptyLooks === 2 || elapsedMs > graceMs + LIMIT_MS) {
      return { killed: [...met.keys()].filter((name) => !living.has(name)).length, left: living.size };
    }
    for (const [name, process] of living) {
      if (elapsedMs > graceMs) signal(process, "SIGKILL");
      else if (!met.has(name)) signal(process, "SIGTERM");
      met.set(name, process);
    }
    await delay(PAUSE_MS);
  }
}

const nameOf = ({ pid, startTime }: FoundProcess): string => `${pid} ${startTime}`;

/** Returns the matching processes. */
export async function findProcesses(isWanted: (pid: number) => boolean): Promise<FoundProcess[]> {
  const found: FoundProcess[] = [];
  for (const [index, pid] of listPids().entries()) {
    if (index % SLICE_SIZE === SLICE_SIZE - 1) await new Promise(setImmediate);
    if (!isWanted(pid)) continue;
    const process = readProcess(pid);
    // A zombie keeps its limits, and so its label, but has ended.
    if (process !== null && !isOver(process)) found.push(process);
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
