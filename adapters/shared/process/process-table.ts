import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { kill } from "node:process";

/** A process of this machine, at one moment. */
export interface FoundProcess {
  pid: number;
  state: string;
  parent: number;
  /** Its process group. */
  group: number;
  /** Clock ticks since boot: with the pid, the identity of a process. */
  startTime: string;
}

/** The numbers of all processes but ourselves; none where there is no /proc. */
export function listPids(): number[] {
  const names = readProc(() => readdirSync("/proc")) ?? [];
  return names.map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid);
}

/** The process of that number; null when there is none. Fields are counted from behind the name, which may hold anything. */
export function readProcess(pid: number): FoundProcess | null {
  const stat = readProc(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  const [state, parent, group, ...rest] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
  const startTime = rest[16];
  if (state === undefined || startTime === undefined) return null;
  return { pid, state, parent: Number(parent), group: Number(group), startTime };
}

/** The pid may have passed to a stranger since it was found: the start time tells. A zombie only waits to be collected. */
export function isAlive({ pid, startTime }: FoundProcess): boolean {
  const now = readProcess(pid);
  return now?.startTime === startTime && !isOver(now);
}

/** Whether the process has ended and only waits for its parent to reap it. */
export const isOver = ({ state }: FoundProcess): boolean => state === "Z" || state === "X";

/** Sends a signal, unless the process has ended meanwhile or is not ours. */
export function signal(process: FoundProcess, name: NodeJS.Signals): void {
  if (!isAlive(process)) return;
  try {
    kill(process.pid, name);
  } catch (error) {
    if (!isCode(error, "ESRCH", "EPERM")) throw error;
  }
}

/** A descriptor held for the moment when the process has no other: see `readProc`. */
let spare: number | null = null;

/**
 * Null when the process has ended meanwhile, belongs to another user, or there is no /proc. Where all file descriptors are in use, the read
 * gets the spare one: otherwise a sweep would fail, and the processes of an ended task would live on.
 */
export function readProc<T>(read: () => T): T | null {
  spare ??= openSpare();
  try {
    return readUnlessGone(read);
  } catch (error) {
    if (spare === null || !isCode(error, "EMFILE", "ENFILE")) throw error;
    closeSync(spare);
    try {
      return readUnlessGone(read);
    } finally {
      spare = openSpare();
    }
  }
}

function readUnlessGone<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isCode(error, "ENOENT", "ESRCH", "EACCES", "EPERM", "ENOTDIR")) return null;
    throw error;
  }
}

function openSpare(): number | null {
  try {
    return openSync("/", "r");
  } catch {
    return null;
  }
}

const isCode = (error: unknown, ...codes: string[]): boolean => codes.includes((error as NodeJS.ErrnoException).code ?? "");
