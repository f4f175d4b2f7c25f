import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { familyOf, type LabelFamily, type ProcessLabel, processLabels, readLabel } from "./process-labels.ts";
import { type FoundProcess, isAlive, isOver, listPids, readProc, readProcess, signal } from "./process-table.ts";

/** The environment variable that marks every process of a task, its descendants included. */
export const taskMarker = "BRIDGE_TASK_ID";

/** How long a survivor may tidy up between SIGTERM and SIGKILL. */
export const sweepGraceMs = 1_000;
/** When, after SIGKILL, the sweep gives up: what lives then cannot be killed, or breeds faster than it dies. */
const limitMs = 4_000;
const pauseMs = 10;
/** How many processes are looked at before other work gets its turn. */
const sliceSize = 100;

/** What a sweep has done: processes that are gone, and processes that would not die. */
export interface Sweep {
  killed: number;
  left: number;
}

/** The file in the data directory that names the family of the labels in use, and the directory that it was written for. */
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

/** Kills what is left of one task: processes that left its process group or session are found by their label or their marker. */
export function sweepTask(task: SweptTask): Promise<Sweep> {
  // The directories tell our task from one of the same name on another Bridge of this machine.
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
 * Waits until the processes of a sandbox are gone, whose end the kernel brings about: the group of its first process contains its init, which goes last.
 * It reads no environment. To read one waits for the memory lock of the process, which threads of the process can hold for seconds.
 */
export async function waitForSandbox(group: number): Promise<Sweep> {
  const startedAt = performance.now();
  for (;;) {
    const living = await findProcesses((pid) => readProcess(pid)?.group === group);
    if (living.length === 0 || performance.now() - startedAt > limitMs) return { killed: 0, left: living.length };
    await delay(pauseMs);
  }
}

/**
 * Kills what tasks of an earlier Bridge on this data directory have left behind, and records how the tasks of this one are labeled. For the
 * start, when nothing runs yet.
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

/** The family in use before; null when the file came with a copy of the directory, whose original another Bridge may use right now. */
function readFamily(file: string, place: string): LabelFamily | null {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const [family = "", recordedPlace] = text.trim().split(" ");
  return /^\d+$/.test(family) && recordedPlace === place ? BigInt(family) : null;
}

/** Device and inode: a directory keeps them when it is renamed, and its copy has others. */
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

/** How to sweep. */
export interface SweepOptions {
  graceMs?: number | undefined;
  /** The filter for the pass after one that found nothing. Default: the same filter. */
  confirm?(pid: number): boolean;
}

/** Kills all matching processes, including those that start meanwhile: SIGTERM, a grace period, SIGKILL. */
export async function sweep(isWanted: (pid: number) => boolean, options: SweepOptions = {}): Promise<Sweep> {
  const { graceMs = sweepGraceMs, confirm = isWanted } = options;
  const met = new Map<string, FoundProcess>();
  const startedAt = performance.now();
  let emptyLooks = 0;
  for (;;) {
    // Who was met once is followed to the end: a process loses its marks while it dies, or takes them off.
    const followed = [...met].filter(([, process]) => isAlive(process));
    const found = await findProcesses(emptyLooks > 0 ? confirm : isWanted);
    const living = new Map([...followed, ...found.map((process) => [nameOf(process), process] as const)]);
    const elapsedMs = performance.now() - startedAt;
    // A process that is just turning into another program shows no marks for a moment, so one look is not enough.
    emptyLooks = living.size === 0 ? emptyLooks + 1 : 0;
    if (emptyLooks === 2 || elapsedMs > graceMs + limitMs) {
      return { killed: [...met.keys()].filter((name) => !living.has(name)).length, left: living.size };
    }
    for (const [name, process] of living) {
      if (elapsedMs > graceMs) signal(process, "SIGKILL");
      else if (!met.has(name)) signal(process, "SIGTERM");
      met.set(name, process);
    }
    await delay(pauseMs);
  }
}

const nameOf = ({ pid, startTime }: FoundProcess): string => `${pid} ${startTime}`;

/** The matching processes at one moment. */
export async function findProcesses(isWanted: (pid: number) => boolean): Promise<FoundProcess[]> {
  const found: FoundProcess[] = [];
  for (const [index, pid] of listPids().entries()) {
    if (index % sliceSize === sliceSize - 1) await new Promise(setImmediate);
    if (!isWanted(pid)) continue;
    const process = readProcess(pid);
    // A zombie has lost its environment, and keeps its limits.
    if (process !== null && !isOver(process)) found.push(process);
  }
  return found;
}

function readMarks(pid: number): Marks | null {
  const environment = readProc(() => readFileSync(`/proc/${pid}/environ`, "utf8"));
  if (environment === null || !environment.includes(taskMarker)) return null;
  const entries = environment.split("\0");
  const read = (name: string) => entries.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1);
  return { marker: read(taskMarker), tmp: read("TMPDIR"), home: read("HOME") };
}
