import { readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type FoundProcess, isAlive, listPids, readProc, readProcess, signal } from "./process-table.ts";

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

/** Kills what is left of one task: processes that left its process group or session are found by their marker. */
export function sweepTask(task: { taskId: string; tmp: string; home: string; graceMs?: number }): Promise<Sweep> {
  // The directories tell our task from one of the same name on another Bridge of this machine.
  return sweep(({ marker, tmp, home }) => marker === task.taskId && (tmp === task.tmp || home === task.home), task.graceMs);
}

/** Kills what tasks of an earlier Bridge on this data directory have left behind. For the start, when nothing runs yet. */
export function sweepLeftovers(options: { dataDir: string }): Promise<Sweep> {
  const root = path.resolve(options.dataDir) + path.sep;
  return sweep(({ marker, tmp, home }) => marker !== undefined && (tmp?.startsWith(root) === true || home?.startsWith(root) === true));
}

interface Marks {
  marker: string | undefined;
  tmp: string | undefined;
  home: string | undefined;
}

async function sweep(isOurs: (marks: Marks) => boolean, graceMs = sweepGraceMs): Promise<Sweep> {
  const met = new Map<string, FoundProcess>();
  const startedAt = performance.now();
  let emptyLooks = 0;
  for (;;) {
    // Who was met once is followed to the end: a process loses its marks while it dies, or takes them off.
    const followed = [...met].filter(([, process]) => isAlive(process));
    const living = new Map([...followed, ...(await findProcesses(isOurs)).map((process) => [nameOf(process), process] as const)]);
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

async function findProcesses(isOurs: (marks: Marks) => boolean): Promise<FoundProcess[]> {
  const found: FoundProcess[] = [];
  for (const [index, pid] of listPids().entries()) {
    if (index % sliceSize === sliceSize - 1) await new Promise(setImmediate);
    const marks = readMarks(pid);
    if (marks === null || !isOurs(marks)) continue;
    const process = readProcess(pid);
    if (process !== null) found.push(process);
  }
  return found;
}

function readMarks(pid: number): Marks | null {
  const environment = readProc(() => readFileSync(`/proc/${pid}/environ`, "latin1"));
  // Latin-1 finds the marker fast; the values are UTF-8.
  if (environment === null || !environment.includes(taskMarker)) return null;
  const entries = Buffer.from(environment, "latin1").toString("utf8").split("\0");
  const read = (name: string) => entries.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1);
  return { marker: read(taskMarker), tmp: read("TMPDIR"), home: read("HOME") };
}
